/** From what a handler returned to the answer: its status and headers, its bytes with their ETag, or 304. */
import { etagOf, matches } from './etag.ts'
import { bytesOf, encoded, statusOf, type Ready } from './ready.ts'
import { notModified } from './response.ts'
import { Reply } from './route.ts'

/** `headers` are those that the answer has so far. `checked`: see `encoded`. */
export function respond(ready: Ready, request: Request, checked: boolean, result: unknown, headers: Record<string, string>): Response {
  const status = statusOf(ready, result)
  if (result instanceof Reply) Object.assign(headers, result.headers)
  if (status === 204) return new Response(null, { status, headers })
  const text = bytesOf(result) ?? encoded(ready, result, checked)
  headers['content-type'] ??= ready.type
  if (ready.route.method === 'GET' && status === 200) {
    const etag = etagOf(text)
    const condition = request.headers.get('if-none-match')
    if (condition !== null && matches(condition, etag)) return notModified(etag, headers)
    headers.etag = etag
    headers['cache-control'] ??= 'private, no-cache'
  } else headers['cache-control'] ??= 'no-store'
  return new Response(text as BodyInit, { status, headers })
}
