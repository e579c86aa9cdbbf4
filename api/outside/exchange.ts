/** One HTTP request to an address that is given with it, so that no name is looked up again; what it says is read within bounds. */
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { notNow, type NotFetched } from './not-fetched.ts'
import { hostOf } from './public-places.ts'

/** How many addresses of a name are tried. */
const ADDRESSES_MAX = 3
/** The largest head of an answer, in bytes: some shops send long policies. */
const HEAD_MAX_BYTES = 65_536

interface Asking {
  method?: 'GET' | 'HEAD'
  headers: Readonly<Record<string, string>>
  /** In ms: until there is a connection, encryption included, and from then until the head of the answer is there. */
  connectMs: number
  headMs: number
  /** Ends it, whatever it waits for; with the reason that is thrown. */
  signal: AbortSignal
}

export interface Answered {
  status: number
  /** As they were sent, in their order. */
  headers: readonly (readonly [name: string, value: string])[]
  /** The body, unpacked, in pieces. Throws `NotFetched` where it breaks off. Who does not read it ends it. */
  pieces(): AsyncGenerator<Buffer>
  end(): void
}

/** The first value of a header; null without it. */
export const headerOf = ({ headers }: Pick<Answered, 'headers'>, name: string): string | null =>
  headers.find(([own]) => own.toLowerCase() === name)?.[1] ?? null

const NO_CONNECTION = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'ETIMEDOUT']

/** What an error of a connection means, without what it says of addresses. */
export function meaningOf({ code = '', message = '' }: { code?: string; message?: string }): NotFetched {
  if (code === 'ECONNREFUSED') return notNow('refused', 'its server refuses the connection')
  if (NO_CONNECTION.includes(code)) return notNow('silent', 'its server can not be reached')
  if (/^HPE_HEADER_OVERFLOW/.test(code)) return notNow('not-http', 'its server answers with more headers than are read')
  if (/^HPE_/.test(code) || /WRONG_VERSION_NUMBER/.test(code + message)) return notNow('not-http', 'its server does not speak HTTP')
  if (code === 'CERT_HAS_EXPIRED') return notNow('certificate', 'its certificate has expired')
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return notNow('certificate', 'its certificate is for another name')
  if (/CERT|SELF_SIGNED|VERIFY|ISSUER/.test(code)) return notNow('certificate', 'its certificate is not from a known authority')
  if (/SSL|TLS|EPROTO/.test(code + message)) return notNow('certificate', 'no encrypted connection to its server can be made')
  return notNow('reset', 'its server broke off')
}

/** Sends one request to the first of `addresses` that takes a connection. Throws `NotFetched`. */
export async function exchange(url: URL, addresses: readonly string[], asking: Asking): Promise<Answered> {
  const tried = addresses.slice(0, ADDRESSES_MAX)
  for (const [at, address] of tried.entries())
    try {
      return await sent(url, address, asking)
    } catch (error) {
      const isElsewhere = at + 1 < tried.length && NO_CONNECTION.includes((error as { cause?: { code?: string } }).cause?.code ?? '')
      if (!isElsewhere || asking.signal.aborted) throw error
    }
  throw notNow('no-host', 'its host does not exist')
}

/** Looks no name up: whatever it is, it leads to one address. */
export const pinnedTo =
  (address: string): LookupFunction =>
  (_, options, done) => {
    const family = isIP(address)
    if (options.all) done(null, [{ address, family }])
    else done(null, address, family)
  }

