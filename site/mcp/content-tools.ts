/** The tools of the content site's MCP server: what a reader of the site can do, without a key. Each asks the site as HTTP would. */
import GithubSlugger from 'github-slugger'
import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { Tools } from '../../api/mcp/endpoint.ts'
import { trimmed } from '../../api/mcp/trim.ts'
import type { ListForm } from '../../api/openapi/operations.ts'
import { OPERATIONS, type OperationName } from '../analyses/operations.ts'
import { PATH_MAX } from '../lib/addresses.ts'
import { AREAS } from '../lib/areas.ts'
import { FOUND, FOUND_MAX, QUERY_MAX } from '../lib/search.ts'

/** Asks the site for a path with its query. */
export type AskSite = (target: string) => Promise<Response>

type Given = Record<string, unknown>

const text = (description: string, more: object = {}) => ({ type: 'string', description, ...more })
const READ_ON = { type: 'integer', minimum: 0, description: 'Reads on: `next.answerFrom` of the part before' }

/** A tool that reads; one that looks at the shops of others reaches out. */
const tool = (
  name: string,
  title: string,
  description: string,
  properties: object,
  required: string[] = [],
  openWorldHint = false,
): Tool => ({
  name,
  title,
  description,
  inputSchema: { type: 'object', properties: properties as never, ...(required.length ? { required } : {}), additionalProperties: false },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint },
})

const SHOP = { url: text('The address of a shop or of one of its pages, such as `https://shop.example`') }
const perMinute = (name: OperationName) => `${OPERATIONS[name].perMinute} a minute`

const LIST: readonly Tool[] = [
  tool(
    'search_docs',
    'Search the documentation',
    'The passages of the documentation, help, blog and release notes that answer a question best, each with the address to read on with read_page.',
    {
      query: text('A question or some words', { minLength: 1, maxLength: QUERY_MAX }),
      limit: { type: 'integer', minimum: 1, maximum: FOUND_MAX, default: FOUND },
    },
    ['query'],
  ),
  tool(
    'read_page',
    'Read a page',
    'A page of the site as Markdown, or one section of it when the path has an anchor.',
    { path: text('Such as `/docs/api-reference/coupons` or `/help/orders/refunds-and-returns#limits`'), answerFrom: READ_ON },
    ['path'],
  ),
  tool(
    'list_pages',
    'List the pages',
    'The pages of an area with their titles and summaries; without an area, what to read for which task.',
    {
      area: text('A part of the site', { enum: Object.keys(AREAS) }),
      answerFrom: READ_ON,
    },
  ),
  tool('get_pricing', 'The plans', 'What the plans of Stoa cost and allow.', {}),
  tool('latest_release', 'The latest release', 'Version, date and notes of the latest release.', { answerFrom: READ_ON }),
  tool(
    'scan_store',
    'Scan a shop',
    `What a public shop runs on, what its plugins cost, how safe its headers are, and which AI crawlers it lets in; ${perMinute('store-scan')}.`,
    SHOP,
    ['url'],
    true,
  ),
  tool(
    'page_speed',
    'Measure a page',
    `How fast a public page is on a phone and on a desk, by Lighthouse: takes up to a minute and a half; ${perMinute('pagespeed')}.`,
    SHOP,
    ['url'],
    true,
  ),
  tool(
    'page_meta',
    'Read the metadata of a page',
    `Title, description, Open Graph, headings and structured data of a public page; ${perMinute('fetch-page-meta')}.`,
    SHOP,
    ['url'],
    true,
  ),
]

const refused = (status: number, error: string, more: object = {}): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify({ status, error, ...more }) }],
  isError: true,
})
const missing = (name: string) =>
  refused(400, `${name}: is required`, { details: [{ code: 'required', message: 'is required', path: [name] }] })

/** What a search finds: fewer can be asked for. */
const HITS: ListForm = { entries: 'data', by: 'whole', pageMax: FOUND_MAX }

const said = (value: string, from = 0, list: ListForm | null = null): CallToolResult => ({
  content: trimmed(value, { list, from, rest: null }).map((part) => ({ type: 'text', text: part })),
})

/** A problem of the content API (RFC 9457) as the error of a tool. */
async function problem(response: Response): Promise<CallToolResult> {
  if (!/json/.test(response.headers.get('content-type') ?? '')) return refused(response.status, `the site answers ${response.status}`)
  const { detail, code, resolution, documentationUrl } = await response.json()
  const wait = response.headers.get('retry-after')
  return refused(response.status, detail, { code, resolution, documentationUrl, ...(wait ? { retryAfterSeconds: Number(wait) } : {}) })
}

