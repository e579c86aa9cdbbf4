/** How every GET of the document reads: no list, whatever its filter, reads a table that grows from one end to the other. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseName, openDatabase, type Handle } from '../../db/open.ts'
import { isCount, isPage, planOf, tableOf, watchStatements } from '../plans.ts'
import { nobody, type Json, type Operation } from './operations.ts'
import { referred } from './seed.ts'
import { world } from './world.ts'

const { app, keyed, caller, shop, known, somewhere } = await world({ rememberedBytes: 0 })
const watch = watchStatements()
let planner: Handle
beforeAll(async () => {
  planner = await openDatabase(app.location, databaseName(shop.store.id, 'live'), 'store')
})
afterAll(() => {
  watch.end()
  planner.close()
  return app.close()
})

/** Tables of a few rows, whatever is sold: what a merchant sets up once. */
const SMALL =
  /^(settings|counters|price_rules|search_changes|workstations|workstation_rules|addons|loyalty_settings|loyalty_tiers|tax_rates|email_templates|legal_pages|social_links|brand_kit)$/

/** What is read from one end to the other all the same, or sorted as a whole, and why that is no harm. */
const KNOWN: Record<string, string[]> = {
  // A part of a name stands in no index; a table that is long is read beside the event loop.
  'part of a name': [
    '/categories?query scans categories',
    '/collections?query scans collections',
    '/brands?query scans brands',
    '/brands?query sorts',
    '/shipping?query scans shipping_methods',
    '/orders?query scans orders',
    '/coupons?query scans coupons',
    '/media?query scans media',
    '/post-comments?query scans post_comments',
    '/blog-categories?query scans blog_categories',
    '/contact-messages?query scans contact_messages',
    '/support-cases?query scans support_cases',
  ],
  // Most rows have it: an index would give nearly the whole table.
  'what most have': [
    '/categories?active scans categories',
    '/collections?active scans collections',
    '/collections?kind scans collections',
    '/brands?active scans brands',
    '/orders?currency scans orders',
    '/orders?due scans orders',
    '/orders?mailIssue scans orders',
    '/orders?mailIssue scans orders',
    '/promotions?active scans promotions',
    '/booking-slots?status scans booking_slots',
    '/blog-categories?active scans blog_categories',
  ],
  // Hundreds, of which a page is shown by name.
  'brands by name': ['/brands? scans brands', '/brands? sorts', '/brands?active sorts'],
  // What the filter finds in its index is what is sorted, where it is not most.
  'what a filter finds': [
    '/variants?barcode sorts',
    '/variants?productId sorts',
    '/inventory?query sorts',
    '/promotions?active sorts',
    '/subscribers?query sorts',
    '/media?feedAccount sorts',
    '/orders?minTotalCents sorts',
    '/orders?maxTotalCents sorts',
  ],
  // A hundred at most are shown with one.
  'parts of one': ['/categories/{idOrSlug}? sorts', '/bundles/{id}? sorts'],
}

/** They show what is had from outside, of which the store here has nothing. */
const OUTSIDE = ['/orders/{id}/shipments/{shipmentId}/label', '/photofeed/accounts/{handle}/images']

/** Values that reach what a parameter filters by. */
const MEANT: Record<string, string> = { lang: 'pl-PL', currency: 'usd', types: 'product' }
/** They say which part is shown, and of a list's own words. */
const PAGING = ['limit', 'offset', 'cursor']

function valuesOf(name: string, schema: Json): string[] {
  if (MEANT[name]) return [MEANT[name]]
  if (schema.enum) return schema.enum
  if (schema.anyOf) return schema.anyOf.flatMap((part: Json) => valuesOf(name, part))
  if (schema.const !== undefined) return [schema.const]
  if (schema.type === 'boolean') return ['true', 'false']
  if (schema.format === 'uri') return ['https://shop.example/blog']
  if (schema.format === 'date') return ['2026-03-01']
  if (schema.format === 'date-time') return ['2026-03-01T00:00:00Z']
  if (schema.type === 'number' || schema.type === 'integer') return [String(Math.max(1, schema.minimum ?? 1))]
  return [referred(known, name) ?? (schema.format === 'uuid' ? nobody() : 'linen')]
}

/** Each way to ask: without a filter, and with each value of each, by the name of the filter; a language filters nothing. */
const asked = ({ query, needed }: Operation) => [
  ['', needed],
  ...Object.entries(query)
    .filter(([name]) => !PAGING.includes(name) && !needed.startsWith(`${name}=`))
    .flatMap(([name, schema]) =>
      valuesOf(name, schema).map((value) => [
        name === 'lang' ? '' : name,
        [needed, `${name}=${encodeURIComponent(value)}`].filter(Boolean).join('&'),
      ]),
    ),
]

test('a GET, with whatever filter, neither reads a table that grows from one end to the other nor sorts one', async () => {
  const tables = new Set((await planner.connection.rows(`select name from sqlite_master where type = 'table'`, [])).map(([name]) => name))
  const isGrowing = (table: string) => tables.has(table) && !SMALL.test(table) && !table.startsWith('search_fts')
  const found = new Set<string>()
  const answered = new Set<Operation>()
  const gets = keyed.filter(({ method }) => method === 'GET')
  for (const operation of gets) {
    for (const [filter, search] of asked(operation)) {
      const statements = await watch.of(async () => {
        const { status, text } = await caller.call(operation, `${somewhere(operation)}?${search}`)
        // What is not there, or is outside, is not read.
        expect([200, 404], `${operation.path}?${search}: ${text}`).toContain(status)
        if (status === 200) answered.add(operation)
      })
      for (const text of statements) {
        const plan = await planOf(planner, text, isGrowing)
        const isBounded = isPage(text, plan) || isCount(text, plan)
        for (const step of isBounded ? [] : plan.scans) found.add(`${operation.path}?${filter} scans ${tableOf(text, step)}`)
        if (plan.steps.includes('USE TEMP B-TREE FOR ORDER BY') && isGrowing(tableOf(text, plan.steps[0]!)))
          found.add(`${operation.path}?${filter} sorts`)
      }
    }
  }
  const known = Object.values(KNOWN).flat()
  expect({ more: [...found].filter((one) => !known.includes(one)), gone: known.filter((one) => !found.has(one)) }).toEqual({
    more: [],
    gone: [],
  })
  expect(gets.filter((operation) => !answered.has(operation)).map(({ path }) => path)).toEqual(OUTSIDE)
})
