/** Loyalty campaigns (document 1): for a time, some products earn more points. */
import { desc, eq } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { categories, collections, products } from '../../../db/store/catalog.ts'
import { CAMPAIGN_SCOPES, loyaltyCampaigns } from '../../../db/store/loyalty.ts'
import { FACTOR_DECIMALS, requireDecimals } from '../../values/decimals.ts'
import { invalid, missing, wrong } from '../../values/refusal.ts'
import { resource } from '../../http/route.ts'
import {
  Body,
  deleted,
  Deleted,
  Ids,
  Instant,
  Label,
  Named,
  Nullable,
  OneOf,
  Page,
  Paging,
  Type,
  Uuid,
  type Static,
} from '../../http/schema.ts'
import { requireIds } from '../../http/input/references.ts'
import { utc } from '../../values/time.ts'
import { changes, Multiplier, reads } from './loyalty.ts'

const Campaign = Named('LoyaltyCampaign', {
  id: Uuid(),
  name: Type.String({ examples: ['Spring sale'] }),
  earnMultiplier: Type.Number(),
  scope: OneOf(CAMPAIGN_SCOPES),
  scopeIds: Type.Array(Uuid(), { description: 'Empty for `ALL_PRODUCTS`' }),
  startsAt: Nullable(Type.String(), { description: 'Null: at once' }),
  endsAt: Nullable(Type.String(), { description: 'Null: no end' }),
  active: Type.Boolean(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const fields = {
  name: Label(200),
  earnMultiplier: Multiplier(),
  scope: OneOf(CAMPAIGN_SCOPES),
}
const more = {
  scopeIds: Type.Optional(Ids()),
  startsAt: Type.Optional(Nullable(Instant())),
  endsAt: Type.Optional(Nullable(Instant())),
}
/** Its default is for new ones: a PATCH must not bring it back. */
const active = (options = {}) => Type.Optional(Type.Boolean(options))
const CampaignInput = Body('LoyaltyCampaignInput', [{ name: 'Double points', earnMultiplier: 2, scope: 'ALL_PRODUCTS' }], {
  ...fields,
  ...more,
  active: active({ default: true }),
})
const CampaignPatch = Type.Partial(Type.Object({ ...fields, ...more, active: active() }), {
  $id: 'LoyaltyCampaignPatch',
  examples: [
    { earnMultiplier: 2, scope: 'ALL_PRODUCTS', startsAt: '2030-06-01T09:00:00.000Z', endsAt: '2030-06-01T11:00:00.000Z', active: true },
  ],
})

type Row = typeof loyaltyCampaigns.$inferSelect

const TABLES = { PRODUCT_IDS: products, CATEGORY_IDS: categories, COLLECTION_IDS: collections } as const

/**
 * What a campaign covers after a change. Ids that are new must be in the store; one that was there before and has been deleted since
 * may stay, and matches nothing.
 */
async function scopeOf(tx: Db, body: Static<typeof CampaignPatch>, known: Row | null): Promise<Pick<Row, 'scope' | 'scopeIds'>> {
  const scope = body.scope ?? known!.scope
  if (scope === 'ALL_PRODUCTS') return { scope, scopeIds: [] }
  const isNew = known?.scope !== scope
  const given = body.scopeIds
  if (!given && !isNew) return { scope, scopeIds: known.scopeIds }
  if (!given) throw invalid([{ code: 'required', message: 'is required unless scope is ALL_PRODUCTS', path: ['scopeIds'] }])
  if (!given.length) throw wrong('scopeIds', 'must name at least one, unless scope is ALL_PRODUCTS')
  const kept = new Set(isNew ? [] : known.scopeIds)
  await requireIds(
    tx,
    TABLES[scope],
    given.map((id) => (kept.has(id) ? null : id)),
    'scopeIds',
  )
  return { scope, scopeIds: given }
}

/** When a campaign runs after a change. */
function windowOf(body: Static<typeof CampaignPatch>, known: Row | null): Pick<Row, 'startsAt' | 'endsAt'> {
  const startsAt = body.startsAt === undefined ? (known?.startsAt ?? null) : (utc(body.startsAt) ?? null)
  const endsAt = body.endsAt === undefined ? (known?.endsAt ?? null) : (utc(body.endsAt) ?? null)
  if (startsAt !== null && endsAt !== null && endsAt <= startsAt) throw wrong('endsAt', 'must be after startsAt')
  return { startsAt, endsAt }
}

async function find(db: Reader, id: string) {
  const [row] = await db.select().from(loyaltyCampaigns).where(eq(loyaltyCampaigns.id, id))
  if (!row) throw missing('campaign')
  return row
}

export const loyaltyCampaignRoutes = resource('marketing', '/loyalty/campaigns')
  .get(
    '',
    {
      operationId: 'listLoyaltyCampaigns',
      summary: 'List loyalty campaigns',
      description: 'Newest first.',
      ...reads,
      query: { ...Paging(50), activeOnly: Type.Optional(Type.Boolean({ description: 'Those that are switched on' })) },
      responses: { 200: Page(Campaign) },
      stored: true,
    },
    async ({ db, query: { limit, offset, activeOnly } }) => {
      const where = activeOnly ? eq(loyaltyCampaigns.active, true) : undefined
      const data = await db.select().from(loyaltyCampaigns).where(where).orderBy(desc(loyaltyCampaigns.id)).limit(limit).offset(offset)
      return { data, meta: { count: await db.$count(loyaltyCampaigns, where), offset, limit } }
    },
  )
  .post(
    '',
    {
      operationId: 'createLoyaltyCampaign',
      summary: 'Add a loyalty campaign',
      ...changes,
      body: CampaignInput,
      responses: { 201: Campaign },
    },
    ({ body, now, clock, write }) =>
      write(async (tx) => {
        requireDecimals('earnMultiplier', body.earnMultiplier, FACTOR_DECIMALS)
        const row = {
          id: clock.id(),
          name: body.name,
          earnMultiplier: body.earnMultiplier,
          ...(await scopeOf(tx, body, null)),
          ...windowOf(body, null),
          active: body.active ?? true,
          createdAt: now,
          updatedAt: now,
        }
        await tx.insert(loyaltyCampaigns).values(row)
        return row
      }),
  )
  .get(
    '/{id}',
    { operationId: 'getLoyaltyCampaign', summary: 'Read a loyalty campaign', ...reads, responses: { 200: Campaign }, stored: true },
    ({ db, params }) => find(db, params.id),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateLoyaltyCampaign',
      summary: 'Change a loyalty campaign',
      description: 'A `scope` that changes to anything but `ALL_PRODUCTS` needs its `scopeIds`.',
      ...changes,
      body: CampaignPatch,
      responses: { 200: Campaign },
    },
    ({ params, body, now, write }) =>
      write(async (tx) => {
        requireDecimals('earnMultiplier', body.earnMultiplier, FACTOR_DECIMALS)
        const row = await find(tx, params.id)
        const next = { ...row, ...body, ...(await scopeOf(tx, body, row)), ...windowOf(body, row), updatedAt: now }
        await tx.update(loyaltyCampaigns).set(next).where(eq(loyaltyCampaigns.id, row.id))
        return next
      }),
  )
  .delete(
    '/{id}',
    { operationId: 'deleteLoyaltyCampaign', summary: 'Remove a loyalty campaign', ...changes, responses: { 200: Deleted } },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await find(tx, params.id)
        await tx.delete(loyaltyCampaigns).where(eq(loyaltyCampaigns.id, id))
        return deleted
      }),
  )
