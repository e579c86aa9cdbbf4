/** Promotions (document 3, Carts and checkout): discounts that carts get by themselves. */
import { and, desc, eq } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import type { Db, Reader } from '../../../db/driver.ts'
import { promotions } from '../../../db/store/marketing.ts'
import { Currency } from '../../catalog/shapes.ts'
import { currencyOf } from '../../store/currency.ts'
import { PERCENT_DECIMALS, requireDecimals } from '../../values/decimals.ts'
import { invalid, missing, wrong } from '../../values/refusal.ts'
import { resource, type Settings } from '../../http/route.ts'
import { Body, deleted, Deleted, Instant, Label, Named, Nullable, OneOf, Page, Paging, Type, Uuid, type Static } from '../../http/schema.ts'
import { toMajorOrNull, toMinor } from '../../values/money.ts'
import { utc } from '../../values/time.ts'
import { Amounts, amountsOf, amountsView, isPricedIn, pricedIn, requireWithin } from './amounts.ts'
import { restrictionInput, restrictionOutput, restrictionsOf, unrestricted } from './restrictions.ts'

const TYPES = ['percentage', 'fixed', 'buy_x_get_y', 'volume', 'free_shipping'] as const
const percent = { minimum: 0, maximum: 100, description: 'Percent, up to four decimals' }
const Tier = Named('Tier', { minQuantity: Type.Integer({ minimum: 1, maximum: 1_000_000 }), percentage: Type.Number(percent) })
const whole = Type.Integer({ minimum: 1, maximum: 10_000 })
const Promotion = Named('Promotion', {
  id: Uuid(),
  name: Type.String({ examples: ['Spring sale'] }),
  type: OneOf(TYPES),
  value: Nullable(Type.Number(), { description: "Percent, or an amount in the store's currency or the one asked for" }),
  currencyAmounts: Type.Record(Type.String(), Type.Number()),
  buyQuantity: Nullable(Type.Integer()),
  getQuantity: Nullable(Type.Integer()),
  getDiscountPercentage: Nullable(Type.Number()),
  tiers: Type.Array(Tier),
  ...restrictionOutput,
  startsAt: Nullable(Type.String()),
  endsAt: Nullable(Type.String()),
  active: Type.Boolean(),
  priority: Type.Integer(),
  stackable: Type.Boolean(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const fields = {
  value: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 1_000_000_000 }))),
  currencyAmounts: Type.Optional(Amounts),
  buyQuantity: Type.Optional(Nullable(whole)),
  getQuantity: Type.Optional(Nullable(whole)),
  getDiscountPercentage: Type.Optional(Nullable(Type.Number(percent))),
  tiers: Type.Optional(Type.Array(Tier, { maxItems: 50 })),
  ...restrictionInput,
  startsAt: Type.Optional(Nullable(Instant())),
  endsAt: Type.Optional(Nullable(Instant())),
  active: Type.Optional(Type.Boolean()),
  priority: Type.Optional(Type.Integer({ minimum: -1000, maximum: 1000, description: 'Higher goes first' })),
  stackable: Type.Optional(Type.Boolean({ description: 'May go together with others' })),
}
const PromotionInput = Body(
  'PromotionInput',
  [
    {
      name: 'Spring sale',
      type: 'percentage',
      value: 10,
      buyQuantity: 2,
      getQuantity: 2,
      getDiscountPercentage: 10,
      startsAt: '2030-06-01T09:00:00.000Z',
    },
  ],
  { name: Label(200), type: OneOf(TYPES), ...fields },
)
const PromotionPatch = Body(
  'PromotionPatch',
  [{ type: 'percentage', value: 10, buyQuantity: 2, getQuantity: 2, getDiscountPercentage: 10 }],
  { name: Type.Optional(Label(200)), type: Type.Optional(OneOf(TYPES)), ...fields },
)
type Row = typeof promotions.$inferSelect

