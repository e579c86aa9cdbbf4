/** The shared part of the resources of loyalty: who may call them, and the numbers that they take. */
import { Named, Type, Uuid } from '../../http/schema.ts'

export const reads = { scope: 'marketing:read', tool: 'loyalty' } as const
export const changes = { scope: 'marketing:write', tool: 'loyalty' } as const

export const POINTS_MAX = 1_000_000_000
/** A factor by which the points that are earned are multiplied. */
export const Multiplier = () => Type.Number({ exclusiveMinimum: 0, maximum: 1_000, description: 'Up to six decimals' })

/** A tier on the wire. */
export const Tier = Named('LoyaltyTier', {
  id: Uuid(),
  name: Type.String({ examples: ['Gold'] }),
  threshold: Type.Integer({ description: 'Members are in the tier once their lifetime points exceed it' }),
  multiplier: Type.Number({ description: 'Of what they earn' }),
  color: Type.String(),
  sortOrder: Type.Integer(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
