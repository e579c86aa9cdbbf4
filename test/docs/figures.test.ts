/** What tables say of fields, beside what the API says of them: the names, the bounds and the defaults. */
import { readFileSync } from 'node:fs'
import type { Nodes, Table } from 'mdast'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jobKinds } from '../../api/job-kinds.ts'
import type { Json } from '../../api/openapi/schemas.ts'
import type { Services } from '../../api/outside/services.ts'
import { readContent, type Page } from '../../site/lib/content.ts'
import { parse, textOf, walk } from '../../site/lib/markdown.ts'
import { openapiJson } from '../../site/lib/openapi.ts'
import { readPricing } from '../../site/lib/pricing.ts'
import { storeApi } from '../../site/lib/reference.ts'
import { testApp, type TestApp } from '../harness.ts'
import { newShop } from '../shop.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const content = readContent(ROOT)
const store = storeApi()
const own = JSON.parse(openapiJson({ base: 'https://docs.shop.example', content, pricing: readPricing(ROOT) })) as Json

/** Pages about what is there: what is only specified has no schema to be compared with. */
const pages = content.pages.filter(
  ({ kind, body }) => (kind === 'docs' || kind === 'help') && !body.startsWith('> **Not in this release.**'),
)
const describes = (page: Page) => (page.frontmatter as { describes?: string[] }).describes ?? []

/** What the API says of a field of some name, wherever it has one. */
interface Facts {
  least: Set<number>
  most: Set<number>
  defaults: Set<unknown>
}
type Known = Map<string, Facts>

const numberOf = (text: string) => Number(text.replaceAll(',', ''))
const LEAST = ['minimum', 'minLength', 'minItems', 'minProperties', 'exclusiveMinimum']
const MOST = ['maximum', 'maxLength', 'maxItems', 'maxProperties']

/** All that is said of the fields, parameters and words below some part of a document, references followed. */
function factsOf(document: Json, part: Json): { known: Known; words: Set<string>; pairs: Set<string> } {
  const known: Known = new Map()
  const [words, pairs, seen] = [new Set<string>(), new Set<string>(), new Set<unknown>()]
  const note = (name: string, schema: Json) => {
    const facts = known.get(name) ?? { least: new Set(), most: new Set(), defaults: new Set() }
    known.set(name, facts)
    for (const key of LEAST) if (schema[key] !== undefined) facts.least.add(schema[key])
    for (const key of MOST) if (schema[key] !== undefined) facts.most.add(schema[key])
    if (schema.default !== undefined) facts.defaults.add(schema.default)
    // Bounds that no schema can say stand in its description.
    for (const [number] of (schema.description ?? '').matchAll(/\d[\d,]*/g)) {
      facts.least.add(numberOf(number))
      facts.most.add(numberOf(number))
    }
    for (const part of [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]) note(name, part)
  }
  const visit = (thing: unknown, within: string | null) => {
    if (Array.isArray(thing)) return thing.forEach((one) => visit(one, within))
    if (!thing || typeof thing !== 'object') return
    const node = thing as Json
    const place = `${within} `
    if (node.$ref) {
      const target = node.$ref
        .split('/')
        .slice(1)
        .reduce((at: Json, name: string) => at[name], document)
      if (seen.has(place + node.$ref)) return
      seen.add(place + node.$ref)
      return visit(target, within)
    }
    for (const [name, schema] of Object.entries((node.properties ?? {}) as Record<string, Json>)) {
      words.add(name)
      if (within) pairs.add(`${within}.${name}`)
      note(name, schema)
      visit(schema, name)
    }
    if (typeof node.operationId === 'string') words.add(node.operationId)
    if (node.in && node.name) {
      words.add(node.name)
      note(node.name, node.schema)
    }
    for (const value of [...(node.enum ?? []), node.const])
      // Of a name with a point in it, as events have, each part is one.
      for (const word of String(value).split('.')) words.add(word)
    for (const [key, value] of Object.entries(node)) if (key !== 'properties' && !key.startsWith('example')) visit(value, within)
  }
  visit(part, null)
  return { known, words, pairs }
}