/** A promotion on the wire, a fixed one in a currency that it has an amount in; the store's own unless told otherwise. */
function view({ percentage, amount, currencyAmounts, ...row }: Row, settings: Settings, currency = settings.currency) {
  return { ...row, ...amountsView({ percentage, amount, currencyAmounts }, currency, settings) }
}

/** The fields that each type needs. */
const NEEDED: Record<Row['type'], readonly ('value' | 'buyQuantity' | 'getQuantity' | 'tiers')[]> = {
  percentage: ['value'],
  fixed: ['value'],
  buy_x_get_y: ['buyQuantity', 'getQuantity'],
  volume: ['tiers'],
  free_shipping: [],
}

/** Refuses a row without a field that its type needs, or with fields that do not go together. */
function check(row: Row) {
  const { buyQuantity, getQuantity, tiers, startsAt, endsAt } = row
  const stored = { value: row.percentage ?? row.amount, buyQuantity, getQuantity, tiers: tiers.length || null }
  const lacking = NEEDED[row.type].filter((field) => stored[field] === null)
  if (lacking.length) throw invalid(lacking.map((field) => ({ code: 'required', message: `is required for ${row.type}`, path: [field] })))
  if (startsAt !== null && endsAt !== null && endsAt <= startsAt) throw wrong('endsAt', 'must be after startsAt')
}

/** Percentage and amount of a type, of which `value` is given, or is kept. */
function valueColumns(type: Row['type'], value: number | null, settings: Settings) {
  if (value !== null && type === 'percentage') requireWithin('value', value, 0, 100)
  if (value === 0 && type === 'fixed') throw invalid([{ code: 'too_small', message: 'must be more than 0', path: ['value'], minimum: 0 }])
  return {
    percentage: type === 'percentage' ? value : null,
    amount: type === 'fixed' && value !== null ? toMinor(value, settings.currency, 'value') : null,
  }
}

/** Refuses lists and amounts that make no sense for the type; those that are stored already may stay. */
function checkGiven(type: Row['type'], { value, getDiscountPercentage, currencyAmounts, tiers }: Static<typeof PromotionPatch>) {
  if (type === 'percentage') requireDecimals('value', value, PERCENT_DECIMALS)
  requireDecimals('getDiscountPercentage', getDiscountPercentage, PERCENT_DECIMALS)
  tiers?.forEach(({ percentage }, i) => requireDecimals(`tiers.${i}.percentage`, percentage, PERCENT_DECIMALS))
  if (type !== 'fixed' && Object.keys(currencyAmounts ?? {}).length) throw wrong('currencyAmounts', 'is for fixed promotions only')
  if (type === 'volume' && tiers?.length === 0)
    throw invalid([{ code: 'too_small', message: 'must have at least 1 item', path: ['tiers'], minimum: 1 }])
  const quantities = tiers?.map(({ minQuantity }) => minQuantity) ?? []
  const repeat = quantities.findIndex((quantity, i) => quantities.indexOf(quantity) < i)
  if (repeat >= 0) throw wrong(`tiers.${repeat}.minQuantity`, 'must not repeat that of another tier')
}

/** The fields of a promotion that depend on its type, emptied. */
const untyped = {
  percentage: null,
  amount: null,
  currencyAmounts: {},
  buyQuantity: null,
  getQuantity: null,
  getDiscountPercentage: null,
  tiers: [],
} satisfies Partial<Row>

