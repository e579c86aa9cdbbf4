/** What is planned and not there: pages that begin with a notice, which says what works until then. Nothing else marks them. */
import type { Content, Page } from './content.ts'

const NOTICE = '> **Not in this release.**'

export const isPlanned = ({ body }: Pick<Page, 'body'>): boolean => body.startsWith(NOTICE)

/** What the notice says, as Markdown on one line. */
const noticeOf = ({ body, path }: Page): string =>
  /^(>.*\n?)+/
    .exec(body)![0]
    .replace(/^> ?/gm, '')
    .slice(NOTICE.length - 2)
    .replace(/\s+/g, ' ')
    // Its anchors are of its own page.
    .replaceAll('](#', `](${path}#`)
    .trim()

export const ROADMAP = {
  path: '/roadmap',
  title: 'Planned',
  about: 'What is specified and not built yet, and what to do until then. When it comes, its page loses its notice and leaves this list.',
}

/** The text of the page of what is planned. */
export function roadmapBody({ pages }: Pick<Content, 'pages'>): string {
  const planned = pages.filter(isPlanned)
  if (!planned.length) return `${ROADMAP.about}\n\nAt the moment everything that has a page is there.`
  return [
    ROADMAP.about,
    ...planned.map(
      (page) => `## ${page.title}${page.kind === 'docs' ? ' (API)' : ''}\n\n${page.summary}\n\n${noticeOf(page)} [The page](${page.path}).`,
    ),
  ].join('\n\n')
}