const everything = [factsOf(store, store), factsOf(own, own)] as const

interface Row {
  /** Names in the first cell. */
  names: string[]
  /** The other cells. */
  text: string
  cells: string[]
  head: string[]
  codes: string[]
}

function rowsOf(page: Page): Row[] {
  const rows: Row[] = []
  const codesIn = (node: Nodes) => {
    const codes: string[] = []
    walk(node, (inner) => inner.type === 'inlineCode' && codes.push(inner.value))
    return codes
  }
  walk(parse(page.body), (node) => {
    if (node.type !== 'table') return
    const [first, ...rest] = (node as Table).children
    const head = first!.children.map(textOf)
    for (const row of rest) {
      const cells = row.children.map(textOf)
      rows.push({ names: codesIn(row.children[0]!), text: cells.slice(1).join(' | '), cells, head, codes: row.children.flatMap(codesIn) })
    }
  })
  return rows
}

describe('names', () => {
  /** Names with an inner capital or a dot are fields wherever they stand; plain words only where the column says so. */
  const FIELD = /^[a-z][A-Za-z0-9]*(\[\])?(\.[a-z][A-Za-z0-9]*(\[\])?)*$/
  const COLUMN = /^(field|parameter|filter|setting|where it stands)s?$/i
  /** A file, what another program says, a field of answers for paths that no operation has, and what a refused cart is warned of. */
  const OTHERS = new Set(['secret.key', 'data.totalPrice', 'order.totalPrice', 'nearest', 'warning', 'warning.code', 'warning.itemId'])
  /** Kinds of jobs. */
  const KINDS = new Set(Object.keys(jobKinds({} as Services)))
  /** Options, errors and answers of the package. */
  const PACKAGE = new Set(
    ['client', 'error', 'answered'].flatMap((name) =>
      [...readFileSync(`scripts/sdk/src/${name}.ts`, 'utf8').matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, word]) => word!),
    ),
  )
  const FILE = /\.(db|json|jpg|pdf|ts|md|eml|txt|tar|log|conf)$/

  test.each(pages.map((page) => [page.file, page] as const))('%s names no field in a table that the API does not have', (_, page) => {
    const unknown = rowsOf(page).flatMap(({ names, codes, head }) => {
      const fields = [...codes.filter((code) => /[A-Z.]/.test(code)), ...(COLUMN.test(head[0]!) ? names : [])]
      return fields.filter((field) => {
        if (!FIELD.test(field) || FILE.test(field) || OTHERS.has(field) || KINDS.has(field) || PACKAGE.has(field)) return false
        const parts = field.replaceAll('[]', '').split('.')
        const pairs = parts.slice(1).map((part, i) => `${parts[i]}.${part}`)
        // `settings.checkout` is the answer of GET /settings, `order.paid` an event: the first part is what the second belongs to.
        const inner =
          /^(settings|meta|details|order|store|key|product|variant|customer|payment|inventory|newsletter|review|booking|ticket|publish)$/.test(
            parts[0]!,
          )
            ? pairs.slice(1)
            : pairs
        return !everything.some(
          ({ words, pairs: known }) => parts.every((part) => words.has(part)) && inner.every((pair) => known.has(pair)),
        )
      })
    })
    expect([...new Set(unknown)]).toEqual([])
  })
})

/** What a cell of defaults says that is a value, not words. */
const VALUE = /^(true|false|null|-?\d+)$/

