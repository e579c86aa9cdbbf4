/** Content negotiation (RFC 9110, 12): which form of a page a request wants. Pure. */
import { rangesOf, type Range } from '../values/accept.ts'

/** The forms that a page has. `text` is the Markdown as text/plain. */
export type Form = 'html' | 'markdown' | 'text'

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
