/** The visible list of what is done in the background. */
import type { Registry } from '../db/control/registry.ts'
import { TAKE_IN } from './content/given-images.ts'
import { takeInImages } from './content/images-job.ts'
import type { Intake } from './content/intake.ts'
import type { Mailers } from './mail.ts'
import { confirmSubscriber } from './marketing/mailing/confirmation.ts'
import { deliverNewsletter } from './marketing/mailing/delivery.ts'
import { expireLoyaltyPoints } from './marketing/points/expiry.ts'
import { DELIVER } from './marketing/mailing/launch.ts'
import { CONFIRM } from './marketing/mailing/subscribing.ts'
import type { JobKind } from './jobs/runner.ts'

export interface JobNeeds {
  registry: Registry
  mailers: Mailers
  intake: Intake
  /** The public URL of the store API, without a slash at the end. */
  baseUrl(): string
}

/** Every kind of job of this release, by its name in the queue. */
export const jobKinds = (needs: JobNeeds): Readonly<Record<string, JobKind>> => ({
  [CONFIRM]: confirmSubscriber(needs),
  [DELIVER]: deliverNewsletter(needs),
  [TAKE_IN]: takeInImages(needs.intake),
  'loyalty.expire': expireLoyaltyPoints,
})
