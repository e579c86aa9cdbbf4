/** What whoever reads a report should know of how it came to be. */
import { headerOf } from '../../../api/outside/exchange.ts'
import { NotFetched } from '../../../api/outside/not-fetched.ts'
import { HTML_MAX_BYTES } from '../page-meta.ts'
import type { Markup } from '../reading/markup.ts'
import { isHtml } from '../reading/visit.ts'
import type { Read, Tried } from './files.ts'

interface Looked {
  page: Read
  markup: Markup
  metaRobots: readonly string[]
  /** What was asked for beside the page, by what it is called. */
  asked: readonly (readonly [what: string, answer: Tried<unknown>])[]
  robots: Tried<Read>
  /** Why the sitemap was not read. */
  sitemapFailure: string | null
}

/** Statuses with which a firewall or a login keeps a scan out. */
const KEPT_OUT = [401, 403, 429]

/** About the page: whether it is the shop at all. */
function ofPage({ page, markup, metaRobots }: Looked): string[] {
  const { status } = page
  const isPage = isHtml(headerOf(page, 'content-type'))
  return [
    ...(KEPT_OUT.includes(status)
      ? [`The shop keeps the scan out (${status}): everything here is about the page that says so, not about the shop.`]
      : status >= 300
        ? [`The page answers ${status}: everything here is about that answer, not about the shop.`]
        : []),
    ...(metaRobots.some((directive) => /^(.*:\s*)?(noindex|none)$/.test(directive))
      ? ['The page says noindex: search engines and AI search leave it out, whatever robots.txt says.']
      : []),
    ...(isPage ? [] : ['The answer is no HTML page: nothing of its contents was looked at.']),
    ...(isPage && status < 300 && !page.bytes.length ? ['The page is empty.'] : []),
    ...(page.isWhole ? [] : [`The page has more than ${HTML_MAX_BYTES / 1_048_576} MB: what comes after that was not looked at.`]),
    ...(page.hasMoreHeaders ? ['The answer has more than 100 headers: the first 100 were looked at.'] : []),
    ...(markup.metas.some((meta) => meta.get('http-equiv')?.trim().toLowerCase() === 'refresh')
      ? ['The page sends its readers elsewhere by a meta refresh, which was not followed.']
      : []),
  ]
}

export function warningsOf(looked: Looked): string[] {
  const { asked, robots, sitemapFailure } = looked
  const failed = asked.flatMap(([what, answer]) => (answer instanceof NotFetched ? `No answer to ${what}: ${answer.message}.` : []))
  const status = robots instanceof NotFetched ? null : robots.status
  return [
    ...ofPage(looked),
    ...failed,
    ...(status !== null && (status >= 500 || KEPT_OUT.includes(status))
      ? [
          `robots.txt answers ${status}: ${status >= 500 ? 'what crawlers may do is not known' : 'crawlers take that for a file that is not there, and may do all'}.`,
        ]
      : []),
    ...(sitemapFailure === null ? [] : [`The sitemap was not read: ${sitemapFailure}.`]),
  ]
}
