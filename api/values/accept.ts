/** The headers by which a request says what it takes (RFC 9110, 12.5): their ranges, and the encoding to send. */

/** What a body is sent as. */
export type Encoding = 'br' | 'zstd' | 'gzip' | 'identity'

export interface Range {
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
export function rangesOf(header: string): Range[] {
  return piecesOf(header, ',')
    .map((part, at) => {
      const [name = '', ...parameters] = piecesOf(part, ';').map((piece) => piece.trim().toLowerCase())
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
      const q = quality !== undefined && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 1
      return { name, q, at }
    })
    .filter(({ name }) => name !== '')
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
