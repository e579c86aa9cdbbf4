/** Where a page stands among the others: its section, its neighbours, the way to it. */
import type { Content, Page } from './content.ts'
import { AREAS, type Area } from './texts.ts'

export interface Crumb {
  title: string
  path: string
}

/** The way from the front page of the area to the page. */
export function crumbsOf({ navigation }: Content, page: Page): Crumb[] {
  const area = { title: AREAS[page.kind], path: `/${page.kind}` }
  if (page.kind !== 'docs' && page.kind !== 'help') return [area]
  const section = navigation[page.kind].find(({ section: name }) => name === page.section)!
  return [area, { title: section.title, path: `/${page.kind}#${page.section}` }]
}

/** The pages before and after one in its area. */
export function neighboursOf({ pages }: Content, page: Page): { previous: Page | null; next: Page | null } {
  const area = pages.filter(({ kind }) => kind === page.kind)
  const at = area.findIndex(({ path }) => path === page.path)
  return { previous: area[at - 1] ?? null, next: area[at + 1] ?? null }
}

/** The sections of an area with their pages; an area without sections is one. */
export function sectionsOf({ navigation, pages }: Content, area: Area): { id: string; title: string; pages: Page[] }[] {
  const own = pages.filter(({ kind }) => kind === area)
  if (area !== 'docs' && area !== 'help') return [{ id: area, title: AREAS[area], pages: own }]
  return navigation[area].map(({ section, title }) => ({ id: section, title, pages: own.filter((page) => page.section === section) }))
}