describe('figures', () => {
  /** What a cell says of the bounds of its field; what has a unit of its own (KB, pixels, percent of something) is no bound of the schema. */
  const RANGE = /(-?\d[\d,]*) to (-?\d[\d,]*)/g
  const MOST_OF = /(?:at most|up to) (\d[\d,]*)(?![\d,])(?! (?:KB|MB|pixels|%))/g
  const DEFAULT = /(?:^|[;,] )default `?(-?\d+|true|false|null)\b/g

  /** What the API says of the field `name`: in the operations that the page is about, else anywhere. */
  function factsFor(page: Page, name: string): Facts[] {
    const paths = describes(page)
      .map((path) => store.paths[path])
      .filter(Boolean)
    const near = paths.length ? factsOf(store, paths).known.get(name) : undefined
    return near ? [near] : everything.flatMap(({ known }) => known.get(name) ?? [])
  }

  test.each(pages.map((page) => [page.file, page] as const))('%s gives the bounds and defaults in tables that the API has', (_, page) => {
    const wrong = rowsOf(page).flatMap(({ names, text, head, cells }) => {
      const facts = names.flatMap((field) => factsFor(page, field.replace(/\[\]$/, '').split('.').at(-1)!))
      // A bound that the schema leaves to a rule can't be compared.
      const has = (of: keyof Facts, value: unknown) => {
        const real = facts.flatMap((known) => [...(known[of] as Set<unknown>)])
        return !real.length || real.includes(value)
      }
      const claims = [
        ...[...text.matchAll(RANGE)].map(([whole, low, high]) => [whole, has('least', numberOf(low!)) && has('most', numberOf(high!))]),
        ...[...text.matchAll(MOST_OF)].map(([whole, high]) => [whole, has('most', numberOf(high!))]),
        ...cells.filter((cell, i) => head[i] === 'Default' && VALUE.test(cell)).map((cell) => [cell, has('defaults', JSON.parse(cell))]),
        ...[...text.matchAll(DEFAULT)].map(([whole, value]) => [whole, has('defaults', JSON.parse(value!))]),
      ]
      return claims.filter(([, isTrue]) => !isTrue).map(([claim]) => `${names}: ${claim}`)
    })
    expect(wrong).toEqual([])
  })

  test('no page gives a bound that is none', () => {
    for (const { body, file } of content.pages) expect(body, file).not.toMatch(/(at most 0|0 to 0) (characters|entries)/)
  })
})

describe('what only a store knows', () => {
  let app: TestApp
  let settings: Json
  beforeAll(async () => {
    app = await testApp()
    settings = (await (await newShop(app, { name: 'New', plan: 'starter' })).get('/settings')).body
  })
  afterAll(() => app.close())

  test('the defaults of settings that tables give are those of a new store', () => {
    const given: string[] = []
    const wrong = pages.flatMap((page) =>
      rowsOf(page).flatMap(({ names, head, cells }) => {
        const at = head.findIndex((title) => title === 'Default')
        if (at < 0 || !VALUE.test(cells[at]!)) return []
        const value = cells[at]!
        return names.flatMap((name) => {
          const real = name.split('.').reduce((part: any, step) => part?.[step], settings)
          if (real === undefined) return []
          given.push(name)
          return real === JSON.parse(value) ? [] : `${page.file}: ${name} is ${JSON.stringify(real)}, not ${value}`
        })
      }),
    )
    expect(wrong).toEqual([])
    expect(given.length).toBeGreaterThan(10)
  })
})

test('the overview names every resource whose PATCH replaces the whole', () => {
  const [said] = /Coupons?, .+ replaces the whole/.exec(content.byPath.get('/docs/api-reference/overview')!.body)!
  const replaced = Object.entries(store.paths as Record<string, Json>)
    .filter(([, { patch }]) => patch?.description?.startsWith('A full replacement'))
    .map(([path]) => path.split('/')[1]!)
  const words: Record<string, string> = { shipping: 'shipping methods', coupons: 'coupons', 'pickup-locations': 'pickup locations' }
  expect(replaced.filter((name) => !said.toLowerCase().includes(words[name] ?? name))).toEqual([])
  expect(said.split(/, | and /)).toHaveLength(replaced.length)
})

test('tables of the warnings of a cart have all that there are', () => {
  const known = new Set<string>(store.components.schemas.Cart.properties.warnings.items.properties.code.enum)
  const tables = pages.flatMap((page) => {
    const codes = rowsOf(page).flatMap(({ head, names }) => (head[0] === 'code' ? names : []))
    return codes.includes('too_many_lines') ? [[page.file, codes] as const] : []
  })
  expect(tables.length).toBeGreaterThan(1)
  for (const [file, codes] of tables) expect(new Set(codes), file).toEqual(known)
})

test('pages that count the cookies of a shop count those that the gateway lists', () => {
  const cookies = rowsOf(content.byPath.get('/docs/storefront/gateway')!).filter(({ head }) => head[0] === 'Cookie').length
  const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
  const counted = pages.flatMap(({ file, body }) =>
    body
      .split('\n\n')
      .filter((paragraph) => paragraph.includes('(/docs/storefront/gateway#cookies)'))
      .flatMap((paragraph) => [...paragraph.matchAll(/\b(\w+)(?: cookies, for|\]\(\/docs\/storefront\/gateway#cookies\), )/g)])
      .map(([, word]) => [file, word] as const),
  )
  expect(counted.length).toBeGreaterThan(1)
  for (const [file, word] of counted) expect(word, file).toBe(words[cookies])
})

test('the overview names every list that has a cursor', () => {
  const said = rowsOf(content.byPath.get('/docs/api-reference/overview')!).find(({ codes }) =>
    codes.some((code) => /nextCursor/.test(code)),
  )!
  const words: Record<string, string> = {
    '/inventory': 'inventory',
    '/inventory/{variantId}/movements': 'movements',
    '/audit-log': 'the audit log',
    '/webhooks/{id}/deliveries': 'deliveries of webhooks',
    '/photofeed/accounts/{handle}/images': 'photo feeds',
  }
  const paths = Object.entries(store.paths as Record<string, Json>)
    .filter(([, { get }]) => get && factsOf(store, get.responses['200']).words.has('nextCursor'))
    .map(([path]) => path)
  expect(paths.toSorted()).toEqual(Object.keys(words).toSorted())
  for (const path of paths) expect(said.text).toContain(words[path])
})

test('pages say how large the description of the API is, to a fifth', () => {
  const kilobytes = JSON.stringify(store).length / 1000
  const said = pages.flatMap(({ file, body }) =>
    [...body.matchAll(/document is about (\d+) kB/g)].map(([, size]) => [file, Number(size)] as const),
  )
  expect(said.length).toBeGreaterThan(0)
  for (const [file, size] of said)
    expect(Math.abs(size / kilobytes - 1), `${file}: ${size} kB, ${Math.round(kilobytes)} in truth`).toBeLessThan(0.2)
})

test('proxies that pages configure let through what the API takes', () => {
  for (const { file, body } of pages)
    for (const [, megabytes] of body.matchAll(/client_max_body_size (\d+)m/g))
      expect(Number(megabytes) * 1024 * 1024, file).toBeGreaterThan(20_971_520)
})

test('a form has its file among the fields of the reference', () => {
  for (const [path, methods] of Object.entries(store.paths as Record<string, Json>))
    for (const { requestBody } of Object.values(methods) as Json[]) {
      const form = requestBody?.content?.['multipart/form-data']?.schema
      // One without a file is the JSON in another form.
      if (!Object.values((form?.properties ?? {}) as Json).some((field: any) => field.contentMediaType)) continue
      const page = content.pages.find((candidate) => describes(candidate).includes(path))!
      for (const field of Object.keys(form.properties)) expect(page.body, page.file).toMatch(new RegExp(`^\\| \`${field}\`.* \\|`, 'm'))
      const required = form.required?.includes('file') ? ' \\(required\\)' : ''
      expect(page.body).toMatch(new RegExp(`^\\| \`file\`${required} \\| file \\|`, 'm'))
    }
})

test('each scope is said to open what it opens', () => {
  const { body } = content.byPath.get('/docs/api-reference/authentication')!
  const line = (scope: string) => body.split('\n').find((candidate) => candidate.startsWith(`| \`${scope}\``)) ?? ''
  for (const [path, methods] of Object.entries(store.paths as Record<string, Json>))
    for (const { 'x-scopes': scopes = [] } of Object.values(methods) as { 'x-scopes'?: string[] }[])
      for (const scope of scopes) expect(line(scope), `${scope} opens ${path}`).toContain(`/${path.split('/')[1]}`)
})
