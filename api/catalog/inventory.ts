/** Inventory (document 3, Catalog): what lies on the shelf, and the ledger of every change to it. */
import { and, asc, desc, eq, gt, lt, sql } from 'drizzle-orm'
import { aside } from '../../db/aside.ts'
import { compile, named, type Db } from '../../db/driver.ts'
import { inventoryMovements, products, variants } from '../../db/store/catalog.ts'
import { conflict, missing, wrong } from '../values/refusal.ts'
import { resource, type Call } from '../http/route.ts'
import { Body, Named, Nullable, Text, Type, Uuid, type Static } from '../http/schema.ts'
import { columns, Level, level, levelOf } from './level.ts'
import { tellLow } from './told.ts'
import { contains } from '../values/compared.ts'
import { foundAmong, matchExpression } from './search/search-index.ts'
import { fallsLow, record } from './stock.ts'

const Movement = Named('Movement', {
  id: Uuid(),
  variantId: Uuid(),
  delta: Type.Integer(),
  reason: Nullable(Type.String()),
  orderId: Nullable(Uuid()),
  keyId: Nullable(Uuid()),
  createdAt: Type.String(),
})
const Cursor = Type.Optional(Uuid({ description: '`nextCursor` of the page before' }))
const page = { limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }), cursor: Cursor }

const QUANTITY_MAX = 1_000_000_000
const quantity = Type.Optional(Type.Integer({ minimum: 0, maximum: QUANTITY_MAX, description: 'What lies on the shelf now' }))
const adjust = Type.Optional(
  Type.Integer({ minimum: -QUANTITY_MAX, maximum: QUANTITY_MAX, description: 'What to add to it, or to take away' }),
)
const reason = Type.Optional(Nullable(Text(0, 200)))
const Change = Body('StockPatch', [{ adjust: 5, reason: 'Delivery' }], { quantity, adjust, reason })
const Bulk = Body(
  'ChangeInventoryInput',
  [{ items: [{ variantId: '01985d2c-7c00-7a31-8c4e-0242ac120002', adjust: 5, reason: 'Delivery' }] }],
  { items: Type.Array(Type.Object({ variantId: Uuid(), quantity, adjust, reason }), { minItems: 1, maxItems: 500 }) },
)

const { quantity: onShelf, reserved, tracked, backorder } = variants
const stockOf = compile((db) =>
  db
    .select({ quantity: onShelf, reserved, tracked, backorder })
    .from(variants)
    .where(eq(variants.id, named('id'))),
)
const setQuantity = compile((db) =>
  db
    .update(variants)
    .set({ quantity: named('quantity'), updatedAt: named('now') })
    .where(eq(variants.id, named('id'))),
)

/** Condition: words in name or SKU; what has no word in it ("%", an emoji) is not in the index. */
function found(text: string) {
  const expression = matchExpression(text)
  if (expression !== null) return foundAmong(variants.productId, 'product', expression)
  return sql`(${products.name} like ${contains(text)} escape '\\' or ${variants.sku} like ${contains(text)} escape '\\')`
}

/** Applies one change; refuses one that would fall under what orders hold. `path` is where it stands in the body. */
async function apply(tx: Db, call: Call, variantId: string, change: Static<typeof Change>, path: string[]) {
  if ((change.quantity === undefined) === (change.adjust === undefined))
    throw wrong([...path, 'quantity'], 'give either quantity or adjust')
  const row = await stockOf.get(tx, { id: variantId })
  if (!row) throw path.length ? wrong([...path, 'variantId'], 'no such resource in this store') : missing('variant')
  const next = change.quantity ?? row.quantity + change.adjust!
  if (next < 0) throw conflict("the quantity can't be negative", { variantId, quantity: row.quantity })
  if (row.tracked && !row.backorder && next < row.reserved)
    throw conflict(`the quantity can't fall under the ${row.reserved} that orders hold`, { variantId, reserved: row.reserved })
  if (next > QUANTITY_MAX) throw conflict(`the quantity can't be more than ${QUANTITY_MAX}`, { variantId })
  await setQuantity.run(tx, { id: variantId, quantity: next, now: call.now })
  await record(tx, variantId, next - row.quantity, {
    id: call.clock.id(),
    reason: change.reason ?? null,
    orderId: null,
    keyId: call.session.key.id,
    createdAt: call.now,
  })
  const { lowStockThreshold } = await call.settings()
  if (fallsLow(row, next, lowStockThreshold)) await tellLow(tx, call, variantId)
}

