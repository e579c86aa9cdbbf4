/** Coupons (document 1): codes that take a percentage or a fixed amount off a cart. */
import { and, desc, eq, sql } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import type { Db, Reader } from '../../../db/driver.ts'
import { settings as settingsTable } from '../../../db/store/store.ts'
import { coupons } from '../../../db/store/marketing.ts'
import { contains } from '../../values/compared.ts'
import { Currency } from '../../catalog/shapes.ts'
import { currencyOf } from '../../store/currency.ts'
import { PERCENT_DECIMALS, requireDecimals } from '../../values/decimals.ts'
import { conflict, missing, wrong } from '../../values/refusal.ts'
import { resource, type Settings } from '../../http/route.ts'
import { Body, Count, deleted, Deleted, Instant, Named, Nullable, OneOf, Page, Paging, Type, Uuid, type Static } from '../../http/schema.ts'
import { isUuid } from '../../values/uuid.ts'
import { toMinor } from '../../values/money.ts'
import { fold } from '../../values/slug.ts'
import { utc } from '../../values/time.ts'
import { Amounts, amountsOf, amountsView, isPricedIn, pricedIn, requireWithin } from './amounts.ts'
import { codeOf, newCode } from './coupon-code.ts'
import { restrictionInput, restrictionOutput, restrictionsOf, unrestricted } from './restrictions.ts'

const TYPES = ['percentage', 'fixed'] as const
const Coupon = Named('Coupon', {
  id: Uuid(),
  code: Type.String(),
  type: OneOf(TYPES),
  value: Type.Number({ description: "Percent, or an amount in the store's currency or the one asked for" }),
  timesRedeemed: Type.Integer(),
  maxUses: Nullable(Type.Integer()),
  startDate: Nullable(Type.String()),
  endDate: Nullable(Type.String()),
  minProductCount: Nullable(Type.Integer()),
  maxProductCount: Nullable(Type.Integer()),
  ...restrictionOutput,
  currencyAmounts: Type.Record(Type.String(), Type.Number()),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const CouponInput = Body('CouponInput', [{ code: 'SPRING10', type: 'percentage', value: 10, maxUses: 100 }], {
  // Its length counts once it is trimmed and NFC: see newCode.
  code: Type.String({ description: '1 to 64 characters without spaces or `/`; compared exactly, after NFC' }),
  type: OneOf(TYPES),
  value: Type.Number({ description: '0 to 100 percent with up to four decimals; a fixed amount is at least 1' }),
  maxUses: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }))),
  startDate: Type.Optional(Nullable(Instant())),
  endDate: Type.Optional(Nullable(Instant())),
  minProductCount: Type.Optional(Nullable(Count())),
  maxProductCount: Type.Optional(Nullable(Count())),
  ...restrictionInput,
  currencyAmounts: Type.Optional(Amounts),
})
type Row = typeof coupons.$inferSelect

/** A coupon on the wire, a fixed one in a currency that it has an amount in; the store's own unless told otherwise. */
function view({ percentage, amount, currencyAmounts, ...row }: Row, settings: Settings, currency = settings.currency) {
  const { value, currencyAmounts: amounts } = amountsView({ percentage, amount, currencyAmounts }, currency, settings)
  return { ...row, value: value!, currencyAmounts: amounts }
}

/** The first rule between several fields of a coupon that a body breaks, as its field and a message; null when it breaks none. */
function problem(body: Static<typeof CouponInput>): [path: string, message: string] | null {
  if (body.type === 'percentage' && Object.keys(body.currencyAmounts ?? {}).length) return ['currencyAmounts', 'is for fixed coupons only']
  if (body.startDate && body.endDate && utc(body.endDate) <= utc(body.startDate)) return ['endDate', 'must be after startDate']
  if (body.minProductCount != null && body.maxProductCount != null && body.maxProductCount < body.minProductCount)
    return ['maxProductCount', 'must not be under minProductCount']
  return null
}

/** The row that a body describes, on create and on PATCH alike. */
async function columns(tx: Db, body: Static<typeof CouponInput>, settings: Settings, known: Row | null) {
  const fixed = body.type === 'fixed'
  requireWithin('value', body.value, fixed ? 1 : 0, fixed ? 1_000_000_000 : 100)
  if (!fixed) requireDecimals('value', body.value, PERCENT_DECIMALS)
  const found = problem(body)
  if (found) throw wrong(...found)
  const code = newCode(body.code)
  return {
    code,
    folded: fold(code),
    type: body.type,
    percentage: fixed ? null : body.value,
    amount: fixed ? toMinor(body.value, settings.currency, 'value') : null,
    maxUses: body.maxUses ?? null,
    startDate: utc(body.startDate) ?? null,
    endDate: utc(body.endDate) ?? null,
    minProductCount: body.minProductCount ?? null,
    maxProductCount: body.maxProductCount ?? null,
    currencyAmounts: amountsOf(body.currencyAmounts, settings),
    ...(await restrictionsOf(tx, body, unrestricted, known ?? unrestricted)),
  }
}

