/**
 * The one index of `content/`: every page with its checked frontmatter, in the order of the navigation. All outputs of the site read
 * this: pages, Markdown twins, sitemaps, feeds, llms.txt, openapi.json.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { frontmatterOf, homeFrontmatterOf, type Frontmatter, type Kind } from './frontmatter.ts'
import { readFigures, requireFresh, type Figure } from './figures.ts'
import type { CodeBlock, Fence, Link, Section } from './markdown.ts'
import { figuresOf, readPeers, type Peers } from './measured.ts'
import { pictureIn } from './previews.ts'
import { readProject, type Project } from './project.ts'
import { readText, type Reading, type Report } from './reading.ts'
import { storeApi } from './reference.ts'

const SLUG = /^[a-z0-9_]+(-[a-z0-9_]+)*$/
const CHANGELOG_SLUG = /^\d{4}-\d{2}-\d{2}-[a-z0-9-]+$/

export interface Page<K extends Kind = Kind> {
  kind: K
  /** The folder of docs and help pages: a part of their path. */
  section: string | null
  /** Of the store API, where the page lists operations. */
  tag: string | null
  slug: string
  /** `/docs/commerce/cart`, without a suffix. */
  path: string
  /** From the folder of the project. */
  file: string
  frontmatter: Frontmatter[K]
  title: string
  summary: string
  /** When it was last changed, or published. */
  date: string
  /** The source without frontmatter. */
  body: string
  headings: Section[]
  /** Of its blocks of code, in their order. */
  fences: Fence[]
}

/** What is looked through of a text before it is shown. */
interface Checked {
  links: Link[]
  code: CodeBlock[]
}

/** A section of docs or help, as readers see it. */
interface NavigationSection {
  section: string
  title: string
  /** `folder/slug`; in the file, a page of the section's own folder may stand as its slug. */
  pages: string[]
  /** The section is shown in the groups of the API's tags; here are the pages of a tag that hold none of its operations. */
  groups?: Record<string, string[]>
}
type Navigation = Record<'docs' | 'help', NavigationSection[]>

function readNavigation(root: string): Navigation {
  const { docs, help } = JSON.parse(readFileSync(join(root, 'content/navigation.json'), 'utf8')) as Navigation
  const whole = (sections: NavigationSection[]) =>
    sections.map(({ section, pages, ...rest }) => ({
      ...rest,
      section,
      pages: pages.map((name) => (name.includes('/') ? name : `${section}/${name}`)),
    }))
  return { docs: whole(docs), help: whole(help) }
}

/** The home page: `content/home.md`. */
type Home = Pick<Page, 'file' | 'title' | 'summary' | 'body' | 'headings' | 'fences'>

export interface Content {
  project: Project
  figures: Figure[]
  /** The comparison with other backends; null where it was not made. */
  peers: Peers | null
  /** Null in a folder that has none. */
  home: Home | null
  navigation: Navigation
  /** Docs and help in the order of the navigation; blog and changelog newest first. */
  pages: Page[]
  byPath: ReadonlyMap<string, Page>
}

/** The content while it is checked. */
interface Read extends Omit<Content, 'home' | 'pages' | 'byPath'> {
  home: (Home & Checked) | null
  pages: (Page & Checked)[]
  problems: string[]
}

/** What is wrong with the content, one line each: `content/docs/x.md:12: …`. */
export class ContentError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`the content has ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n${problems.join('\n')}`)
  }
}

const HOME = 'content/home.md'

function readHome(reading: Reading): Read['home'] {
  if (!existsSync(join(reading.root, HOME))) return null
  const text = readText(reading, HOME)
  if (!text) return null
  const { data, tag: _, ...parts } = text
  const { title, summary } = homeFrontmatterOf(data, (problem) => reading.report(HOME, problem))
  return { file: HOME, title, summary, ...parts }
}

function readPage<K extends Kind>(reading: Reading, kind: K, section: string | null, slug: string): (Page<K> & Checked) | null {
  const file = ['content', kind, section, `${slug}.md`].filter(Boolean).join('/')
  const text = readText(reading, file)
  if (!text) return null
  const { data, ...parts } = text
  const frontmatter = frontmatterOf(kind, data, (problem) => reading.report(file, problem))
  const some = frontmatter as Partial<{ title: string; headline: string; summary: string; updated: string; date: string }>
  const title = some.title ?? some.headline ?? slug
  return {
    kind,
    section,
    slug,
    path: `/${[kind, section, slug].filter(Boolean).join('/')}`,
    file,
    frontmatter,
    title,
    summary: some.summary ?? `${title}.`,
    date: some.updated ?? some.date ?? '',
    ...parts,
  }
}

const filesIn = (folder: string) =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md')) : []

/** The pages of docs or help: those that the navigation lists, each of which is there, and no other. */
function listed(reading: Reading, kind: 'docs' | 'help', sections: readonly NavigationSection[]): Read['pages'] {
  const { root, report } = reading
  const there = new Set(filesIn(join(root, 'content', kind)))
  const pages = sections.flatMap(({ pages: names }) =>
    names.flatMap((name) => {
      if (!there.delete(`${name}.md`)) {
        report(`content/${kind}/${name}.md`, 'is listed in navigation.json, but is not there')
        return []
      }
      const [folder, slug] = name.split('/') as [string, string]
      return readPage(reading, kind, folder, slug) ?? []
    }),
  )
  for (const name of there) report(`content/${kind}/${name}`, 'is not listed in navigation.json')
  return pages
}

