/**
 * Reading an address that a stranger gave: public hosts alone, whatever their names say. A name is resolved once, what it resolves
 * to is checked, and the connection goes to just that address; each redirect is checked anew.
 */
import { exchange, headerOf, readBody, type Answered } from './exchange.ts'
import { never, notNow, NotFetched, TooLarge } from './not-fetched.ts'
import { publicPlaces, type Places, type PlacesNeeds } from './public-places.ts'

const REDIRECTS_MAX = 3
/** Of an address, in characters: what is longer is nobody's page. */
const ADDRESS_MAX = 4_096
/** Statuses below 500 with which a server says: later. */
const REFUSALS_FOR_NOW = new Set([408, 425, 429])

export interface FetchLimits {
  maxBytes: number
  /** The longest time in ms for all of it: resolving, redirects, and the last byte. */
  maxMs: number
  accept: string
  /** Whoever asked does not want it any more. */
  signal?: AbortSignal
}

interface Fetched {
  bytes: Uint8Array
  /** The URL that was read in the end, after redirects. */
  url: URL
}

/** Reads what is at a URL. Throws `NotFetched`, also for any status but 200. */
export type FetchPublic = (url: string, limits: FetchLimits) => Promise<Fetched>

/** Where a text leads from `base`. Throws `NotFetched` for what is no URL, or none that may be asked. */
export function placeOf(text: string, places: Places, base?: URL): URL {
  const url = URL.canParse(text, base) ? new URL(text, base) : null
  if (url && url.href.length > ADDRESS_MAX) throw never('refused-here', `it leads to an address of more than ${ADDRESS_MAX} characters`)
  const refusal = url ? places.refusal(url) : 'it does not lead to an http or https address'
  if (refusal !== null) throw never('refused-here', refusal)
  return url!
}

/** Where an answer redirects to, as it says itself; null when it does not. Bytes beyond ASCII are UTF-8 where they can be, as for browsers. */
export function locationOf(answer: Answered): string | null {
  const location = answer.status >= 300 && answer.status < 400 ? headerOf(answer, 'location') : null
  if (location === null || /^[\x00-\x7f]*$/.test(location)) return location
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(location, 'latin1'))
  } catch {
    return location
  }
}

/** A promise that is given up when the signal says so, with its reason. */
export function until<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  return Promise.race([work, stopped]).finally(() => signal.removeEventListener('abort', stop))
}

/** A signal for all of one piece of work: ended when its time is over, or when `signal` says so. */
export function workingTime(maxMs: number, signal?: AbortSignal): { signal: AbortSignal; over: () => void } {
  const control = new AbortController()
  const stop = () => control.abort(notNow('interrupted', 'it was interrupted'))
  const timer = setTimeout(() => control.abort(notNow('late', `it took longer than ${maxMs / 1000} seconds`)), maxMs)
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop)
  const over = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
  return { signal: control.signal, over }
}

/** Makes the function that reads public addresses, and those on the list. */
export const publicFetch = (needs: PlacesNeeds): FetchPublic => {
  const places = publicPlaces(needs)
  return async function (text, { maxBytes, maxMs, accept, signal: asked }) {
    const { signal, over } = workingTime(maxMs, asked)
    const headers = { accept, 'accept-encoding': 'identity', 'user-agent': 'Stoa' }
    try {
      let url = placeOf(text, places)
      for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
        const addresses = await until(signal, places.addressesOf(url))
        const answer = await exchange(url, addresses, { headers, connectMs: maxMs, headMs: maxMs, signal })
        const location = locationOf(answer)
        if (location === null) return { bytes: await wholeBody(answer, maxBytes), url }
        answer.end()
        url = placeOf(location, places, url)
      }
      throw never('redirects', `it redirects more than ${REDIRECTS_MAX} times`)
    } finally {
      over()
    }
  }
}

/** The body of a 200, all of it. */
async function wholeBody(answer: Answered, maxBytes: number): Promise<Uint8Array> {
  const { status } = answer
  if (status !== 200) {
    answer.end()
    throw new NotFetched(`its server answers ${status}`, !(REFUSALS_FOR_NOW.has(status) || status >= 500), 'status')
  }
  const tooLarge = new TooLarge(`it has more than ${maxBytes} bytes`, true, 'too-large')
  if (Number(headerOf(answer, 'content-length') ?? 0) > maxBytes) {
    answer.end()
    throw tooLarge
  }
  const { bytes, isWhole } = await readBody(answer, maxBytes)
  if (!isWhole) throw tooLarge
  return new Uint8Array(bytes)
}