async function find(db: Reader, idOrCode: string): Promise<Row> {
  const [row] = await db
    .select()
    .from(coupons)
    .where(isUuid(idOrCode) ? eq(coupons.id, idOrCode) : eq(coupons.code, codeOf(idOrCode)))
  if (!row) throw missing('coupon')
  return row
}

async function requireFreeCode(tx: Db, code: string, id: string | null) {
  const [taken] = await tx.select({ id: coupons.id }).from(coupons).where(eq(coupons.code, code))
  if (taken && taken.id !== id) throw conflict('a coupon with this code exists')
}

export const couponRoutes = resource('marketing', '/coupons')
  .get(
    '',
    {
      operationId: 'listCoupons',
      summary: 'List coupons',
      scope: 'marketing:read',
      query: { ...Paging(10), query: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the code' })), currency: Currency },
      responses: { 200: Page(Coupon) },
      stored: true,
    },
    async ({ db, query: { limit, offset, query, currency: asked }, settings }) => {
      const store = await settings()
      const currency = currencyOf(asked, store)
      const where = and(
        query === undefined ? undefined : sql`${coupons.folded} like ${contains(fold(query))} escape '\\'`,
        pricedIn(coupons, currency, store),
      )
      const far = aside(db, 'coupons')
      const rows = await far.select().from(coupons).where(where).orderBy(desc(coupons.id)).limit(limit).offset(offset)
      return { data: rows.map((row) => view(row, store, currency)), meta: { count: await far.$count(coupons, where), offset, limit } }
    },
  )
  .post(
    '',
    { operationId: 'createCoupon', summary: 'Add a coupon', scope: 'marketing:write', body: CouponInput, responses: { 201: Coupon } },
    ({ body, write, clock, now, settings }) =>
      write(async (tx) => {
        const store = await settings()
        const row = { ...(await columns(tx, body, store, null)), id: clock.id(), timesRedeemed: 0, createdAt: now, updatedAt: now }
        await requireFreeCode(tx, row.code, null)
        await tx.insert(coupons).values(row)
        return view(row, store)
      }),
  )
  .get(
    '/{idOrCode}',
    {
      operationId: 'getCoupon',
      summary: 'Read a coupon',
      scope: 'marketing:read',
      query: { currency: Currency },
      responses: { 200: Coupon },
      stored: true,
    },
    async ({ db, params, query, settings }) => {
      const store = await settings()
      const currency = currencyOf(query.currency, store)
      const row = await find(db, params.idOrCode)
      if (!isPricedIn(row, currency, store)) throw missing('coupon')
      return view(row, store, currency)
    },
  )
  .patch(
    '/{idOrCode}',
    {
      operationId: 'replaceCoupon',
      summary: 'Replace a coupon',
      description: 'A full replacement: what is left out is emptied. Redemptions stay counted.',
      scope: 'marketing:write',
      body: CouponInput,
      responses: { 200: Coupon },
      refuses: [409],
    },
    ({ body, params, write, now, settings }) =>
      write(async (tx) => {
        const store = await settings()
        const row = await find(tx, params.idOrCode)
        const next = { ...row, ...(await columns(tx, body, store, row)), updatedAt: now }
        await requireFreeCode(tx, next.code, row.id)
        await tx.update(coupons).set(next).where(eq(coupons.id, row.id))
        return view(next, store)
      }),
  )
  .delete(
    '/{idOrCode}',
    {
      operationId: 'deleteCoupon',
      summary: 'Remove a coupon',
      description: 'Refused while the enabled welcome offer gives it.',
      scope: 'marketing:write',
      responses: { 200: Deleted },
      refuses: [409],
    },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await find(tx, params.idOrCode)
        const [store] = await tx.select({ welcomeOffer: settingsTable.welcomeOffer }).from(settingsTable)
        if (store!.welcomeOffer.enabled && store!.welcomeOffer.couponId === id)
          throw conflict('the coupon is used by the enabled welcome offer')
        await tx.delete(coupons).where(eq(coupons.id, id))
        return deleted
      }),
  )
