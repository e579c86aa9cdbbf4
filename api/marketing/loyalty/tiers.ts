/** Loyalty tiers (document 1): what members climb by their lifetime points. */
import { asc, eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { loyaltyTiers } from '../../../db/store/loyalty.ts'
import { FACTOR_DECIMALS, requireDecimals } from '../../values/decimals.ts'
import { conflict, missing } from '../../values/refusal.ts'
import { resource } from '../../http/route.ts'
import { Body, Count, Counted, deleted, Deleted, Label, Paging, Type } from '../../http/schema.ts'
import { changes, Multiplier, reads, Tier } from './loyalty.ts'

const fields = {
  name: Label(100),
  threshold: Count({ description: 'Lifetime points' }),
  multiplier: Multiplier(),
  color: Type.String({ pattern: '^#[0-9A-Fa-f]{6}$', description: '#RRGGBB' }),
}
/** Its default is for new ones: a PATCH must not bring it back. */
const sortOrder = (options = {}) => Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, ...options }))
const TierInput = Body('LoyaltyTierInput', [{ name: 'Silver', threshold: 500, multiplier: 1.5, color: '#C0C0C0' }], {
  ...fields,
  sortOrder: sortOrder({ default: 0 }),
})
const TierPatch = Type.Partial(Type.Object({ ...fields, sortOrder: sortOrder() }), {
  $id: 'LoyaltyTierPatch',
  examples: [{ threshold: 100, multiplier: 2, sortOrder: 1 }],
})

async function find(db: Reader, id: string) {
  const [row] = await db.select().from(loyaltyTiers).where(eq(loyaltyTiers.id, id))
  if (!row) throw missing('tier')
  return row
}

export const loyaltyTierRoutes = resource('marketing', '/loyalty/tiers')
  .get(
    '',
    {
      operationId: 'listLoyaltyTiers',
      summary: 'List loyalty tiers',
      description: 'By `sortOrder`, then `threshold`.',
      ...reads,
      query: Paging(50),
      responses: { 200: Counted(Tier) },
      stored: true,
    },
    async ({ db, query: { limit, offset } }) => ({
      data: await db
        .select()
        .from(loyaltyTiers)
        .orderBy(asc(loyaltyTiers.sortOrder), asc(loyaltyTiers.threshold), asc(loyaltyTiers.id))
        .limit(limit)
        .offset(offset),
      meta: { count: await db.$count(loyaltyTiers) },
    }),
  )
  .post(
    '',
    { operationId: 'createLoyaltyTier', summary: 'Add a loyalty tier', ...changes, body: TierInput, responses: { 201: Tier } },
    ({ body, now, clock, write }) =>
      write(async (tx) => {
        const { name, threshold, multiplier, color } = body
        requireDecimals('multiplier', multiplier, FACTOR_DECIMALS)
        const row = { id: clock.id(), name, threshold, multiplier, color, sortOrder: body.sortOrder ?? 0, createdAt: now, updatedAt: now }
        await tx.insert(loyaltyTiers).values(row)
        return row
      }),
  )
  .get(
    '/{id}',
    { operationId: 'getLoyaltyTier', summary: 'Read a loyalty tier', ...reads, responses: { 200: Tier }, stored: true },
    ({ db, params }) => find(db, params.id),
  )
  .patch(
    '/{id}',
    { operationId: 'updateLoyaltyTier', summary: 'Change a loyalty tier', ...changes, body: TierPatch, responses: { 200: Tier } },
    ({ params, body, now, write }) =>
      write(async (tx) => {
        requireDecimals('multiplier', body.multiplier, FACTOR_DECIMALS)
        const next = { ...(await find(tx, params.id)), ...body, updatedAt: now }
        await tx.update(loyaltyTiers).set(next).where(eq(loyaltyTiers.id, next.id))
        return next
      }),
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteLoyaltyTier',
      summary: 'Remove a loyalty tier',
      description: 'But the last one.',
      ...changes,
      responses: { 200: Deleted },
      refuses: [409],
    },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await find(tx, params.id)
        if ((await tx.$count(loyaltyTiers)) === 1) throw conflict('the last loyalty tier can not be deleted')
        await tx.delete(loyaltyTiers).where(eq(loyaltyTiers.id, id))
        return deleted
      }),
  )
