/** The files that a shop has for crawlers and agents: what counts as one, and what there is. */
import { headerOf } from '../../../api/outside/exchange.ts'
import { NotFetched } from '../../../api/outside/not-fetched.ts'
import { attempt, read, type Visited, type Visitor } from '../reading/visit.ts'
import { parseRobots, type Robots } from './robots.ts'
import { URL_MAX } from '../target.ts'
import type { Visibility } from './visibility.ts'

/** Of a file that is only looked for: as much as tells what it is. */
export const GLANCE_BYTES = 65_536

export type Tried<T> = T | NotFetched
export type Read = Visited & { bytes: Buffer; isWhole: boolean }

/** Many shops answer every path with their home page, and some with whatever they have. */
const isPlain = ({ headers, bytes }: Read) => {
  const type = headerOf({ headers }, 'content-type')
  return (type === null || /^text\/(?!html)|^application\/octet-stream/i.test(type)) && !bytes.subarray(0, GLANCE_BYTES).includes(0)
}
const beginning = ({ bytes }: Read) => bytes.toString('utf8', 0, GLANCE_BYTES)

/** A line of it, a comment, or nothing at all. */
export const isRobots = (answer: Read) =>
  isPlain(answer) &&
  (!beginning(answer).trim() ||
    beginning(answer)
      .split(/[\r\n]/)
      .some((line) => /^(#|[a-z-]+\s*:)/i.test(line.trim())))
/** Markdown: a heading, or a link. */
export const isLlms = (answer: Read) => isPlain(answer) && /^\uFEFF?#{1,6}\s|\]\(/m.test(beginning(answer))

/** Whether a file is there, and how large it is. */
export function fileOf(answer: Tried<Read>, isIt: (answer: Read) => boolean): Visibility['robotsTxt'] {
  if (answer instanceof NotFetched) return { found: false, status: null, bytes: null }
  const found = answer.status === 200 && isIt(answer)
  return { found, status: answer.status, bytes: found ? answer.bytes.length : null }
}

/** What crawlers may do (RFC 9309, 2.3.1): without a file all, where it fails nobody knows. */
export function robotsOf(answer: Tried<Read>): Robots | null {
  if (answer instanceof NotFetched) return null
  if (answer.status >= 200 && answer.status < 300) return parseRobots(isRobots(answer) ? answer.bytes.toString('utf8') : '')
  return answer.status >= 400 && answer.status < 500 ? parseRobots('') : null
}

/** The first sitemap that `robots.txt` names, or where one usually is; and why it was not read. */
export async function lookForSitemap(
  visitor: Visitor,
  { url }: Visited,
  robots: Robots | null,
): Promise<{ sitemap: Visibility['sitemap']; failure: string | null }> {
  const named = robots?.sitemaps.find((text) => text.length <= URL_MAX && URL.canParse(text, url))
  const address = new URL(named ?? '/sitemap.xml', url)
  const none = { found: false, status: null, url: named ? address.href : null }
  const refusal = visitor.places.refusal(address)
  if (refusal !== null) return { sitemap: { ...none, url: null }, failure: refusal }
  const found = await attempt(read(visitor, address, { accept: 'application/xml,text/xml;q=0.9,*/*;q=0.5', maxBytes: GLANCE_BYTES }))
  if (found instanceof NotFetched) return { sitemap: none, failure: found.message }
  const isFound = found.status === 200 && /<(urlset|sitemapindex)\b|^https?:\/\/|^\x1f\x8b/.test(found.bytes.toString('latin1', 0, 4_096))
  return { sitemap: { found: isFound, status: found.status, url: isFound || named ? address.href : null }, failure: null }
}
