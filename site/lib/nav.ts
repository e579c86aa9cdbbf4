/** Where a page stands among the others: its section, its neighbours, the way to it. */
import type { Content, Page } from './content.ts'
import { AREAS, type Area } from './areas.ts'
import { isPlanned } from './planned.ts'

interface Crumb {
  title: string
  path: string
}

interface Group {
  /** Null: the pages stand directly under their section. */
  title: string | null
  pages: Page[]
}

export interface Section {
  id: string
  title: string
  pages: Page[]
  /** The same pages, in parts where the section is long. */
  groups: Group[]
}

interface Order {
  sections: Record<Area, Section[]>
  /** The pages of each area in their order, and where each page stands in it. */
  areas: Map<Area, Page[]>
  places: Map<string, number>
  /** The section of each page. */
  homes: Map<string, Section>
}

/** Worked out once for all pages: a page looks only at its own place. */
const orders = new WeakMap<readonly Page[], Order>()

/** What the tags of the store API are called where its reference is grouped by them. */
const TAGS: Record<string, string> = {
  store: 'Store',
  catalog: 'Catalog',
  checkout: 'Carts and shipping',
  orders: 'Orders and customers',
  marketing: 'Marketing',
  content: 'Content and messages',
  events: 'Events and bookings',
  builder: 'Shop and publishing',
}
const FIRST = 'Begin here'
const PLANNED = 'Planned'

/** The reference in the groups of the API's tags: a page of a resource belongs with its operations. */
function byTag(pages: readonly Page[], beside: Readonly<Record<string, readonly string[]>>): Group[] {
  const tags = new Map(pages.map(({ slug, tag }) => [slug, tag]))
  const named = Object.entries(beside).flatMap(([tag, slugs]) => slugs.map((slug) => [slug, tag] as const))
  const given = new Map(named)
  const groupOf = (page: Page) => {
    if (isPlanned(page)) return PLANNED
    const tag = page.tag ?? given.get(page.slug) ?? tags.get(`${page.slug}-operations`)
    return tag ? (TAGS[tag] ?? tag) : FIRST
  }
  const groups = Map.groupBy(pages, groupOf)
  return [FIRST, ...Object.values(TAGS), PLANNED].flatMap((title) => (groups.has(title) ? { title, pages: groups.get(title)! } : []))
}

function orderOf({ navigation, pages }: Content): Order {
  const known = orders.get(pages)
  if (known) return known
  const areas = Map.groupBy(pages, ({ kind }) => kind as Area)
  const places = new Map([...areas.values()].flatMap((area) => area.map(({ path }, i) => [path, i] as const)))
  const sectionsIn = (area: Area): Section[] => {
    const own = areas.get(area) ?? []
    if (area !== 'docs' && area !== 'help') return [{ id: area, title: AREAS[area], pages: own, groups: [{ title: null, pages: own }] }]
    const byName = new Map(own.map((page) => [`${page.section}/${page.slug}`, page]))
    return navigation[area].map(({ section, title, pages: names, groups }) => {
      const listed = names.flatMap((name) => byName.get(name) ?? [])
      return { id: section, title, pages: listed, groups: groups ? byTag(listed, groups) : [{ title: null, pages: listed }] }
    })
  }
  const sections = { docs: sectionsIn('docs'), help: sectionsIn('help'), blog: sectionsIn('blog'), changelog: sectionsIn('changelog') }
  const homes = new Map(
    Object.values(sections).flatMap((some) => some.flatMap((section) => section.pages.map(({ path }) => [path, section] as const))),
  )
  const order = { sections, areas, places, homes }
  orders.set(pages, order)
  return order
}

/** The section that a page stands in. */
export const sectionOf = (content: Content, page: Page): Section => orderOf(content).homes.get(page.path)!

/** The way from the front page of the area to the page. */
export function crumbsOf(content: Content, page: Page): Crumb[] {
  const area = { title: AREAS[page.kind], path: `/${page.kind}` }
  if (page.kind !== 'docs' && page.kind !== 'help') return [area]
  const { id, title } = sectionOf(content, page)
  return [area, { title, path: `/${page.kind}#${id}` }]
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
