/**
 * Reading an address that a stranger gave: public hosts alone, whatever their names say. A name is resolved once, what it resolves
 * to is checked, and the connection goes to just that address; each redirect is checked anew.
 */
import { lookup as systemLookup } from 'node:dns/promises'
import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import { isPublic } from '../values/public-address.ts'

const REDIRECTS_MAX = 3
/** Statuses below 500 with which a server says: later. */
const REFUSALS_FOR_NOW = new Set([408, 425, 429])

/** Why an address was not read; the message is for whoever gave it. One that is not final may be read later. */
export class NotFetched extends Error {
  constructor(
    message: string,
    readonly isFinal: boolean,
  ) {
    super(message)
  }
}
/** There is more than may be read. */
export class TooLarge extends NotFetched {}
const never = (message: string) => new NotFetched(message, true)
const notNow = (message: string) => new NotFetched(message, false)

interface FetchNeeds {
  /** `host:port` pairs that may be reached although they are private, in lower case. */
  allow: readonly string[]
  /** All addresses of a name; the system's resolver by default. */
  lookup?: (name: string) => Promise<readonly string[]>
}

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

const resolved = async (name: string) => (await systemLookup(name, { all: true })).map(({ address }) => address)

/** Makes the function that reads public addresses, and those on the list. */
export const publicFetch = ({ allow, lookup = resolved }: FetchNeeds): FetchPublic =>
  async function (url, limits) {
    const deadline = Date.now() + limits.maxMs
    const late = notNow(`it took longer than ${limits.maxMs / 1000} seconds`)
    let at = parsed(url)
    for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
      const left = deadline - Date.now()
      if (left <= 0) throw late
      const address = await within(left, late, addressOf(at, allow, lookup), limits.signal)
      const answer = await read(at, address, { ...limits, maxMs: deadline - Date.now() }, late)
      if ('bytes' in answer) return { bytes: answer.bytes, url: at }
      at = parsed(answer.location, at)
    }
    throw never(`it redirects more than ${REDIRECTS_MAX} times`)
  }

function parsed(text: string, base?: URL): URL {
  const url = URL.canParse(text, base) ? new URL(text, base) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw never('it does not lead to an http or https address')
  if (url.username || url.password) throw never('it may not hold a user or a password')
  return url
}

const portOf = ({ protocol, port }: URL) => Number(port || (protocol === 'https:' ? 443 : 80))

/** The address to connect to. One that is not public, among all that a name has, spoils the name. */
async function addressOf(url: URL, allow: readonly string[], lookup: NonNullable<FetchNeeds['lookup']>): Promise<string> {
  // The URL parser has turned every spelling of an IPv4 address (127.1, 0x7f.1, 2130706433) into the usual one.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const addresses = isIP(host) ? [host] : await lookup(host.replace(/\.$/, '')).catch(() => [])
  if (!addresses.length) throw notNow('its host does not exist')
  const isAllowed = allow.includes(`${url.hostname.toLowerCase()}:${portOf(url)}`)
  if (!isAllowed && !addresses.every(isPublic)) throw never('it leads to an address that is not public')
  return addresses[0]!
}

const STOPPED = notNow('it was interrupted')

async function within<T>(ms: number, late: Error, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let stop = () => {}
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, ms, late)
    stop = () => reject(STOPPED)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop)
  })
  return Promise.race([work, over]).finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  })
}

/** Sends one request to `address`, and reads the body or where it redirects to. */
function read(
  url: URL,
  address: string,
  { maxBytes, maxMs, accept, signal }: FetchLimits,
  late: Error,
): Promise<{ bytes: Uint8Array } | { location: string }> {
  return new Promise((resolve, reject) => {
    const pinned: LookupFunction = (_, options, done) => {
      const family = isIP(address)
      if (options.all) done(null, [{ address, family }])
      else done(null, address, family)
    }
    const client = url.protocol === 'https:' ? https : http
    const request = client.request(url, {
      lookup: pinned,
      agent: false,
      headers: { accept, 'accept-encoding': 'identity', 'user-agent': 'Stoa' },
    })
    const timer = setTimeout(() => end(late), Math.max(0, maxMs))
    const stop = () => end(STOPPED)
    signal?.addEventListener('abort', stop)
    function end(outcome: Error | { bytes: Uint8Array } | { location: string }) {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      if (outcome instanceof Error) reject(outcome)
      else resolve(outcome)
      request.destroy()
    }
    const tooLarge = () => end(new TooLarge(`it has more than ${maxBytes} bytes`, true))
    request.on('error', () => end(notNow('its server does not answer as it should')))
    request.on('response', (response) => {
      const { statusCode = 0, headers } = response
      if (statusCode >= 300 && statusCode < 400 && headers.location) return end({ location: headers.location })
      if (statusCode !== 200)
        return end((REFUSALS_FOR_NOW.has(statusCode) || statusCode >= 500 ? notNow : never)(`its server answers ${statusCode}`))
      if (Number(headers['content-length'] ?? 0) > maxBytes) return tooLarge()
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > maxBytes) tooLarge()
        else chunks.push(chunk)
      })
      response.on('error', () => end(notNow('its server broke off')))
      response.on('aborted', () => end(notNow('its server broke off')))
      response.on('end', () => end({ bytes: new Uint8Array(Buffer.concat(chunks)) }))
    })
    request.end()
  })
}
