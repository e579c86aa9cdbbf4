/** Shipping methods (document 1): the ways to send an order, and what they cost. */
import { and, asc, eq, sql } from 'drizzle-orm'
import { holds, type Db, type Reader } from '../../db/driver.ts'
import { taxRates } from '../../db/store/catalog.ts'
import { shippingMethods } from '../../db/store/checkout.ts'
import { viewOf, type View } from '../catalog/read.ts'
import { Countries, countriesOf, Currency } from '../catalog/shapes.ts'
import { byCurrency } from '../store/currency.ts'
import { requireIds } from '../http/input/references.ts'
import { missing, wrong } from '../values/refusal.ts'
import { resource, type Settings } from '../http/route.ts'
import {
  Body,
  Counted,
  deleted,
  Deleted,
  Label,
  Money,
  Named,
  Nullable,
  OneOf,
  Paging,
  Text,
  Type,
  Uuid,
  type Static,
} from '../http/schema.ts'
import { toMajor, toMajorOrNull, toMinor } from '../values/money.ts'
import { fold } from '../values/slug.ts'
import { methodPrice, SHIPPING_TYPES, type MethodRow } from '../pricing/shipping-method.ts'
import { AddonData, AddonName, linkOf } from './carrier-link.ts'

const CurrencyPrices = Type.Record(
  Type.String({ pattern: '^[A-Za-z]{3}$' }),
  Type.Object({ price: Money(), freeShippingThreshold: Type.Optional(Nullable(Money())) }),
  { maxProperties: 200 },
)
const Method = Named('ShippingMethod', {
  id: Uuid(),
  name: Type.String({ examples: ['Standard delivery'] }),
  description: Nullable(Type.String()),
  type: OneOf(SHIPPING_TYPES),
  price: Type.Number(),
  freeShippingThreshold: Nullable(Type.Number()),
  minShippingTime: Nullable(Type.Integer()),
  maxShippingTime: Nullable(Type.Integer()),
  countries: Type.Array(Type.String()),
  taxRateId: Nullable(Uuid()),
  position: Type.Integer(),
  currencyPrices: Type.Record(Type.String(), Type.Object({ price: Type.Number(), freeShippingThreshold: Nullable(Type.Number()) })),
  addonName: AddonName,
  addonData: AddonData,
  addonId: Nullable(Uuid({ description: 'The connection to the carrier' })),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const days = Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: 365, description: 'Days' })))
const MethodInput = Body(
  'ShippingMethodInput',
  [
    {
      name: 'Standard delivery',
      type: 'courier',
      price: 19.99,
      description: 'Made from European linen.',
      freeShippingThreshold: 100,
      minShippingTime: 1,
      maxShippingTime: 10,
      position: 1,
    },
  ],
  {
    name: Label(200),
    type: OneOf(SHIPPING_TYPES),
    price: Money(),
    description: Type.Optional(Nullable(Text(0, 2000))),
    freeShippingThreshold: Type.Optional(Nullable(Money())),
    minShippingTime: days,
    maxShippingTime: days,
    countries: Type.Optional(Countries),
    taxRateId: Type.Optional(Nullable(Uuid())),
    position: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    currencyPrices: Type.Optional(CurrencyPrices),
    addonName: Type.Optional(AddonName),
    addonData: Type.Optional(AddonData),
  },
)
function view(row: MethodRow, { currency, settings }: View) {
  const code = currency ?? settings.currency
  const { price, freeShippingThreshold } = methodPrice(row, code, settings)!
  const currencyPrices = Object.fromEntries(
    Object.entries(row.currencyPrices).map(([other, set]) => [
      other,
      { price: toMajor(set.price, other), freeShippingThreshold: toMajorOrNull(set.freeShippingThreshold, other) },
    ]),
  )
  return {
    ...row,
    price: toMajor(price, code),
    freeShippingThreshold: toMajorOrNull(freeShippingThreshold, code),
    currencyPrices,
  }
}

async function find(db: Reader, id: string) {
  const [row] = await db.select().from(shippingMethods).where(eq(shippingMethods.id, id))
  if (!row) throw missing('shipping method')
  return row
}

