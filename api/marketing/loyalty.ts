/** What the resources of loyalty share: who may call them, and what numbers they take. */
import { Type } from '../http/schema.ts'

export const reads = { scope: 'marketing:read', tool: 'loyalty' } as const
export const changes = { scope: 'marketing:write', tool: 'loyalty' } as const

export const POINTS_MAX = 1_000_000_000
/** Of what is earned. */
export const Multiplier = () => Type.Number({ exclusiveMinimum: 0, maximum: 1_000, description: 'Up to six decimals' })