/** What is wrong with arguments by the schema of their tool: unknown ones, and others than strings and whole numbers; null: nothing. */
function wrongIn({ inputSchema }: Tool, given: Given): CallToolResult | null {
  const fields = inputSchema.properties as Record<string, { type: string }>
  for (const [name, value] of Object.entries(given)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    const isRight =
      field?.type === 'integer' ? Number.isInteger(value) && Number(value) >= 0 : typeof value === 'string' && value.isWellFormed()
    if (field && isRight) continue
    const [code, message] = field
      ? ['invalid_type', field.type === 'integer' ? 'must be a whole number' : 'must be a string']
      : ['unrecognized_keys', `is no argument: there are ${Object.keys(fields).join(', ') || 'none'}`]
    const shown = name.slice(0, 100)
    return refused(400, `${shown}: ${message}`, { details: [{ code, message, path: [shown] }] })
  }
  return null
}

/** The words of a heading without its markup. */
const wordsOf = (heading: string) => heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]|\\(?=[^\w\s])/g, '')

/** The section of a page that an anchor names, down to the next heading that is not below it; null where it names none. */
function sectionOf(markdown: string, anchor: string): string | null {
  let depth = 0
  let isCode = false
  const kept: string[] = []
  const slugger = new GithubSlugger()
  for (const line of markdown.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode
    const [, marks, heading] = (!isCode && /^(#{2,6}) (.+)$/.exec(line)) || []
    if (marks && depth && marks.length <= depth) break
    if (marks && slugger.slug(wordsOf(heading!)) === anchor && !depth) depth = marks.length
    if (depth) kept.push(line)
  }
  return depth ? kept.join('\n').trim() : null
}

export class ContentTools implements Tools {
  readonly list = LIST

  constructor(
    readonly ask: AskSite,
    readonly base: string,
    readonly broken: (error: unknown) => void,
  ) {}

  async call(name: string, given: Given): Promise<CallToolResult> {
    const tool = LIST.find((one) => one.name === name)
    const wrong = tool && wrongIn(tool, given)
    if (wrong) return wrong
    const from = (given.answerFrom as number | undefined) ?? 0
    switch (name) {
      case 'search_docs':
        return typeof given.query === 'string' && given.query.trim()
          ? this.#get(`/api/search?${searchOf({ q: given.query, limit: given.limit })}`, 0, HITS)
          : missing('query')
      case 'read_page':
        return typeof given.path === 'string' ? this.#page(given.path, from) : missing('path')
      case 'list_pages':
        return this.#pages(given.area, from)
      case 'get_pricing':
        return this.#get('/api/pricing')
      case 'latest_release':
        return this.#get('/api/changelog/latest', from)
      case 'scan_store':
        return this.#analysis('store-scan', given)
      case 'page_speed':
        return this.#analysis('pagespeed', given)
      case 'page_meta':
        return this.#analysis('fetch-page-meta', given)
      default:
        return refused(404, `there is no tool ${name.slice(0, 100)}`)
    }
  }

  async #get(target: string, from = 0, list: ListForm | null = null): Promise<CallToolResult> {
    const response = await this.ask(target)
    return response.ok ? said(await response.text(), from, list) : problem(response)
  }

  #analysis(name: OperationName, { url }: Given) {
    return typeof url === 'string' ? this.#get(`${OPERATIONS[name].path}?${searchOf({ url })}`) : missing('url')
  }

  #pages(area: unknown, from: number) {
    if (area === undefined) return this.#get('/llms.txt', from)
    if (typeof area === 'string' && Object.hasOwn(AREAS, area)) return this.#get(`/${area}/llms.txt`, from)
    const options = Object.keys(AREAS)
    const details = [{ code: 'invalid_enum_value', message: `must be one of ${options.join(', ')}`, path: ['area'], options }]
    return Promise.resolve(refused(400, `area: ${details[0]!.message}`, { details }))
  }

  /** A page by its path or its whole address, with or without `.md`. */
  async #page(asked: string, from: number): Promise<CallToolResult> {
    const { base } = this
    if (asked.length > PATH_MAX) return refused(414, `path: has more than ${PATH_MAX} characters`)
    const [whole = '', anchor] = (asked.startsWith(base) ? asked.slice(base.length) : asked).trim().split('#')
    const parts = whole.split('?')[0]!.split('/').filter(Boolean)
    const path = `/${parts.map(encodeURIComponent).join('/')}`
    const isText = /\.(md|txt)$/.test(path)
    const response = await this.ask(path === '/' ? '/index.md' : isText ? path : `${path}.md`)
    if (!response.ok) return problem(response)
    const markdown = await response.text()
    if (!anchor) return said(markdown, from)
    const section = sectionOf(markdown, anchor)
    return section === null ? refused(404, `the page ${path} has no section #${anchor.slice(0, 100)}`) : said(section, from)
  }
}

function searchOf(given: Record<string, unknown>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) if (value !== undefined) search.set(name, String(value))
  return String(search)
}