/** Which of two pages of one day comes first: the higher version, of posts the later name. */
function later(a: Page, b: Page): number {
  const [ours, theirs] = [a, b].map(({ frontmatter, slug }) => (frontmatter as { version?: string }).version ?? slug) as [string, string]
  return theirs.localeCompare(ours, 'en', { numeric: true })
}

/** The pages of blog or changelog, newest first. */
function dated(reading: Reading, kind: 'blog' | 'changelog'): Read['pages'] {
  const { root, report } = reading
  return filesIn(join(root, 'content', kind))
    .flatMap((name) => {
      const slug = name.slice(0, -'.md'.length)
      if (!(kind === 'changelog' ? CHANGELOG_SLUG : SLUG).test(slug)) {
        report(`content/${kind}/${name}`, 'has a name that can be no address')
        return []
      }
      return readPage(reading, kind, null, slug) ?? []
    })
    .toSorted((a, b) => (a.date === b.date ? later(a, b) : a.date < b.date ? 1 : -1))
}

/** Reports links within the site that lead nowhere; `known` are paths that are no pages of the content. */
function checkLinks(
  pages: readonly ((Page | Home) & Checked)[],
  byPath: ReadonlyMap<string, Page>,
  known: ReadonlySet<string>,
  report: Report,
) {
  for (const page of pages) {
    for (const { url, line } of page.links) {
      if (/^(https?:|mailto:)/.test(url)) continue
      const [path, anchor] = url.split('#') as [string, string | undefined]
      const target: Page | Home | undefined = path === '' ? page : byPath.get(path)
      // A page that is listed and missing is a problem of its own.
      if (!target && (known.has(path) || pictureIn(path))) continue
      if (!target) report(page.file, `links to ${url}, which leads nowhere`, line)
      else if (anchor !== undefined && !target.headings.some(({ id }) => id === anchor))
        report(page.file, `links to ${url}: that page has no such heading`, line)
    }
  }
}

/** Pages that the site makes itself. */
const OWN_PATHS = [
  '/',
  '/docs',
  '/help',
  '/blog',
  '/changelog',
  '/pricing',
  '/scan',
  '/roadmap',
  '/measured',
  '/search',
  '/llms.txt',
  '/llms-full.txt',
  '/openapi.json',
  '/sitemap.md',
  '/rss.xml',
]

/** Reads and checks all content below `root`; throws a `ContentError` that names each file and what is wrong with it. */
export function readContent(root: string): Content {
  const { problems, ...content } = readPages(root)
  if (problems.length) throw new ContentError(problems)
  return indexed({ ...content, home: content.home && shown(content.home), pages: content.pages.map(shown) })
}

const shown = <T extends Checked>({ links: _, code: __, ...text }: T): Omit<T, keyof Checked> => text

/** Content whose pages are found by their paths, too. */
export const indexed = (content: Omit<Content, 'byPath'>): Content => ({
  ...content,
  byPath: new Map(content.pages.map((page) => [page.path, page])),
})

/** The pages that can be read, and what is wrong with them and with those that can't. */
export function readPages(root: string): Read {
  const problems: string[] = []
  const report: Report = (file, problem, line) => problems.push(`${file}${line === undefined ? '' : `:${line}`}: ${problem}`)
  const navigation = readNavigation(root)
  const project = readProject(root, report)
  const peers = readPeers(root)
  const figures = [...readFigures(root, report), ...(peers ? figuresOf(peers) : [])]
  const reading = { root, report, document: storeApi(), figures, project }
  const home = readHome(reading)
  const pages = [
    ...listed(reading, 'docs', navigation.docs),
    ...listed(reading, 'help', navigation.help),
    ...dated(reading, 'blog'),
    ...dated(reading, 'changelog'),
  ]
  const byPath = new Map<string, Page>()
  const titles = new Map<string, string>()
  for (const page of pages) {
    if (byPath.has(page.path)) report(page.file, `has the address of ${byPath.get(page.path)!.file}`)
    byPath.set(page.path, page)
    const title = `${page.kind}/${page.section}/${page.title}`
    if (titles.has(title)) report(page.file, `has the title of ${titles.get(title)}`)
    titles.set(title, page.file)
  }
  const listedPaths = (['docs', 'help'] as const).flatMap((kind) =>
    navigation[kind].flatMap(({ pages }) => pages.map((name) => `/${kind}/${name}`)),
  )
  checkLinks(home ? [home, ...pages] : pages, byPath, new Set([...OWN_PATHS, ...listedPaths]), report)
  const releases = pages.filter(({ kind }) => kind === 'changelog').map(({ frontmatter }) => frontmatter as Frontmatter['changelog'])
  requireFresh(figures, releases, report)
  return { project, figures, peers, home, navigation, pages, problems }
}