/** A promise of the head of an answer, and what to call when it will not come. */
function sent(url: URL, address: string, { method = 'GET', headers, connectMs, headMs, signal }: Asking): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const isSecure = url.protocol === 'https:'
    const request = (isSecure ? https : http).request(url, {
      method,
      lookup: pinnedTo(address),
      agent: false,
      // An IP address has no name to ask a certificate for.
      ...(isSecure && !isIP(hostOf(url)) ? { servername: hostOf(url) } : {}),
      headers,
      maxHeaderSize: HEAD_MAX_BYTES,
    })
    // As many as fit into the head: what is left out could be where it redirects to.
    request.maxHeadersCount = 0
    let timer = setTimeout(() => fail(notNow('silent', `its server takes no connection within ${connectMs / 1000} s`)), connectMs)
    const stop = () => fail(signal.reason)
    const settled = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
    function fail(error: unknown) {
      settled()
      reject(error)
      request.destroy()
    }
    request.on('socket', (socket: Socket) => {
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        clearTimeout(timer)
        timer = setTimeout(() => fail(notNow('silent', `its server does not answer within ${headMs / 1000} s`)), headMs)
      })
    })
    request.on('error', (error) => fail(Object.assign(meaningOf(error), { cause: error })))
    request.on('upgrade', () => fail(notNow('not-http', 'its server wants to speak something else than HTTP')))
    request.on('response', (response) => {
      settled()
      const { statusCode = 0 } = response
      if (statusCode < 200 || statusCode > 599) return fail(notNow('not-http', 'its server answers with a status that HTTP does not have'))
      resolve(answered(response, signal, () => request.destroy()))
    })
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop)
    request.end()
  })
}

function answered(response: IncomingMessage, signal: AbortSignal, destroy: () => void): Answered {
  const { statusCode = 0, rawHeaders } = response
  const headers = Array.from({ length: rawHeaders.length / 2 }, (_, i) => [rawHeaders[2 * i]!, rawHeaders[2 * i + 1]!] as const)
  // Between the head and the reading of the body nobody listens.
  response.on('error', () => {})
  const end = () => {
    destroy()
    signal.removeEventListener('abort', end)
  }
  signal.addEventListener('abort', end)
  return { status: statusCode, headers, end, pieces: () => piecesOf(response, { headers, signal, end }) }
}

/** What unpacks an encoding; null for one that nobody asked for. */
function unpacking(encoding: string): Readable | NodeJS.ReadWriteStream | null {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip()
  if (encoding === 'br') return createBrotliDecompress()
  if (encoding === 'zstd') return createZstdDecompress()
  return encoding === 'deflate' ? createInflate() : null
}

async function* piecesOf(
  response: IncomingMessage,
  { headers, signal, end }: Pick<Answered, 'headers' | 'end'> & { signal: AbortSignal },
): AsyncGenerator<Buffer> {
  const encoding = (headerOf({ headers }, 'content-encoding') ?? '').trim().toLowerCase()
  const unpacked = ['', 'identity'].includes(encoding) ? null : unpacking(encoding)
  if (encoding && encoding !== 'identity' && !unpacked)
    throw notNow('not-http', 'its server packs the answer in a way that nobody asked for')
  const source = (unpacked ? response.pipe(unpacked as never) : response) as Readable
  let isEmpty = true
  if (unpacked) response.once('data', () => (isEmpty = false))
  if (unpacked) response.once('close', () => response.complete || source.destroy(new Error('broken off')))
  try {
    for await (const piece of source) yield piece as Buffer
    // Who ends it from here sees no error of the stream.
    if (signal.aborted || (!unpacked && !response.complete)) throw new Error('broken off')
  } catch {
    // Nothing at all is no broken package.
    if (unpacked && isEmpty && response.complete && !signal.aborted) return
    throw signal.aborted ? signal.reason : notNow('reset', 'its server broke off')
  } finally {
    source.destroy()
    end()
  }
}

/** Reads a body as far as it may be read; `isWhole` tells whether that was all. */
export async function readBody(answer: Answered, maxBytes: number): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of answer.pieces()) {
    size += piece.length
    pieces.push(size > maxBytes ? piece.subarray(0, piece.length - (size - maxBytes)) : piece)
    if (size > maxBytes) return { bytes: Buffer.concat(pieces), isWhole: false }
  }
  return { bytes: Buffer.concat(pieces), isWhole: true }
}
