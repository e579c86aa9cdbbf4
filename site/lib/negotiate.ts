/** Content negotiation (RFC 9110, 12): which form of a page a request wants, and in which encoding. Pure. */

/** The forms that a page has. `text` is the Markdown as text/plain. */
export type Form = 'html' | 'markdown' | 'text'
export type Encoding = 'br' | 'zstd' | 'gzip' | 'identity'

interface Range {
  /** In lowercase: `text/html`, `text/*`, a wildcard, or the name of an encoding. */
  name: string
  q: number
  /** Where it stands in the header. */
  at: number
}

/** What stands between separators, but for those within quotes, where a backslash makes the next character plain (RFC 9110, 5.6.4). */
function piecesOf(text: string, separator: ',' | ';'): string[] {
  if (!text.includes('"')) return text.split(separator)
  const pieces: string[] = []
  let [from, quoted] = [0, false]
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (quoted && character === '\\') at++
    else if (character === '"') quoted = !quoted
    else if (!quoted && character === separator) {
      pieces.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...pieces, text.slice(from)]
}

/** The ranges of an `Accept` or `Accept-Encoding` header. A quality that is none counts as 1, as the field's browsers do. */
function rangesOf(header: string): Range[] {
  return piecesOf(header, ',')
    .map((part, at) => {
      const [name = '', ...parameters] = piecesOf(part, ';').map((piece) => piece.trim().toLowerCase())
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
      const q = quality !== undefined && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 1
      return { name, q, at }
    })
    .filter(({ name }) => name !== '')
}

/** The media types that a form answers to: what it is sent as, and what else names it, which no wildcard does. */
const TYPES: Record<Form, readonly string[]> = {
  html: ['text/html'],
  markdown: ['text/markdown', 'text/x-markdown'],
  text: ['text/plain'],
}

/** How much a client wants one media type: by the most specific range that covers it. Null when none does. */
function wish(ranges: readonly Range[], type: string): { q: number; specificity: number; at: number } | null {
  const group = `${type.split('/')[0]}/*`
  let best: { q: number; specificity: number; at: number } | null = null
  for (const { name, q, at } of ranges) {
    const specificity = name === type ? 2 : name === group ? 1 : name === '*/*' || name === '*' ? 0 : -1
    if (specificity < 0 || (best && best.specificity >= specificity)) continue
    best = { q, specificity, at }
  }
  return best
}

/**
 * The form that an `Accept` header asks for; null when it takes none of them. Without one, and for wildcards alone, HTML. On a tie of
 * quality the client's order decides, then ours.
 */
export function formFor(accept: string | null): Form | null {
  const ranges = accept === null ? [] : rangesOf(accept)
  if (!ranges.length) return 'html'
  let best: { form: Form; q: number; specificity: number; at: number } | null = null
  for (const form of ['html', 'markdown', 'text'] as const) {
    for (const type of TYPES[form]) {
      const wanted = wish(ranges, type)
      if (!wanted || wanted.q === 0 || (type !== TYPES[form][0] && wanted.specificity < 2)) continue
      if (!best || wanted.q > best.q || (wanted.q === best.q && wanted.at < best.at)) best = { form, ...wanted }
    }
  }
  return best?.form ?? null
}

/** Whether a client that gets no page would rather read a problem than an HTML page. */
export function prefersProblem(accept: string | null): boolean {
  const ranges = accept === null ? [] : rangesOf(accept)
  const html = wish(ranges, 'text/html')
  return ['application/problem+json', 'application/json', 'text/markdown', 'text/x-markdown', 'text/plain'].some((type) => {
    const wanted = wish(ranges, type)
    if (!wanted || wanted.q === 0) return false
    return !html || wanted.q > html.q || (wanted.q === html.q && wanted.at < html.at)
  })
}

/** The encodings that are made, best first. */
const ENCODINGS = ['br', 'zstd', 'gzip'] as const

/** The best encoding that both sides know: the client's quality first, then the smallest. */
export function encodingFor(header: string | null, made: ReadonlySet<Encoding>): Encoding {
  if (header === null) return 'identity'
  const ranges = rangesOf(header)
  const named = (name: string) => ranges.find((range) => range.name === name || range.name === `x-${name}`)
  const quality = (name: string) => (named(name) ?? ranges.find((range) => range.name === '*'))?.q ?? 0
  let best: Encoding = 'identity'
  let most = 0
  for (const encoding of ENCODINGS) {
    const q = made.has(encoding) ? quality(encoding) : 0
    if (q > most) [best, most] = [encoding, q]
  }
  const plain = ranges.find((range) => range.name === 'identity')?.q
  return plain !== undefined && plain > most ? 'identity' : best
}