/** The row that a body describes; what it leaves out is empty, on create and on PATCH alike. */
async function columns(tx: Db, body: Static<typeof MethodInput>, settings: Settings) {
  const link = await linkOf(tx, body)
  if (body.minShippingTime != null && body.maxShippingTime != null && body.maxShippingTime < body.minShippingTime)
    throw wrong('maxShippingTime', 'must not be under minShippingTime')
  await requireIds(tx, taxRates, [body.taxRateId], 'taxRateId')
  const amount = (value: number | null | undefined, currency: string, path: string) =>
    value == null ? null : toMinor(value, currency, path)
  const currencyPrices: MethodRow['currencyPrices'] = {}
  for (const [currency, { value, at }] of byCurrency(body.currencyPrices, settings, { path: 'currencyPrices', own: 'price' })) {
    currencyPrices[currency] = {
      price: toMinor(value.price, currency, `${at}.price`),
      freeShippingThreshold: amount(value.freeShippingThreshold, currency, `${at}.freeShippingThreshold`),
    }
  }
  return {
    name: body.name,
    description: body.description ?? null,
    // The line break keeps a query from beginning in the one and ending in the other.
    folded: fold(`${body.name}\n${body.description ?? ''}`),
    type: body.type,
    price: toMinor(body.price, settings.currency, 'price'),
    freeShippingThreshold: amount(body.freeShippingThreshold, settings.currency, 'freeShippingThreshold'),
    minShippingTime: body.minShippingTime ?? null,
    maxShippingTime: body.maxShippingTime ?? null,
    countries: countriesOf(body.countries),
    taxRateId: body.taxRateId ?? null,
    position: body.position ?? 0,
    currencyPrices,
    ...link,
  }
}

const read = ['storefront:read', 'settings:read'] as const

export const shippingRoutes = resource('checkout', '/shipping')
  .get(
    '',
    {
      operationId: 'listShippingMethods',
      summary: 'List shipping methods',
      scope: read,
      responses: { 200: Counted(Method) },
      query: {
        ...Paging(10),
        query: Type.Optional(Type.String({ maxLength: 200, description: 'Part of name or description' })),
        currency: Currency,
      },
      stored: true,
    },
    async (call) => {
      const { limit, offset, query } = call.query
      const seen = await viewOf(call)
      const where = and(
        query === undefined ? undefined : holds(shippingMethods.folded, fold(query)),
        seen.currency === null ? undefined : sql`json_extract(${shippingMethods.currencyPrices}, ${`$.${seen.currency}`}) is not null`,
      )
      const rows = await call.db
        .select()
        .from(shippingMethods)
        .where(where)
        .orderBy(asc(shippingMethods.position), asc(shippingMethods.id))
        .limit(limit)
        .offset(offset)
      return { data: rows.map((row) => view(row, seen)), meta: { count: await call.db.$count(shippingMethods, where) } }
    },
  )
  .post(
    '',
    {
      operationId: 'createShippingMethod',
      summary: 'Add a shipping method',
      scope: 'settings:write',
      body: MethodInput,
      responses: { 201: Method },
    },
    (call) =>
      call.write(async (tx) => {
        const settings = await call.settings()
        const row = { id: call.clock.id(), ...(await columns(tx, call.body, settings)), createdAt: call.now, updatedAt: call.now }
        await tx.insert(shippingMethods).values(row)
        return view(row, { currency: null, lang: null, storefront: false, settings })
      }),
  )
  .get(
    '/{id}',
    {
      operationId: 'getShippingMethod',
      summary: 'Read a shipping method',
      scope: read,
      query: { currency: Currency },
      responses: { 200: Method },
      stored: true,
    },
    async (call) => {
      const seen = await viewOf(call)
      const row = await find(call.db, call.params.id)
      if (!methodPrice(row, seen.currency ?? seen.settings.currency, seen.settings)) throw missing('shipping method')
      return view(row, seen)
    },
  )
  .patch(
    '/{id}',
    {
      operationId: 'replaceShippingMethod',
      summary: 'Replace a shipping method',
      description: 'A full replacement: what is left out is emptied, and a carrier that is not named is unlinked.',
      scope: 'settings:write',
      body: MethodInput,
      responses: { 200: Method },
    },
    (call) =>
      call.write(async (tx) => {
        const settings = await call.settings()
        const row = await find(tx, call.params.id)
        const next = { ...row, ...(await columns(tx, call.body, settings)), updatedAt: call.now }
        await tx.update(shippingMethods).set(next).where(eq(shippingMethods.id, row.id))
        return view(next, { currency: null, lang: null, storefront: false, settings })
      }),
  )
  .delete(
    '/{id}',
    { operationId: 'deleteShippingMethod', summary: 'Remove a shipping method', scope: 'settings:write', responses: { 200: Deleted } },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await find(tx, params.id)
        await tx.delete(shippingMethods).where(eq(shippingMethods.id, id))
        return deleted
      }),
  )
