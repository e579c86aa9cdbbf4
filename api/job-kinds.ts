/** The visible list of what is done in the background. */
import type { Registry } from '../db/control/registry.ts'
import { TAKE_IN } from './content/given-images.ts'
import { takeInImages } from './content/images-job.ts'
import type { Intake } from './content/intake.ts'
import type { Provider } from './outside/payment-provider.ts'
import type { Mailers } from './outside/mail.ts'
import { confirmSubscriber } from './marketing/subscribers/confirmation.ts'
import { deliverNewsletter } from './marketing/newsletters/delivery.ts'
import { expireLoyaltyPoints } from './marketing/loyalty/expiry.ts'
import { DELIVER } from './marketing/newsletters/launch.ts'
import { CONFIRM } from './marketing/subscribers/subscribing.ts'
import type { JobKind } from './jobs/kind.ts'
import { UNPAID } from './store/unpaid.ts'
import { cancelUnpaidOrders } from './orders/payments/unpaid-job.ts'

export interface JobNeeds {
  registry: Registry
  mailers: Mailers
  intake: Intake
  /** Where payments go; null: nowhere. */
  payments: Provider | null
  /** The public URL of the store API, without a slash at the end. */
  baseUrl(): string
}

/** Every kind of job of this release, by its name in the queue. */
export const jobKinds = (needs: JobNeeds): Readonly<Record<string, JobKind>> => ({
  [CONFIRM]: confirmSubscriber(needs),
  [DELIVER]: deliverNewsletter(needs),
  [TAKE_IN]: takeInImages(needs.intake),
  [UNPAID.kind]: cancelUnpaidOrders(needs),
  'loyalty.expire': expireLoyaltyPoints,
})
