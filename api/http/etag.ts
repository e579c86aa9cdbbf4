/** Conditional requests (RFC 9110, 13): strong ETags from the bytes of the representation. */

/** The ETag of a body. */
export const etagOf = (body: string | Uint8Array) => `"${Bun.hash(body).toString(36)}"`

/** The compressed form of a representation has an ETag of its own. */
export const zipped = (etag: string) => `${etag.slice(0, -1)}-gzip"`
const unzipped = (etag: string) => (etag.endsWith('-gzip"') ? `${etag.slice(0, -6)}"` : etag)

/** Whether a list of ETags (`If-None-Match`, weak comparison) names this one, in whichever form. */
export function matches(header: string, etag: string): boolean {
  if (header === etag) return true
  if (header.trim() === '*') return true
  return header.split(',').some((part) => unzipped(part.trim().replace(/^W\//, '')) === etag)
}

/** The ETag of a representation in the form that a client names and so has: what a 304 is about. */
export const namedBy = (header: string, etag: string) => (header.includes(zipped(etag)) && !header.includes(etag) ? zipped(etag) : etag)

/** Whether `If-Match` (strong comparison: a weak ETag never matches) names this one; what has no ETag matches `*` alone. */
export function stillMatches(header: string, etag: string | null): boolean {
  return header.trim() === '*' || header.split(',').some((part) => unzipped(part.trim()) === etag)
}
