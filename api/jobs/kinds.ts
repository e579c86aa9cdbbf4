/** The visible list of what is done in the background. */
import type { Mailers } from '../mail.ts'
import { confirmSubscriber } from '../marketing/confirmation.ts'
import { expireLoyaltyPoints } from '../marketing/expiry.ts'
import { CONFIRM } from '../marketing/subscribing.ts'
import type { JobKind } from './runner.ts'

export interface JobNeeds {
  mailers: Mailers
  /** The public URL of the store API, without a slash at the end. */
  baseUrl(): string
}

/** Every kind of job of this release, by its name in the queue. */
export const jobKinds = ({ mailers, baseUrl }: JobNeeds): Readonly<Record<string, JobKind>> => ({
  [CONFIRM]: confirmSubscriber(mailers, baseUrl),
  'loyalty.expire': expireLoyaltyPoints,
})
