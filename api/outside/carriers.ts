/** Asks a carrier whether credentials are good (document 4, Carrier verification). Nothing is asked inside a transaction. */
import { Refusal, wrong } from '../values/refusal.ts'

export type AddonEnvironment = 'live' | 'test'
/** The carriers that have credentials, and take requests. */
export type Verified = 'carrier_a' | 'carrier_b'
/** The base URLs of the carriers, without a slash at the end; null: not configured. */
export type CarrierUrls = Record<Verified, Record<AddonEnvironment, string | null>>

/** A carrier that has not answered by then could not verify. */
const ANSWER_MAX_MS = 5_000

interface Question {
  path: string
  init: RequestInit
  /** The field and the message of each status that rejects the credentials; a status that is neither here nor 200 says nothing. */
  rejected: Record<number, [field: string, message: string]>
}

export interface CredentialsA {
  login: string
  password: string
  trackApiUser: string | null
  trackApiPassword: string | null
}
export interface CredentialsB {
  token: string
  orgId: string
  geowidgetToken: string | null
}

/** The request that carrier_a answers. */
export const questionA = ({ login, password }: Pick<CredentialsA, 'login' | 'password'>): Question => ({
  path: '/auth/verify',
  init: { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ login, password }) },
  rejected: { 401: ['password', 'carrier_a rejected the credentials'], 403: ['login', 'carrier_a does not let this login in'] },
})

/** The request that carrier_b answers. */
export const questionB = ({ token, orgId }: Pick<CredentialsB, 'token' | 'orgId'>): Question => ({
  path: `/v1/organizations/${encodeURIComponent(orgId)}`,
  init: { method: 'GET', headers: { authorization: `Bearer ${token}` } },
  rejected: {
    401: ['token', 'carrier_b rejected the token'],
    403: ['token', 'carrier_b does not let this token see the organization'],
    404: ['orgId', 'carrier_b knows no such organization'],
  },
})

/** The status of the answer's head; its body is not read. Null when there was none in time. */
async function ask(url: string, init: RequestInit): Promise<number | null> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), ANSWER_MAX_MS)
  try {
    // A redirect could lead anywhere with the credentials, so that it is no answer.
    return (await fetch(url, { ...init, redirect: 'manual', keepalive: false, signal: stop.signal })).status
  } catch {
    return null
  } finally {
    clearTimeout(timer)
    stop.abort()
  }
}

/** Refuses with 400 what the carrier rejects, and with 502 what it could not be asked, or gave no clear answer to. */
export async function verify(urls: CarrierUrls, carrier: Verified, environment: AddonEnvironment, question: Question) {
  const url = urls[carrier][environment]
  if (!url)
    throw new Refusal(502, `${carrier} can't be asked: ${carrier.toUpperCase()}_${environment.toUpperCase()}_URL is not set on this server`)
  const status = await ask(`${url}${question.path}`, question.init)
  if (status === 200) return
  const rejected = status === null ? undefined : question.rejected[status]
  if (rejected) throw wrong(...rejected)
  throw new Refusal(502, `${carrier} could not verify the credentials: ${status === null ? 'it did not answer' : `it answered ${status}`}`)
}
