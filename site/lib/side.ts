/** The navigation beside a page, as HTML: the sections of its area, with the pages of its own. */
import { AREAS, type Area } from './areas.ts'
import type { Content, Page } from './content.ts'
import { escaped } from './escaped.ts'
import { sectionOf, sectionsOf, type Section } from './nav.ts'
import { isPlanned } from './planned.ts'

/** Of more sections, those nearest to the page's own. */
const SECTIONS_SHOWN = 24
/** A section is shown whole; of what is dated, so many. */
const DATED_SHOWN = 12
const BADGE = '<span class="badge planned">Planned</span>'

/** Made once for each section: its pages differ in the one that is marked. */
const made = new WeakMap<Section, string>()

/** The navigation with the page marked in it. */
export function sideOf(content: Content, page: Page): string {
  const section = sectionOf(content, page)
  const side = made.get(section) ?? sideIn(sectionsOf(content, page.kind), section, page.kind)
  made.set(section, side)
  return side.replace(`<a href="${page.path}"`, '$& aria-current="page"')
}

function sideIn(sections: readonly Section[], section: Section, area: Area): string {
  const at = sections.indexOf(section)
  const first = Math.max(0, Math.min(at - SECTIONS_SHOWN / 2, sections.length - SECTIONS_SHOWN))
  const link = ({ id, title }: Section) => `<p><a href="/${area}#${id}">${escaped(title)}</a></p>`
  return [
    ...(sections.length > SECTIONS_SHOWN ? [`<p><a href="/${area}">${AREAS[area]}: all ${sections.length} sections</a></p>`] : []),
    ...sections.slice(first, at).map(link),
    pagesOf(section, area),
    ...sections.slice(at + 1, first + SECTIONS_SHOWN).map(link),
  ].join('')
}

function pagesOf({ title, groups }: Section, area: Area): string {
  const most = area === 'blog' || area === 'changelog' ? DATED_SHOWN : Infinity
  const lists = groups.map(({ title, pages }) => {
    const items = pages
      .slice(0, most)
      .map((page) => `<li><a href="${page.path}">${escaped(page.title)}${isPlanned(page) ? ` ${BADGE}` : ''}</a></li>`)
    return `${title ? `<p class="group">${escaped(title)}</p>` : ''}<ul>${items.join('')}</ul>`
  })
  return `<p>${escaped(title)}</p>${lists.join('')}`
}
