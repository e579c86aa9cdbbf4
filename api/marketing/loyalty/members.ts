/** Loyalty members (document 3): what each customer has, the ledger of it, and corrections by hand. */
import { desc, eq, inArray, sql } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { loyaltyLedger, loyaltyMembers, loyaltyTiers } from '../../../db/store/loyalty.ts'
import { customers } from '../../../db/store/orders.ts'
import { conflict, missing, wrong } from '../../values/refusal.ts'
import { resource } from '../../http/route.ts'
import { Body, Line, Named, Nullable, Page, Paging, Type, Uuid } from '../../http/schema.ts'
import { changePoints, MEMBER_POINTS_MAX } from './points.ts'
import { changes, POINTS_MAX, reads, Tier } from './loyalty.ts'
import { tierOf } from './tier.ts'

/** Entries of the ledger that a member is read with. */
const LEDGER_SHOWN = 50

const fields = {
  customerId: Uuid(),
  email: Type.String(),
  name: Nullable(Type.String({ examples: ['Ada Lovelace'] })),
  balance: Type.Integer({
    description: 'The sum of the ledger. Below zero when points were taken back that had been spent: the next ones fill it up first',
  }),
  lifetimePoints: Type.Integer({ description: 'What the tier is found by' }),
  tier: Nullable(Tier),
  createdAt: Type.String(),
}
const Entry = Named('LoyaltyEntry', {
  points: Type.Integer({ description: 'Below zero when they were taken' }),
  reason: Type.String(),
  orderId: Nullable(Uuid()),
  expiresAt: Nullable(Type.String()),
  createdAt: Type.String(),
})
const Member = Named('LoyaltyMember', fields)
const MemberDetail = Named('LoyaltyMemberDetail', {
  ...fields,
  ledger: Type.Array(Entry, { description: `Newest first, ${LEDGER_SHOWN} at most` }),
})
const Adjustment = Body('LoyaltyAdjustmentInput', [{ points: 50, reason: 'A present for your patience' }], {
  points: Type.Integer({ minimum: -POINTS_MAX, maximum: POINTS_MAX, description: 'Below zero to take them; not 0' }),
  reason: Type.Optional(Nullable(Line(0, 200, { description: '`adjustment` when left out or blank' }))),
})

const columns = {
  customerId: customers.id,
  email: customers.email,
  name: customers.name,
  balance: sql<number>`coalesce(${loyaltyMembers.balance}, 0)`,
  lifetimePoints: sql<number>`coalesce(${loyaltyMembers.lifetimePoints}, 0)`,
  createdAt: customers.createdAt,
}
/** Every customer is one; who never had points has no row of them. */
const members = (db: Reader) => db.select(columns).from(customers).leftJoin(loyaltyMembers, eq(loyaltyMembers.customerId, customers.id))
const tiersOf = (db: Reader) => db.select().from(loyaltyTiers)

async function read(db: Reader, customerId: string) {
  const [member] = await members(db).where(eq(customers.id, customerId))
  if (!member) throw missing('member')
  const { points, reason, orderId, expiresAt, createdAt } = loyaltyLedger
  const ledger = await db
    .select({ points, reason, orderId, expiresAt, createdAt })
    .from(loyaltyLedger)
    .where(eq(loyaltyLedger.customerId, member.customerId))
    .orderBy(desc(loyaltyLedger.id))
    .limit(LEDGER_SHOWN)
  return { ...member, tier: tierOf(member.lifetimePoints, await tiersOf(db)), ledger }
}

export const loyaltyMemberRoutes = resource('marketing', '/loyalty/members')
  .get(
    '',
    {
      operationId: 'listLoyaltyMembers',
      summary: 'List loyalty members',
      description: 'All customers, those without points with a balance of 0; the newest come first.',
      ...reads,
      query: Paging(50),
      responses: { 200: Page(Member) },
    },
    async ({ db, query: { limit, offset } }) => {
      const tiers = await tiersOf(db)
      const page = db.select({ id: customers.id }).from(customers).orderBy(desc(customers.id)).limit(limit).offset(offset)
      const rows = await members(db).where(inArray(customers.id, page)).orderBy(desc(customers.id))
      return {
        data: rows.map((member) => ({ ...member, tier: tierOf(member.lifetimePoints, tiers) })),
        meta: { count: await db.$count(customers), offset, limit },
      }
    },
  )
  .get(
    '/{customerId}',
    {
      operationId: 'getLoyaltyMember',
      summary: 'Read a loyalty member',
      ...reads,
      responses: { 200: MemberDetail },
    },
    ({ db, params }) => read(db, params.customerId),
  )
  .post(
    '/{customerId}/adjustments',
    {
      operationId: 'adjustLoyaltyPoints',
      summary: 'Give or take points by hand',
      description: 'Points that are given count for the tier, those that are taken do not.',
      ...changes,
      body: Adjustment,
      responses: { 201: MemberDetail },
    },
    (call) =>
      call.write(async (tx) => {
        const { points } = call.body
        if (points === 0) throw wrong('points', 'must not be 0')
        const [customer] = await tx.select({ id: customers.id }).from(customers).where(eq(customers.id, call.params.customerId))
        if (!customer) throw missing('customer')
        const balance = await changePoints(tx, call, {
          customerId: customer.id,
          points,
          kind: 'adjusted',
          reason: call.body.reason?.trim() || 'adjustment',
          lifetime: Math.max(0, points),
        })
        if (balance === null) {
          const problem = points > 0 ? `a member can have at most ${MEMBER_POINTS_MAX} points` : 'the member has fewer points than that'
          throw conflict(problem, { balance: await balanceOf(tx, customer.id) })
        }
        return read(tx, customer.id)
      }),
  )

async function balanceOf(db: Reader, customerId: string): Promise<number> {
  const [row] = await db.select({ balance: loyaltyMembers.balance }).from(loyaltyMembers).where(eq(loyaltyMembers.customerId, customerId))
  return row?.balance ?? 0
}
