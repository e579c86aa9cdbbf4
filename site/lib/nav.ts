/** Where a page stands among the others: its section, its neighbours, the way to it. */
import type { Content, Page } from './content.ts'
import { AREAS, type Area } from './areas.ts'

interface Crumb {
  title: string
  path: string
}

interface Section {
  id: string
  title: string
  pages: Page[]
}

interface Order {
  sections: Record<Area, Section[]>
  /** The pages of each area in their order, and where each page stands in it. */
  areas: Map<Area, Page[]>
  places: Map<string, number>
}

/** Worked out once for all pages: a page looks only at its own place. */
const orders = new WeakMap<readonly Page[], Order>()

function orderOf({ navigation, pages }: Content): Order {
  const known = orders.get(pages)
  if (known) return known
  const areas = Map.groupBy(pages, ({ kind }) => kind as Area)
  const places = new Map([...areas.values()].flatMap((area) => area.map(({ path }, i) => [path, i] as const)))
  const sectionsIn = (area: Area): Section[] => {
    const own = areas.get(area) ?? []
    if (area !== 'docs' && area !== 'help') return [{ id: area, title: AREAS[area], pages: own }]
    const bySection = Map.groupBy(own, ({ section }) => section)
    return navigation[area].map(({ section, title }) => ({ id: section, title, pages: bySection.get(section) ?? [] }))
  }
  const sections = { docs: sectionsIn('docs'), help: sectionsIn('help'), blog: sectionsIn('blog'), changelog: sectionsIn('changelog') }
  const order = { sections, areas, places }
  orders.set(pages, order)
  return order
}

/** The way from the front page of the area to the page. */
export function crumbsOf(content: Content, page: Page): Crumb[] {
  const area = { title: AREAS[page.kind], path: `/${page.kind}` }
  if (page.kind !== 'docs' && page.kind !== 'help') return [area]
  const section = sectionsOf(content, page.kind).find(({ id }) => id === page.section)!
  return [area, { title: section.title, path: `/${page.kind}#${page.section}` }]
}

/** The pages before and after one in its area. */
export function neighboursOf(content: Content, page: Page): { previous: Page | null; next: Page | null } {
  const { areas, places } = orderOf(content)
  const area = areas.get(page.kind)!
  const at = places.get(page.path)!
  return { previous: area[at - 1] ?? null, next: area[at + 1] ?? null }
}

/** The sections of an area with their pages; an area without sections is one. */
export const sectionsOf = (content: Content, area: Area): Section[] => orderOf(content).sections[area]
