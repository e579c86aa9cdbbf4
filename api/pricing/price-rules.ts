/**
 * What all prices of a store depend on beside its catalog: promotions, tax rates, shipping methods. They are read and parsed once for each
 * version of them, since every write to a cart prices it: 500 promotions that name 500 products each are 10 MB of text.
 */
import { and, desc, eq, sql } from 'drizzle-orm'
import { compile, named, type Reader } from '../../db/driver.ts'
import { taxRates } from '../../db/store/catalog.ts'
import { priceRules } from '../../db/store/checkout.ts'
import { promotions } from '../../db/store/marketing.ts'
import type { Settings } from '../http/route.ts'
import { within, type Promotion } from './discounts.ts'
import type { Coverage } from './lines.ts'
import { readMethod, type MethodRow } from './shipping-method.ts'

type Row = typeof promotions.$inferSelect
export interface TaxRate {
  id: string
  rate: number
  countries: string[]
  default: boolean
}

/** The rules of a store at an instant. */
export interface PriceRules {
  /** The promotions that may run from then on, the first ones first. */
  promotions: readonly Row[]
  taxRates: readonly TaxRate[]
  /** The methods that were asked for, by id; null for an id of none. */
  methods: Map<string, MethodRow | null>
}

/** More automatic discounts than any cart can make sense of. */
const PROMOTIONS_MAX = 500
const METHODS_MAX = 100
/** The ids that a process remembers at most, about 16 bytes each. */
const REMEMBERED_MAX = 2_000_000
/** The weight of a store's rules beside the ids of promotions, and the weight of each promotion, in ids. */
const RULES_WEIGHT = 5_000
const PROMOTION_WEIGHT = 100

const versionNow = compile((db) => db.select({ version: priceRules.version }).from(priceRules))
const runningPromotions = compile((db) =>
  db
    .select()
    .from(promotions)
    .where(and(eq(promotions.active, true), sql`(${promotions.endsAt} is null or ${promotions.endsAt} > ${named('now')})`))
    .orderBy(desc(promotions.priority), promotions.id)
    .limit(PROMOTIONS_MAX),
)
const allTaxRates = compile((db) =>
  db
    .select({ id: taxRates.id, rate: taxRates.rate, countries: taxRates.countries, default: taxRates.default })
    .from(taxRates)
    .orderBy(taxRates.id)
    .limit(1000),
)

interface Remembered extends PriceRules {
  from: string
  weight: number
}

/** By version: versions are random, so that no two stores, and no two states of one, share one unless they share their rules. */
const remembered = new Map<string, Remembered>()
let weight = 0

const COVERED = ['productIds', 'collectionIds', 'categoryIds', 'brandIds'] as const satisfies readonly (keyof Coverage)[]

/** The same promotions with each id held once. */
function interned(rows: readonly Row[]): Row[] {
  const ids = new Map<string, string>()
  const once = (id: string) => {
    const known = ids.get(id)
    if (known === undefined) ids.set(id, id)
    return known ?? id
  }
  return rows.map((row) => ({ ...row, ...Object.fromEntries(COVERED.map((field) => [field, row[field].map(once)])) }))
}

const weightOf = (rows: readonly Row[]) =>
  rows.reduce((sum, row) => COVERED.reduce((own, field) => own + row[field].length, sum + PROMOTION_WEIGHT), RULES_WEIGHT)

function forget(version: string) {
  weight -= remembered.get(version)?.weight ?? 0
  remembered.delete(version)
}

function keep(version: string, rules: Remembered) {
  forget(version)
  remembered.set(version, rules)
  weight += rules.weight
  for (const oldest of remembered.keys()) {
    if (weight <= REMEMBERED_MAX) break
    forget(oldest)
  }
}

/** Whether what was read then is all that may run now: one that has ended since may have kept another out. */
const holds = ({ promotions, from }: Remembered, now: string) =>
  from <= now && (promotions.length < PROMOTIONS_MAX || promotions.every(({ endsAt }) => within(now, null, endsAt)))

/** The rules of a store at `now` (ISO 8601, UTC). */
export async function readRules(db: Reader, now: string): Promise<PriceRules> {
  const { version } = (await versionNow.get(db))!
  const known = remembered.get(version)
  if (known && holds(known, now)) return known
  const rows = interned((await runningPromotions.all(db, { now })) as Row[])
  const rates = (await allTaxRates.all(db)) as TaxRate[]
  const rules = { promotions: rows, taxRates: rates, methods: new Map(), from: now, weight: weightOf(rows) }
  keep(version, rules)
  return rules
}

/** The automatic discounts that may run, with their amounts in `currency`. */
export const promotionsIn = ({ promotions }: PriceRules, currency: string, settings: Settings): Promotion[] =>
  promotions.map((row) => ({ ...row, amount: currency === settings.currency ? row.amount : (row.currencyAmounts[currency] ?? null) }))

/** A shipping method of the store; null for an id that is none. */
export async function methodOf(db: Reader, { methods }: PriceRules, id: string | null): Promise<MethodRow | null> {
  if (id === null) return null
  const known = methods.get(id)
  if (known !== undefined) return known
  const method = await readMethod(db, id)
  if (methods.size < METHODS_MAX) methods.set(id, method)
  return method
}

/** The rate for a country: the one named, else the default for the country, else the default for everywhere. 0 where none applies. */
export function rateFor(rates: readonly TaxRate[], id: string | null, country: string | null): number {
  const applies = (rate: TaxRate) => !rate.countries.length || country === null || rate.countries.includes(country)
  if (id !== null) {
    const rate = rates.find((candidate) => candidate.id === id)
    return rate && applies(rate) ? rate.rate : 0
  }
  const defaults = rates.filter((rate) => rate.default && applies(rate))
  return (
    (defaults.find((rate) => rate.countries.length && country !== null) ?? defaults.find((rate) => !rate.countries.length) ?? defaults[0])
      ?.rate ?? 0
  )
}
