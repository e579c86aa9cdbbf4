/**
 * The one index of `content/`: every page with its checked frontmatter, in the order of the navigation. All outputs of the site read
 * this: pages, Markdown twins, sitemaps, feeds, llms.txt, openapi.json.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import matter from 'gray-matter'
import type { Json } from '../../api/openapi/schemas.ts'
import { frontmatterOf, type Frontmatter, type Kind } from './frontmatter.ts'
import { codeOf, foreignTo, headingsOf, linksOf, parse, type CodeBlock, type Link, type Section } from './markdown.ts'
import { storeApi, withReference } from './reference.ts'

/** The longest body that a page may have, in bytes: two pages that agents can read in one go. */
const BODY_MAX_BYTES = 48_000
const SLUG = /^[a-z0-9_]+(-[a-z0-9_]+)*$/
const CHANGELOG_SLUG = /^\d{4}-\d{2}-\d{2}-[a-z0-9-]+$/

export interface Page<K extends Kind = Kind> {
  kind: K
  /** Of docs and help pages. */
  section: string | null
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
  links: Link[]
  code: CodeBlock[]
}

export interface NavigationSection {
  section: string
  title: string
  pages: string[]
}
type Navigation = Record<'docs' | 'help', NavigationSection[]>

export interface Content {
  navigation: Navigation
  /** Docs and help in the order of the navigation; blog and changelog newest first. */
  pages: Page[]
  byPath: ReadonlyMap<string, Page>
}

/** What is wrong with the content, one line each: `content/docs/x.md:12: …`. */
export class ContentError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`the content has ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n${problems.join('\n')}`)
  }
}

type Report = (file: string, problem: string, line?: number) => void

/** What reading a page needs: where it is, who hears of problems, and the API that the reference is generated from. */
interface Reading {
  root: string
  report: Report
  document: Json
}

function readPage<K extends Kind>({ root, report, document }: Reading, kind: K, section: string | null, slug: string): Page<K> | null {
  const file = ['content', kind, section, `${slug}.md`].filter(Boolean).join('/')
  const source = readFileSync(join(root, file), 'utf8')
  let parsed: matter.GrayMatterFile<string>
  try {
    // An empty options object keeps gray-matter from answering with what it remembers of an earlier reading.
    parsed = matter(source, {})
  } catch (error) {
    report(file, `the frontmatter can't be read: ${(error as Error).message.split('\n')[0]}`)
    return null
  }
  const frontmatter = frontmatterOf(kind, parsed.data, (problem) => report(file, problem))
  const written = parsed.content.trim()
  const body = withReference(written, document, (problem) => report(file, problem))
  const tree = parse(body)
  const offset = source.slice(0, source.length - parsed.content.trimStart().length).split('\n').length - 1
  for (const { what, line } of foreignTo(tree)) report(file, `holds ${what}`, line + offset)
  if (Buffer.byteLength(body) > BODY_MAX_BYTES) report(file, `is ${Buffer.byteLength(body)} bytes long, ${BODY_MAX_BYTES} are allowed`)
  if (!body) report(file, 'has no text')
  const headings = headingsOf(tree)
  for (const [i, { text }] of headings.entries())
    if (headings.findIndex((other) => other.text === text) !== i) report(file, `has the heading ${JSON.stringify(text)} twice`)
  const some = frontmatter as Partial<{ title: string; headline: string; summary: string; updated: string; date: string }>
  const title = some.title ?? some.headline ?? slug
  const shifted = <T extends { line: number }>(entries: T[]) => entries.map((entry) => ({ ...entry, line: entry.line + offset }))
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
    body,
    headings,
    links: shifted(linksOf(tree)),
    code: shifted(codeOf(tree)),
  }
}

const filesIn = (folder: string) =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md')) : []

/** The pages of docs or help: those that the navigation lists, each of which is there, and no other. */
function listed(reading: Reading, kind: 'docs' | 'help', sections: readonly NavigationSection[]): Page[] {
  const { root, report } = reading
  const there = new Set(filesIn(join(root, 'content', kind)))
  const pages = sections.flatMap(({ section, pages: slugs }) =>
    slugs.flatMap((slug) => {
      if (!there.delete(`${section}/${slug}.md`)) {
        report(`content/${kind}/${section}/${slug}.md`, 'is listed in navigation.json, but is not there')
        return []
      }
      return readPage(reading, kind, section, slug) ?? []
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
function dated(reading: Reading, kind: 'blog' | 'changelog'): Page[] {
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
function checkLinks(pages: readonly Page[], byPath: ReadonlyMap<string, Page>, known: ReadonlySet<string>, report: Report) {
  for (const page of pages) {
    for (const { url, line } of page.links) {
      if (/^(https?:|mailto:)/.test(url)) continue
      const [path, anchor] = url.split('#') as [string, string | undefined]
      const target = path === '' ? page : byPath.get(path)
      // A page that is listed and missing is a problem of its own.
      if (!target && known.has(path)) continue
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
  return content
}

/** The pages that can be read, and what is wrong with them and with those that can't. */
export function readPages(root: string): Content & { problems: string[] } {
  const problems: string[] = []
  const report: Report = (file, problem, line) => problems.push(`${file}${line === undefined ? '' : `:${line}`}: ${problem}`)
  const navigation = JSON.parse(readFileSync(join(root, 'content/navigation.json'), 'utf8')) as Navigation
  const reading = { root, report, document: storeApi() }
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
  const planned = (['docs', 'help'] as const).flatMap((kind) =>
    navigation[kind].flatMap(({ section, pages }) => pages.map((slug) => `/${kind}/${section}/${slug}`)),
  )
  checkLinks(pages, byPath, new Set([...OWN_PATHS, ...planned]), report)
  return { navigation, pages, byPath, problems }
}
