/** The visible list of what is done in the background. */
import { expireLoyaltyPoints } from '../marketing/expiry.ts'
import type { JobKind } from './runner.ts'

/** Every kind of job of this release, by its name in the queue. */
export const jobKinds = (): Readonly<Record<string, JobKind>> => ({
  'loyalty.expire': expireLoyaltyPoints,
})
