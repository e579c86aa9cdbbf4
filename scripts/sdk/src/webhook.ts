/** Webhooks, as Standard Webhooks signs them: whether a delivery is from the store, and what it tells. */
import { StoaError } from './error.ts'

/** How far the clocks of sender and receiver may be apart, in seconds. */
const TOLERANCE_SECONDS = 300
/** More signatures than a delivery has: one of each secret. */
const SIGNATURES_MAX = 10

type HeadersLike = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

function headerIn(headers: HeadersLike, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? ''
  const [, value = ''] = Object.entries(headers).find(([own]) => own.toLowerCase() === name) ?? []
  return String(value)
}

/** The bytes of base64; none where it is none. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

const invalid = (why: string) => new StoaError(`the webhook is not to be trusted: ${why}`, { status: 0, code: 'invalid_signature' })

/**
 * The event of a delivery. `body` is the body as it came, byte by byte; `secret` is `whsec_…`, or the old one and the new one while they are
 * rotated. Rejects with a `StoaError` (`invalid_signature`) when nothing shows that the store has sent it within the last five minutes.
 */
export async function verified(
  body: string | Uint8Array,
  headers: HeadersLike,
  secret: string | readonly string[],
  toleranceSeconds = TOLERANCE_SECONDS,
): Promise<unknown> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) throw invalid('give the body as it came, not what was parsed of it')
  const secrets = [secret].flat()
  if (!secrets.length || secrets.some((each) => typeof each !== 'string' || !each.startsWith('whsec_')))
    throw new StoaError('secret has to begin with whsec_', { status: 0, code: 'invalid_argument' })
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headerIn(headers, name)) as [
    string,
    string,
    string,
  ]
  if (!id || !/^\d{1,12}$/.test(timestamp) || !signature) throw invalid('a header is missing')
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) throw invalid('it is too old, or the clock is wrong')
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  const signatures = signature
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .slice(0, SIGNATURES_MAX)
  for (const each of secrets) {
    const raw = bytesOf(each.replace(/^whsec_/, ''))
    if (!raw.length) continue
    const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const given of signatures)
      if (await crypto.subtle.verify('HMAC', key, bytesOf(given.slice(3)), signed)) return { ...JSON.parse(text), id }
  }
  throw invalid('no signature fits')
}
