/** Reading a JSON body: type, size, form and text are checked before any schema sees it. */
import { readBytes } from './bytes.ts'
import { decoded, storable } from './json.ts'
import { Refusal } from '../../values/refusal.ts'

/** Bodies over this are refused with 413 (document 3). */
export const BODY_MAX_BYTES = 1_048_576
/** The same for whoever has no key: files aside, nothing that a stranger sends is as large (document 3). */
export const STRANGER_MAX_BYTES = 65_536
/** A megabyte in half a minute: what comes slower is no client that waits for its answer. */
const DEADLINE_MS = 30_000

/** How much of a body is read, and whose memory it takes (see `Bounds`). */
export interface Allowance {
  share: string
  maxBytes: number
}

export const tooLarge = (maxBytes: number) => new Refusal(413, `the body is larger than ${maxBytes} bytes`)

/**
 * The text of a body; reads no further than it may. Its share is one beside that of uploads, so that a store whose files take all of theirs
 * can still be worked with.
 */
export const readText = async (request: Request, { share, maxBytes }: Allowance): Promise<string> =>
  decoded(await readBytes(request, { maxBytes, tooLarge: () => tooLarge(maxBytes), share: `${share} text`, deadlineMs: DEADLINE_MS }))

/** The value of a JSON body; no body at all is an empty object. Refuses with 400, 413 or 415. */
export async function readJson(request: Request, allowance: Allowance): Promise<{ value: unknown; text: string }> {
  const type = request.headers.get('content-type')
  if (type === null || !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)) {
    if (type === null && (request.headers.get('content-length') ?? '0') === '0' && !request.headers.has('transfer-encoding'))
      return { value: {}, text: '' }
    throw new Refusal(415, 'the body must be JSON: send Content-Type: application/json')
  }
  const text = await readText(request, allowance)
  return { value: text === '' ? {} : storable(text), text }
}
