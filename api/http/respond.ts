/** From what a handler returned to the answer: its status and headers, its bytes with their ETag, or 304. */
import { etagOf, matches, namedBy } from './etag.ts'
import { bytesOf, encoded, statusOf, JSON_TYPE, type Ready } from './ready.ts'
import type { Memory } from './remembered.ts'
import { Reply } from './route.ts'

/** JSON for this moment: refusals, and what an `Idempotency-Key` gives again. */
export const jsonResponse = (status: number, body: string, headers: Record<string, string>) =>
  new Response(body, { status, headers: { ...headers, 'content-type': JSON_TYPE, 'cache-control': 'no-store' } })

/** The client has it already. */
export function notModified(etag: string, headers: Record<string, string>): Response {
  delete headers['content-type']
  headers.etag = etag
  headers['cache-control'] ??= 'private, no-cache'
  return new Response(null, { status: 304, headers })
}

/** `headers` are those that the answer has so far. `checked`: see `encoded`. `memory` takes the answer to what may be asked again. */
export function respond(
  ready: Ready,
  request: Request,
  checked: boolean,
  result: unknown,
  headers: Record<string, string>,
  memory: Memory | null = null,
): Response {
  const status = statusOf(ready, result)
  if (result instanceof Reply) Object.assign(headers, result.headers)
  if (status === 204) return new Response(null, { status, headers })
  const text = bytesOf(result) ?? encoded(ready, result, checked)
  headers['content-type'] ??= ready.type
  if (ready.route.method === 'GET' && status === 200) {
    const isWhole = !(text instanceof Blob || text instanceof ReadableStream)
    const etag = isWhole ? etagOf(text) : headers.etag!
    headers['cache-control'] ??= 'private, no-cache'
    if (ready.route.options.stored) headers.vary = 'accept-encoding'
    if (isWhole) memory?.keep(etag, text, headers)
    const condition = request.headers.get('if-none-match')
    if (condition !== null && matches(condition, etag)) {
      if (text instanceof ReadableStream) void text.cancel().catch(() => {})
      return notModified(namedBy(condition, etag), headers)
    }
    headers.etag = etag
  } else headers['cache-control'] ??= 'no-store'
  return new Response(text as BodyInit, { status, headers })
}
