/** Tax rates (document 3, Catalog): percentages, and the countries in which they apply. */
import { and, asc, eq, ne } from 'drizzle-orm'
import type { Db, Reader } from '../../db/driver.ts'
import { taxRates, variants } from '../../db/store/catalog.ts'
import { shippingMethods } from '../../db/store/checkout.ts'
import { PERCENT_DECIMALS, requireDecimals } from '../values/decimals.ts'
import { conflict, missing } from '../values/refusal.ts'
import { resource } from '../http/route.ts'
import { Body, deleted, Deleted, Label, Named, Page, Paging, Type, Uuid } from '../http/schema.ts'
import { millionths } from '../values/money.ts'
import { Countries, countriesOf } from './shapes.ts'

const TaxRate = Named('TaxRate', {
  id: Uuid(),
  name: Type.String({ examples: ['VAT 19 %'] }),
  rate: Type.Number({ description: 'Percent, up to four decimals' }),
  countries: Type.Array(Type.String(), { description: 'Empty: everywhere' }),
  default: Type.Boolean({ description: 'For variants and shipping methods that name no rate' }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const rate = Type.Number({ minimum: 0, maximum: 100, description: 'Percent, up to four decimals' })
const TaxRateInput = Body('TaxRateInput', [{ name: 'VAT 19 %', rate: 19, default: true }], {
  name: Label(200),
  rate,
  countries: Type.Optional(Countries),
  default: Type.Optional(Type.Boolean()),
})
const TaxRatePatch = Body('TaxRatePatch', [{ rate: 19, default: true }], {
  name: Type.Optional(Label(200)),
  rate: Type.Optional(rate),
  countries: Type.Optional(Countries),
  default: Type.Optional(Type.Boolean()),
})

const view = (row: typeof taxRates.$inferSelect) => ({ ...row, rate: row.rate / 10_000 })

/** Percent times 10,000; refuses a fifth decimal. */
function stored(percent: number): number {
  requireDecimals('rate', percent, PERCENT_DECIMALS)
  return millionths(percent)
}

async function find(db: Reader, id: string) {
  const [row] = await db.select().from(taxRates).where(eq(taxRates.id, id))
  if (!row) throw missing('tax rate')
  return row
}

/** A default rate takes the place of the one for the same countries. */
async function replaceDefault(tx: Db, row: typeof taxRates.$inferSelect) {
  if (row.default)
    await tx
      .update(taxRates)
      .set({ default: false })
      .where(and(eq(taxRates.default, true), eq(taxRates.countries, row.countries), ne(taxRates.id, row.id)))
}
/** In one order, so that two rates for the same countries are seen to be. */
const sorted = (given: string[] = []) => countriesOf(given).sort()

export const taxRateRoutes = resource('catalog', '/tax-rates')
  .get(
    '',
    {
      operationId: 'listTaxRates',
      summary: 'List tax rates',
      scope: 'settings:read',
      query: Paging(50),
      responses: { 200: Page(TaxRate) },
      stored: true,
    },
    async ({ db, query: { limit, offset } }) => ({
      data: (await db.select().from(taxRates).orderBy(asc(taxRates.id)).limit(limit).offset(offset)).map(view),
      meta: { count: await db.$count(taxRates), offset, limit },
    }),
  )
  .post(
    '',
    { operationId: 'createTaxRate', summary: 'Add a tax rate', scope: 'settings:write', body: TaxRateInput, responses: { 201: TaxRate } },
    ({ body, write, clock, now }) =>
      write(async (tx) => {
        const row = {
          id: clock.id(),
          name: body.name,
          rate: stored(body.rate),
          countries: sorted(body.countries),
          default: body.default ?? false,
          createdAt: now,
          updatedAt: now,
        }
        await tx.insert(taxRates).values(row)
        await replaceDefault(tx, row)
        return view(row)
      }),
  )
  .get(
    '/{id}',
    { operationId: 'getTaxRate', summary: 'Read a tax rate', scope: 'settings:read', responses: { 200: TaxRate }, stored: true },
    async ({ db, params }) => view(await find(db, params.id)),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateTaxRate',
      summary: 'Change a tax rate',
      scope: 'settings:write',
      body: TaxRatePatch,
      responses: { 200: TaxRate },
    },
    ({ body, params, write, now }) =>
      write(async (tx) => {
        const { id } = await find(tx, params.id)
        await tx
          .update(taxRates)
          .set({
            ...body,
            rate: body.rate === undefined ? undefined : stored(body.rate),
            countries: body.countries && sorted(body.countries),
            updatedAt: now,
          })
          .where(eq(taxRates.id, id))
        const row = await find(tx, id)
        await replaceDefault(tx, row)
        return view(row)
      }),
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteTaxRate',
      summary: 'Remove a tax rate',
      description: 'Refused while a variant or a shipping method names it.',
      scope: 'settings:write',
      responses: { 200: Deleted },
      refuses: [409],
    },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await find(tx, params.id)
        if (await tx.$count(variants, eq(variants.taxRateId, id))) throw conflict('the tax rate is still named by variants')
        if (await tx.$count(shippingMethods, eq(shippingMethods.taxRateId, id)))
          throw conflict('the tax rate is still named by shipping methods')
        await tx.delete(taxRates).where(eq(taxRates.id, id))
        return deleted
      }),
  )
