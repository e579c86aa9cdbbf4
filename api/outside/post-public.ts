/**
 * Sending to an address that a merchant gave: public hosts alone, as for reading (`fetch-public.ts`). Its name is resolved once for a while,
 * all its addresses are checked, and connections go to just those; they are kept, since the next message follows soon. No redirects.
 */
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { meaningOf, pinnedTo } from './exchange.ts'
import { until, workingTime } from './fetch-public.ts'
import { never, notNow, NotFetched } from './not-fetched.ts'
import { hostOf, publicPlaces, type Places, type PlacesNeeds } from './public-places.ts'

/** The answer of a receiver: its status, and the beginning of its body. */
export interface Posted {
  status: number
  body: string
}

/** Connections to one address, for as long as somebody has something to send there. */
export interface Receiver {
  /** Sends one message. Throws `NotFetched` when there is no answer in time. */
  post(body: string, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Posted>
  close(): void
}

export interface PostPublic {
  /** Why nothing is ever sent to a URL, whatever its name resolves to; null where it may be. */
  refusal(url: URL): string | null
  /** `sockets`: connections at once. */
  to(url: string, sockets: number): Receiver
}

/** For all of one message: name, connection, and the head of the answer. */
const MESSAGE_MAX_MS = 15_000
/** What came is decided by its status: its body is waited for no longer than this, and kept no further than that. */
const BODY_MAX_MS = 1_000
const BODY_KEPT_BYTES = 1_024
/** A body that is longer costs the connection: reading on would cost more. */
const BODY_READ_BYTES = 65_536
const HEAD_MAX_BYTES = 16_384
/** How many addresses of a name are tried. */
const ADDRESSES_MAX = 3

/** The text of a receiver's answer: no zero bytes, which no text column of ours takes, and no half character at its end. */
const textOf = (bytes: Buffer) =>
  new TextDecoder()
    .decode(bytes)
    .replaceAll('\0', '')
    .replace(/\ufffd$/, '')

function bodyOf(response: IncomingMessage): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const kept: Buffer[] = []
  let size = 0
  const end = () => {
    clearTimeout(timer)
    resolve(textOf(Buffer.concat(kept).subarray(0, BODY_KEPT_BYTES)))
  }
  const stop = () => {
    response.destroy()
    end()
  }
  const timer = setTimeout(stop, BODY_MAX_MS)
  response.on('data', (piece: Buffer) => {
    if (size < BODY_KEPT_BYTES) kept.push(piece)
    size += piece.length
    if (size > BODY_READ_BYTES) stop()
  })
  response.on('end', end)
  response.on('error', end)
  response.on('close', end)
  return promise
}

interface Sending {
  url: URL
  address: string
  agent: http.Agent
  headers: Readonly<Record<string, string>>
  body: string
  signal: AbortSignal
}

/** A connection that was kept may have been closed by the other side at that moment: the message has not arrived then. */
class Stale extends Error {}

function sent({ url, address, agent, headers, body, signal }: Sending): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const isSecure = url.protocol === 'https:'
    const request = (isSecure ? https : http).request(url, {
      method: 'POST',
      agent,
      lookup: pinnedTo(address),
      // An IP address has no name to ask a certificate for.
      ...(isSecure && !isIP(hostOf(url)) ? { servername: hostOf(url) } : {}),
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      maxHeaderSize: HEAD_MAX_BYTES,
    })
    const stop = () => {
      reject(signal.reason)
      request.destroy()
    }
    signal.addEventListener('abort', stop)
    const settled = () => signal.removeEventListener('abort', stop)
    request.on('error', (error: { code?: string; message?: string }) => {
      settled()
      reject(request.reusedSocket ? new Stale() : Object.assign(meaningOf(error), { cause: error }))
    })
    request.on('upgrade', (_, socket) => {
      settled()
      socket.destroy()
      reject(notNow('not-http', 'its server wants to speak something else than HTTP'))
    })
    request.on('response', (response) => {
      settled()
      const { statusCode = 0 } = response
      void bodyOf(response).then((text) => resolve({ status: statusCode, body: text }))
    })
    if (signal.aborted) return stop()
    request.end(body)
  })
}

/** Where a message goes: a name that was resolved is not looked up again for the next one. */
class Connections implements Receiver {
  readonly #agent: http.Agent
  readonly #url: URL
  #addresses: Promise<readonly string[]> | undefined

  constructor(
    readonly places: Places,
    url: string,
    maxSockets: number,
  ) {
    this.#url = new URL(url)
    const kept = { keepAlive: true, maxSockets, timeout: MESSAGE_MAX_MS }
    this.#agent = this.#url.protocol === 'https:' ? new https.Agent(kept) : new http.Agent(kept)
  }

  async #addressesOf(): Promise<readonly string[]> {
    const refusal = this.places.refusal(this.#url)
    if (refusal !== null) throw never('refused-here', refusal)
    this.#addresses ??= this.places.addressesOf(this.#url)
    try {
      return await this.#addresses
    } catch (error) {
      this.#addresses = undefined
      throw error
    }
  }

  async post(body: string, headers: Readonly<Record<string, string>>, asked?: AbortSignal): Promise<Posted> {
    const { signal, over } = workingTime(MESSAGE_MAX_MS, asked)
    try {
      const addresses = (await until(signal, this.#addressesOf())).slice(0, ADDRESSES_MAX)
      for (let at = 0; ;)
        try {
          return await sent({ url: this.#url, address: addresses[at]!, agent: this.#agent, headers, body, signal })
        } catch (error) {
          if (error instanceof Stale) continue
          const isElsewhere = error instanceof NotFetched && ['refused', 'silent'].includes(error.hindrance)
          if (!isElsewhere || ++at === addresses.length) throw error
        }
    } finally {
      over()
    }
  }

  close() {
    this.#agent.destroy()
  }
}

/** Makes what sends to public addresses, and those on the list. */
export const publicPosts = (needs: PlacesNeeds): PostPublic => {
  const places = publicPlaces(needs)
  return { refusal: places.refusal, to: (url, sockets) => new Connections(places, url, sockets) }
}
