/**
 * What a storefront is built from: everything that its visitors may see, as the API answers it to the project's storefront key, and the
 * facts of the store that its pages are made with. Written as JSON, so that a build needs no network and no key.
 */
import { mkdir, open, writeFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { gt } from 'drizzle-orm'
import type { Session } from '../../../db/control/registry.ts'
import type { Reader } from '../../../db/driver.ts'
import { storefrontChanges } from '../../../db/store/builder.ts'
import { media } from '../../../db/store/content.ts'
import { settings as settingsTable } from '../../../db/store/store.ts'
import { LEGAL_KINDS, socialLinks } from '../../../db/store/pages.ts'
import { readLooks } from '../../store/mails/looks.ts'
import { BuildError } from './build-error.ts'
import type { Turns } from './turns.ts'
import { ownFolder, withOwnPaths } from '../own-files.ts'
import { inside, type Storefronts } from '../../outside/storefronts.ts'
import { richTextHtml, richTextMarkdown } from '../../values/rich-text/render.ts'

/** The resources that are read whole, for each language. */
const LISTS = {
  categories: '/categories?active=true',
  collections: '/collections?active=true',
  brands: '/brands?active=true',
  products: '/products?sort=newest&includeEvents=true',
  bundles: '/bundles?',
  posts: '/posts?',
  blogCategories: '/blog-categories?active=true',
  events: '/events?',
  slots: '/booking-slots?status=published',
} as const
type List = keyof typeof LISTS
/** Of these, whose texts come one by one. */
const DETAILS: Partial<Record<List, string>> = {
  products: '/products/',
  categories: '/categories/',
  bundles: '/bundles/',
  posts: '/posts/',
  events: '/events/',
}
/** Those that a tool of the store may have turned off, which answers 404. */
const OPTIONAL: ReadonlySet<List> = new Set(['posts', 'blogCategories', 'events', 'slots'])
/** Of all languages together: each process of a build holds the catalog, and has 2 GB. */
const ENTRIES_MAX = 60_000
const AT_A_TIME = 100
/** Characters that are written at once. */
const PIECE_CHARS = 256 * 1024
/** Rows of a table that are read at once. */
const AT_ONCE = 1_000
/** Reviews and comments that stand in a page; older ones are asked for. */
const VOICES = 20

interface Row extends Record<string, unknown> {
  id: string
}

export interface Language {
  /** `de-DE` */
  code: string
  /** What its pages' paths begin with, without slashes; empty for the store's own. */
  path: string
}

export interface Snapshot {
  /** The count of changes that the data were read at. */
  changes: number
  /** How many entries the catalog has, in all languages. */
  entries: number
  languages: Language[]
  /** The store's own first; lowercase. */
  currencies: string[]
}

interface Needs {
  storefronts: Storefronts
  session: Session
  db: Reader
  signal: AbortSignal
  /** It is many requests, in the process that answers those of others. */
  turns: Turns
}

/** The languages of a store, its own first; two of one language are told apart by their regions. */
function languagesOf({ locale, enabledLanguages }: { locale: string; enabledLanguages: Record<string, boolean> }): Language[] {
  const others = Object.keys(enabledLanguages)
    .filter((code) => enabledLanguages[code] && code !== locale)
    .toSorted()
  const short = (code: string) => code.split('-')[0]!
  const isShared = (code: string) => [locale, ...others].filter((other) => short(other) === short(code)).length > 1
  return [{ code: locale, path: '' }, ...others.map((code) => ({ code, path: isShared(code) ? code.toLowerCase() : short(code) }))]
}

/** Reads what a storefront shows and writes it to `folder`: `shop.json`, and a file for each language. */
export async function writeSnapshot(folder: string, needs: Needs, about: { base: string }): Promise<Snapshot> {
  const { db, session } = needs
  // Read first: what changes while the rest is read is news after it.
  const [counted] = await db.select().from(storefrontChanges)
  const [settings] = await db.select().from(settingsTable)
  const languages = languagesOf(settings!)
  await mkdir(folder, { recursive: true })
  let entries = 0
  const most = Math.floor(ENTRIES_MAX / languages.length)
  for (const { code } of languages)
    entries += await writeCatalog(join(folder, `${code}.json`), needs, { lang: code === settings!.locale ? null : code, most })
  const { name, currency, enabledCurrencies, locale, taxesIncluded, timezone, tools, contactEmail, address, checkout, payments, email } =
    settings!
  const shop = {
    id: session.store.id,
    base: about.base,
    name,
    currency,
    currencies: [currency, ...enabledCurrencies.filter((code) => code !== currency)],
    locale,
    languages,
    taxesIncluded,
    timezone,
    tools,
    contactEmail,
    address,
    checkout: { requirePhone: checkout.requirePhone },
    testMode: payments.testMode,
    mails: email.outboundEnabled,
    asksSubscribers: email.outboundEnabled && email.doubleOptIn,
    looks: await readLooks(db),
    socials: await db.select().from(socialLinks),
  }
  await write(join(folder, 'shop.json'), shop, { session })
  await write(join(folder, 'pictures.json'), await pictures(needs), { session })
  return { changes: counted!.count, entries, languages, currencies: shop.currencies }
}

/** The sizes and renditions of the store's own pictures, by the path of the folder that they are in. */
async function pictures({ db, session }: Needs) {
  const found: Record<string, { width: number; height: number; widths: number[] }> = {}
  for (let after = ''; ;) {
    const rows = await db
      .select({ id: media.id, width: media.width, height: media.height, renditions: media.renditions })
      .from(media)
      .where(gt(media.id, after))
      .orderBy(media.id)
      .limit(AT_ONCE)
    for (const { id, width, height, renditions } of rows)
      found[`${ownFolder(session.store.id)}${id}/`] = { width, height, widths: renditions.map((rendition) => rendition.width) }
    if (rows.length < AT_ONCE) return found
    after = rows.at(-1)!.id
  }
}

/** A text of the store as it may stand in a page that is a template: what would open a mark of Liquid is parted by a word joiner. */
const noTemplate = (text: string) => (text.includes('[') ? text.replace(/\[(?=[[%])/g, '[\u2060') : text)

/** A value of the store as the pages get it. */
const textFor = (storeId: string, value: unknown) =>
  withOwnPaths(
    JSON.stringify(value, (_, part) => (typeof part === 'string' ? noTemplate(part) : part)),
    storeId,
  )
const write = (path: string, value: unknown, { session }: Pick<Needs, 'session'>) => writeFile(path, textFor(session.store.id, value))

/** Text for a file, written a piece at a time. Each write is waited for: one that fails unheard would end the process. */
class Pieces {
  #text = ''

  constructor(readonly file: FileHandle) {}

  async add(text: string) {
    this.#text += text
    if (this.#text.length >= PIECE_CHARS) await this.flush()
  }

  async flush() {
    const text = this.#text
    this.#text = ''
    await this.file.writeFile(text)
  }
}

/** Writes the catalog in one language, row by row: a large one is never in memory as a whole. Returns how many entries it has. */
async function writeCatalog(path: string, needs: Needs, { lang, most }: { lang: string | null; most: number }): Promise<number> {
  const { id } = needs.session.store
  const file = await open(path, 'w')
  const pieces = new Pieces(file)
  let entries = 0
  try {
    await pieces.add('{')
    for (const name of Object.keys(LISTS) as List[]) {
      await pieces.add(`${JSON.stringify(name)}:[`)
      let isFirst = true
      for await (const row of rowsOf(needs, name, lang)) {
        if (++entries > most)
          throw new BuildError(
            `the catalog has more than ${most} entries, which is the most that a storefront of so many languages can show`,
          )
        await pieces.add(`${isFirst ? '' : ','}${textFor(id, await spoken(needs, name, row))}`)
        isFirst = false
      }
      await pieces.add('],')
    }
    await pieces.add(`"legal":${textFor(id, await readLegal(needs))}}`)
    await pieces.flush()
  } finally {
    await file.close()
  }
  return entries
}

/** One GET of the API; null where a tool is turned off, or what was listed is gone by now. */
async function read<T>({ storefronts, session, signal, turns }: Needs, path: string): Promise<T | null> {
  await turns.pass()
  signal.throwIfAborted()
  const request = inside(`/api/v1${path}`)
  const response = await storefronts.ask(session, request, null)
  if (response.status === 404) return null
  if (response.status !== 200) throw new Error(`${path.split('?')[0]} answers ${response.status}: ${(await response.text()).slice(0, 200)}`)
  return (await response.json()) as T
}

/** A row with what people have said of it, and what tells an event from goods. */
async function spoken(needs: Needs, name: List, row: Row): Promise<Row> {
  if (name === 'products') {
    const { rating, event } = row as unknown as { rating: { count: number }; event: unknown }
    if (rating.count) row.reviews = (await read<{ data: unknown[] }>(needs, `/products/${row.id}/reviews?limit=${VOICES}`))?.data ?? []
    if (event) row.isEvent = true
  }
  if (name === 'posts' && row.commentCount)
    row.comments = (await read<{ data: unknown[] }>(needs, `/posts/${row.id}/comments?limit=${VOICES}`))?.data ?? []
  return row
}

async function readLegal(needs: Needs) {
  const legal: Record<string, unknown> = {}
  for (const kind of LEGAL_KINDS) {
    const page = await read<Row>(needs, `/legal-pages/${kind}?format=html`)
    if (page) legal[kind] = texts(page)
  }
  return legal
}

/** The rows of a list, a page at a time. */
async function* rowsOf(needs: Needs, name: List, lang: string | null): AsyncGenerator<Row> {
  const seen = new Set<string>()
  const language = lang ? `&lang=${lang}` : ''
  const detail = DETAILS[name]
  for (let offset = 0; ; offset += AT_A_TIME) {
    const page = await read<{ data: Row[] }>(needs, `${LISTS[name]}&limit=${AT_A_TIME}&offset=${offset}${language}`)
    if (!page && !OPTIONAL.has(name)) throw new Error(`there are no ${name}`)
    for (const row of page?.data ?? []) {
      // While it is read, what is new shifts the rest: nothing is taken twice.
      if (seen.has(row.id)) continue
      seen.add(row.id)
      if (!detail) {
        yield texts(row)
        continue
      }
      const answer = await read<Row & { event?: Row }>(needs, `${detail}${row.id}?${language}`)
      const whole = name === 'events' ? answer?.event : answer
      if (whole) yield texts(whole)
    }
    if ((page?.data.length ?? 0) < AT_A_TIME) return
  }
}

/** The rich texts of a row in the forms that pages have: HTML that is safe, and Markdown. */
function texts(row: Row): Row {
  const { content, description, longDescription, products: _, ...rest } = row
  const forms = (text: unknown) =>
    text === null || text === undefined || text === ''
      ? null
      : typeof text === 'string'
        ? { text, html: null, markdown: null }
        : { text: null, html: richTextHtml(text), markdown: richTextMarkdown(text) }
  return {
    ...rest,
    ...('productCount' in row && 'discountPercentage' in row ? { parts: row.products } : {}),
    ...('content' in row ? { content: forms(content) } : {}),
    ...('description' in row ? { description: forms(description) } : {}),
    ...('longDescription' in row ? { longDescription: forms(longDescription) } : {}),
  } as Row
}