export const inventory = resource('catalog', '/inventory')
  .get(
    '',
    {
      operationId: 'listInventory',
      summary: 'List stock levels',
      scope: 'catalog:write',
      responses: { 200: Type.Object({ data: Type.Array(Level), nextCursor: Nullable(Type.String()) }) },
      query: {
        ...page,
        query: Type.Optional(Type.String({ maxLength: 200, description: 'Words in name or SKU' })),
        lowStock: Type.Optional(Type.Boolean({ description: 'At or under `lowStockThreshold`' })),
      },
    },
    async ({ db, query, settings }) => {
      const { lowStockThreshold } = await settings()
      const low = sql`(${variants.tracked} = 1 and ${variants.quantity} - ${variants.reserved} <= ${lowStockThreshold})`
      const rows = await aside(db, 'variants')
        .select(columns)
        .from(variants)
        .innerJoin(products, eq(products.id, variants.productId))
        .where(
          and(
            query.cursor === undefined ? undefined : gt(variants.id, query.cursor),
            query.query?.trim() ? found(query.query.trim()) : undefined,
            query.lowStock === undefined ? undefined : query.lowStock ? low : sql`not ${low}`,
          ),
        )
        .orderBy(asc(variants.id))
        .limit(query.limit + 1)
      const data = rows.slice(0, query.limit).map(level)
      return { data, nextCursor: rows.length > query.limit ? data.at(-1)!.variantId : null }
    },
  )
  .post(
    '/bulk',
    {
      operationId: 'changeInventory',
      summary: 'Change many stock levels, all or none',
      scope: 'catalog:write',
      body: Bulk,
      responses: { 200: Type.Object({ data: Type.Array(Level) }) },
    },
    (call) =>
      call.write(async (tx) => {
        for (const [i, item] of call.body.items.entries()) await apply(tx, call, item.variantId, item, ['items', String(i)])
        // Somebody may wait for what has come back.
        const data = []
        for (const id of new Set(call.body.items.map((item) => item.variantId))) data.push(await levelOf(tx, id))
        return { data }
      }),
  )
  .patch(
    '/{variantId}',
    {
      operationId: 'changeStock',
      summary: 'Change a stock level',
      scope: 'catalog:write',
      body: Change,
      responses: { 200: Level },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const id = call.params.variantId
        await apply(tx, call, id, call.body, [])
        return levelOf(tx, id)
      }),
  )
  .get(
    '/{variantId}/movements',
    {
      operationId: 'listMovements',
      summary: "Read a variant's ledger",
      description: 'Newest first; the sum of all deltas is the quantity.',
      scope: 'catalog:write',
      query: page,
      responses: { 200: Type.Object({ data: Type.Array(Movement), nextCursor: Nullable(Type.String()) }) },
    },
    async ({ db, params, query }) => {
      const { variantId } = await levelOf(db, params.variantId)
      const rows = await db
        .select()
        .from(inventoryMovements)
        .where(
          and(
            eq(inventoryMovements.variantId, variantId),
            query.cursor === undefined ? undefined : lt(inventoryMovements.id, query.cursor),
          ),
        )
        .orderBy(desc(inventoryMovements.id))
        .limit(query.limit + 1)
      const data = rows.slice(0, query.limit)
      return { data, nextCursor: rows.length > query.limit ? data.at(-1)!.id : null }
    },
  )
