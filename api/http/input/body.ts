/** Reading a JSON body: type, size, form and text are checked before any schema sees it. */
import { readBytes } from './bytes.ts'
import { invalid, Refusal } from '../../values/refusal.ts'

/** Bodies over this are refused with 413 (document 3). */
export const BODY_MAX_BYTES = 1_048_576
/** A megabyte in half a minute: what comes slower is no client that waits for its answer. */
const DEADLINE_MS = 30_000
/** Deeper nesting than any document needs, far less than what overflows a stack. */
const DEPTH_MAX = 100

const tooLarge = () => new Refusal(413, `the body is larger than ${BODY_MAX_BYTES} bytes`)

const UTF8 = new TextDecoder('utf-8', { fatal: true })

function decoded(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new Refusal(400, 'the body is not valid UTF-8')
  }
}

/**
 * The text of a body of at most `BODY_MAX_BYTES`; reads no further than that. `share`: see `Bounds`. It is one beside that of uploads, so that
 * a store whose files take all of theirs can still be worked with.
 */
export const readText = async (request: Request, share: string): Promise<string> =>
  decoded(await readBytes(request, { maxBytes: BODY_MAX_BYTES, tooLarge, share: `${share} text`, deadlineMs: DEADLINE_MS }))

/** Whether brackets nest deeper than `DEPTH_MAX`; brackets inside strings do not count. */
function isTooDeep(text: string): boolean {
  let depth = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (quoted) {
      if (c === 92) i++
      else if (c === 34) quoted = false
    } else if (c === 34) quoted = true
    else if (c === 91 || c === 123) {
      if (++depth > DEPTH_MAX) return true
    } else if (c === 93 || c === 125) depth--
  }
  return false
}

/** NUL and lone surrogates can't be stored as text, so they are refused by field. */
export function refuseBrokenText(value: unknown) {
  const path = brokenIn(value)
  if (path) throw invalid([{ code: 'invalid_string', message: 'must be well-formed text without NUL', path }])
}

/** Where the first broken text is; null when there is none. Its path is put together on the way back: most bodies have no need of one. */
function brokenIn(value: unknown): string[] | null {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed() ? [] : null
  if (typeof value !== 'object' || value === null) return null
  const isList = Array.isArray(value)
  for (const name in value) {
    if (!isList && brokenIn(name)) return []
    const inside = brokenIn((value as Record<string, unknown>)[name])
    if (inside) return [name, ...inside]
  }
  return null
}

/** The value of a JSON body; no body at all is an empty object. Refuses with 400, 413 or 415. */
export async function readJson(request: Request, share: string): Promise<{ value: unknown; text: string }> {
  const type = request.headers.get('content-type')
  if (type === null || !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)) {
    if (type === null && (request.headers.get('content-length') ?? '0') === '0' && !request.headers.has('transfer-encoding'))
      return { value: {}, text: '' }
    throw new Refusal(415, 'the body must be JSON: send Content-Type: application/json')
  }
  const text = await readText(request, share)
  if (text === '') return { value: {}, text }
  if (isTooDeep(text)) throw new Refusal(400, `the body nests deeper than ${DEPTH_MAX} levels`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Refusal(400, 'the body is not valid JSON')
  }
  // What arrived as UTF-8 is well-formed; only escapes can bring in what is not.
  if (text.includes('\\u') || text.includes('\0')) refuseBrokenText(value)
  return { value, text }
}
