/** Loyalty settings (document 1): what points are worth. They are one object, replaced as a whole. */
import type { Reader } from '../../../db/driver.ts'
import { loyaltySettings } from '../../../db/store/loyalty.ts'
import { FACTOR_DECIMALS, PERCENT_DECIMALS, requireDecimals } from '../../values/decimals.ts'
import { resource } from '../../http/route.ts'
import { Body, Named, Nullable, Type } from '../../http/schema.ts'
import { changes, POINTS_MAX, reads } from './loyalty.ts'

const MONTHS_MAX = 1_200

/** With more, the points of one order could be more than a member can have. */
const PER_UNIT_MAX = 1_000_000

const positive = (description: string, fallback: number, maximum = POINTS_MAX) =>
  Type.Number({ exclusiveMinimum: 0, maximum, default: fallback, description: `${description}; up to six decimals` })
const fields = {
  pointsPerUnit: positive('Points for each unit of currency spent', 1, PER_UNIT_MAX),
  redemptionRate: positive('Points that pay one unit of currency', 100),
  minRedemption: positive('Points that a member must hold to redeem', 100),
  maxRedeemPercent: Type.Number({
    minimum: 1,
    maximum: 100,
    default: 50,
    description: 'The most of an order that points may pay; up to four decimals',
  }),
  pointsExpiryMonths: Nullable(Type.Integer({ minimum: 1, maximum: MONTHS_MAX }), {
    default: null,
    description: 'Months until earned points expire; null: never',
  }),
}
const Loyalty = Named('GetLoyaltySettingsAnswer', {
  loyalty: Nullable(Named('LoyaltySettings', fields), { description: 'Null when never set' }),
})
const { pointsPerUnit, redemptionRate, minRedemption, maxRedeemPercent, pointsExpiryMonths } = fields
const LoyaltyInput = Body(
  'ReplaceLoyaltySettingsInput',
  [{ pointsPerUnit: 1, redemptionRate: 100, minRedemption: 100, maxRedeemPercent: 50, pointsExpiryMonths: 10 }],
  {
    pointsPerUnit: Type.Optional(pointsPerUnit),
    redemptionRate: Type.Optional(redemptionRate),
    minRedemption: Type.Optional(minRedemption),
    maxRedeemPercent: Type.Optional(maxRedeemPercent),
    pointsExpiryMonths: Type.Optional(pointsExpiryMonths),
  },
  { 'x-wrapped': 'loyalty' },
)

/** The settings of a store; null when they were never set. */
async function readLoyalty(db: Reader) {
  const [row] = await db.select().from(loyaltySettings)
  return row ?? null
}

export const loyaltySettingsRoutes = resource('marketing', '/loyalty/settings')
  .get(
    '',
    { operationId: 'getLoyaltySettings', summary: 'Read the loyalty settings', ...reads, responses: { 200: Loyalty }, stored: true },
    async ({ db }) => ({
      loyalty: await readLoyalty(db),
    }),
  )
  .put(
    '',
    {
      operationId: 'replaceLoyaltySettings',
      summary: 'Replace the loyalty settings',
      description: 'A full replacement: what is left out has its default again.',
      ...changes,
      body: LoyaltyInput,
      responses: { 200: Loyalty },
    },
    ({ body, now, write }) =>
      write(async (tx) => {
        for (const field of ['pointsPerUnit', 'redemptionRate', 'minRedemption'] as const)
          requireDecimals(field, body[field], FACTOR_DECIMALS)
        requireDecimals('maxRedeemPercent', body.maxRedeemPercent, PERCENT_DECIMALS)
        const next = {
          pointsPerUnit: body.pointsPerUnit ?? pointsPerUnit.default,
          redemptionRate: body.redemptionRate ?? redemptionRate.default,
          minRedemption: body.minRedemption ?? minRedemption.default,
          maxRedeemPercent: body.maxRedeemPercent ?? maxRedeemPercent.default,
          pointsExpiryMonths: body.pointsExpiryMonths ?? null,
          updatedAt: now,
        }
        await tx
          .insert(loyaltySettings)
          .values({ id: 1, ...next })
          .onConflictDoUpdate({ target: loyaltySettings.id, set: next })
        return { loyalty: await readLoyalty(tx) }
      }),
  )
