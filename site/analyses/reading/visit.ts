/** Visiting a storefront: its pages are asked for by what may be asked alone, with redirects followed one by one and written down. */
import { CookieJar } from 'tough-cookie'
import { exchange, readBody, type Answered } from '../../../api/outside/exchange.ts'
import { locationOf, placeOf, until } from '../../../api/outside/fetch-public.ts'
import { never, NotFetched } from '../../../api/outside/not-fetched.ts'
import type { Places } from '../../../api/outside/public-places.ts'

/** Document 6, Redirects and Bounds. */
export const REDIRECTS_MAX = 5
const CONNECT_MS = 3_000
const HEAD_MS = 5_000
/** Of one analysis: the six of a scan, and redirects. */
export const REQUESTS_MAX = 16
/** Headers of an answer that are read. */
const HEADERS_MAX = 100

export interface Redirect {
  status: number
  from: string
  to: string
}

export interface Visited {
  /** What was answered in the end. */
  url: URL
  status: number
  headers: Answered['headers']
  redirects: Redirect[]
  /** `Set-Cookie` of all answers on the way, an entry for each. */
  cookies: { url: string; lines: string[] }[]
  /** There were more headers than are read. */
  hasMoreHeaders: boolean
  answer: Answered
}

export interface Visitor {
  places: Places
  /** Says who asks, and where to read about it. */
  userAgent: string
  signal: AbortSignal
  /** Requests that it may still send, redirects included: a shop can not make others pay for its scans. */
  left: { requests: number }
  /** Told before a page is read: whoever waits can tell which one it was that held this process. */
  reads: () => void
}

const setCookies = (headers: Answered['headers']) =>
  headers.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value)

/** Asks for one URL, which may be asked for. The body is not read yet. Throws `NotFetched`. */
export async function ask(
  { places, userAgent, signal, left }: Visitor,
  url: URL,
  headers: Readonly<Record<string, string>>,
): Promise<Answered> {
  if (left.requests-- <= 0) throw never('redirects', 'it redirects too often')
  const addresses = await until(signal, places.addressesOf(url))
  return exchange(url, addresses, {
    headers: { 'user-agent': userAgent, 'accept-encoding': 'gzip, deflate, br, zstd', ...headers },
    connectMs: CONNECT_MS,
    headMs: HEAD_MS,
    signal,
  })
}

interface Asking {
  accept: string
  origin?: string
}

/** Visits a URL, redirects followed. Throws `NotFetched`. */
export async function visit(visitor: Visitor, start: URL, headers: Asking): Promise<Visited> {
  const redirects: Redirect[] = []
  const jar = new CookieJar()
  const cookies: Visited['cookies'] = []
  let url = start
  for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
    const cookie = jar.getCookieStringSync(url.href)
    const answer = await ask(visitor, url, { ...headers, ...(cookie ? { cookie } : {}) })
    const lines = setCookies(answer.headers)
    cookies.push({ url: url.href, lines })
    // Some shops send their visitors around until they have a cookie.
    for (const line of lines) jar.setCookieSync(line, url.href, { ignoreError: true })
    const location = locationOf(answer)
    if (location === null) {
      const hasMoreHeaders = answer.headers.length > HEADERS_MAX
      const read = hasMoreHeaders ? answer.headers.slice(0, HEADERS_MAX) : answer.headers
      return { url, status: answer.status, headers: read, redirects, cookies, hasMoreHeaders, answer }
    }
    answer.end()
    const to = placeOf(location, visitor.places, url)
    to.hash = ''
    redirects.push({ status: answer.status, from: url.href, to: to.href })
    if (to.href === url.href && !lines.length) break
    url = to
  }
  throw never('redirects', `it redirects more than ${REDIRECTS_MAX} times`)
}

/** Visits a URL and reads its body as far as that may be. Throws `NotFetched`. */
export async function read(
  visitor: Visitor,
  url: URL,
  { maxBytes, ...asking }: Asking & { maxBytes: number },
): Promise<Visited & { bytes: Buffer; isWhole: boolean }> {
  const visited = await visit(visitor, url, asking)
  const body = await readBody(visited.answer, maxBytes)
  return { ...visited, ...body }
}

/** What was told, or why nothing was. Whatever else goes wrong is a defect of ours, and thrown. */
export async function attempt<T>(work: Promise<T>): Promise<T | NotFetched> {
  try {
    return await work
  } catch (error) {
    if (error instanceof NotFetched) return error
    throw error
  }
}

/** Whether an answer is a page of HTML; one that says nothing is taken for one. */
export function isHtml(contentType: string | null): boolean {
  const type = (contentType ?? '').split(';')[0]!.trim().toLowerCase()
  return type === '' || type === 'text/html' || type === 'application/xhtml+xml'
}