/** The row with a body laid over it. One of another type keeps nothing of the type before: 50.00 off would become 50 %. */
async function merge(tx: Db, row: Row, body: Static<typeof PromotionPatch>, settings: Settings): Promise<Row> {
  const { products: _, collections: __, categories: ___, brands: ____, value, currencyAmounts, startsAt, endsAt, ...plain } = body
  const type = body.type ?? row.type
  checkGiven(type, body)
  const before = type === row.type ? row : { ...row, ...untyped }
  const next: Row = { ...before, ...Object.fromEntries(Object.entries(plain).filter(([, given]) => given !== undefined)) }
  if (startsAt !== undefined) next.startsAt = utc(startsAt)
  if (endsAt !== undefined) next.endsAt = utc(endsAt)
  if (currencyAmounts !== undefined) next.currencyAmounts = amountsOf(currencyAmounts, settings)
  const kept = before.percentage ?? toMajorOrNull(before.amount, settings.currency)
  Object.assign(next, valueColumns(type, value === undefined ? kept : value, settings))
  if (type === 'buy_x_get_y') next.getDiscountPercentage ??= 100
  check(next)
  return Object.assign(next, await restrictionsOf(tx, body, row, row))
}

async function find(db: Reader, id: string): Promise<Row> {
  const [row] = await db.select().from(promotions).where(eq(promotions.id, id))
  if (!row) throw missing('promotion')
  return row
}

export const promotionRoutes = resource('marketing', '/promotions')
  .get(
    '',
    {
      operationId: 'listPromotions',
      summary: 'List promotions',
      scope: 'marketing:read',
      query: { ...Paging(50), active: Type.Optional(Type.Boolean()), currency: Currency },
      responses: { 200: Page(Promotion) },
      stored: true,
    },
    async ({ db, query: { limit, offset, active, currency: asked }, settings }) => {
      const store = await settings()
      const currency = currencyOf(asked, store)
      const where = and(active === undefined ? undefined : eq(promotions.active, active), pricedIn(promotions, currency, store))
      const far = aside(db, 'promotions')
      const rows = await far.select().from(promotions).where(where).orderBy(desc(promotions.id)).limit(limit).offset(offset)
      return { data: rows.map((row) => view(row, store, currency)), meta: { count: await far.$count(promotions, where), offset, limit } }
    },
  )
  .post(
    '',
    {
      operationId: 'createPromotion',
      summary: 'Add a promotion',
      scope: 'marketing:write',
      body: PromotionInput,
      responses: { 201: Promotion },
    },
    ({ body, write, clock, now, settings }) =>
      write(async (tx) => {
        const store = await settings()
        const blank: Row = {
          id: clock.id(),
          name: body.name,
          type: body.type,
          ...untyped,
          ...unrestricted,
          startsAt: null,
          endsAt: null,
          active: true,
          priority: 0,
          stackable: true,
          createdAt: now,
          updatedAt: now,
        }
        const row = await merge(tx, blank, body, store)
        await tx.insert(promotions).values(row)
        return view(row, store)
      }),
  )
  .get(
    '/{id}',
    {
      operationId: 'getPromotion',
      summary: 'Read a promotion',
      scope: 'marketing:read',
      query: { currency: Currency },
      responses: { 200: Promotion },
      stored: true,
    },
    async ({ db, params, query, settings }) => {
      const store = await settings()
      const currency = currencyOf(query.currency, store)
      const row = await find(db, params.id)
      if (!isPricedIn(row, currency, store)) throw missing('promotion')
      return view(row, store, currency)
    },
  )
  .patch(
    '/{id}',
    {
      operationId: 'updatePromotion',
      summary: 'Change a promotion',
      description: 'Another `type` needs its own fields in the same request; those of the type before are emptied.',
      scope: 'marketing:write',
      body: PromotionPatch,
      responses: { 200: Promotion },
    },
    ({ body, params, write, now, settings }) =>
      write(async (tx) => {
        const store = await settings()
        const row = { ...(await merge(tx, await find(tx, params.id), body, store)), updatedAt: now }
        await tx.update(promotions).set(row).where(eq(promotions.id, row.id))
        return view(row, store)
      }),
  )
  .delete(
    '/{id}',
    { operationId: 'deletePromotion', summary: 'Remove a promotion', scope: 'marketing:write', responses: { 200: Deleted } },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await find(tx, params.id)
        await tx.delete(promotions).where(eq(promotions.id, id))
        return deleted
      }),
  )
