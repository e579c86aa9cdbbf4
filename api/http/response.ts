/** Answers whose form is fixed: JSON that nobody keeps, and 304. */

export const JSON_TYPE = 'application/json; charset=utf-8'

/** JSON for this moment: refusals, and what an `Idempotency-Key` gives again. */
export const jsonResponse = (status: number, body: string, headers: Record<string, string>) =>
  new Response(body, { status, headers: { ...headers, 'content-type': JSON_TYPE, 'cache-control': 'no-store' } })

/** The client has it already. */
export function notModified(etag: string, headers: Record<string, string>): Response {
  delete headers['content-type']
  headers.etag = etag
  headers['cache-control'] = 'private, no-cache'
  return new Response(null, { status: 304, headers })
}
