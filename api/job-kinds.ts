/** The visible list of what is done in the background. */
import { IMPORT_IMAGES } from './content/media/image-import.ts'
import { importImages } from './content/media/image-import-job.ts'
import type { Services } from './outside/services.ts'
import { sendTickets, TICKETS } from './events/ticket-mail.ts'
import { confirmSubscriber } from './marketing/subscribers/confirmation.ts'
import { deliverNewsletter } from './marketing/newsletters/delivery.ts'
import { expireLoyaltyPoints } from './marketing/loyalty/expiry.ts'
import { DELIVER } from './marketing/newsletters/launch.ts'
import { CONFIRM } from './marketing/subscribers/subscribing.ts'
import type { JobKind } from './jobs/kind.ts'
import { UNPAID } from './store/unpaid.ts'
import { cancelUnpaidOrders } from './orders/payments/unpaid-job.ts'

/** Every kind of job of this release, by its name in the queue. */
export const jobKinds = (services: Services): Readonly<Record<string, JobKind>> => ({
  [CONFIRM]: confirmSubscriber(services),
  [DELIVER]: deliverNewsletter(services),
  [IMPORT_IMAGES]: importImages(services),
  [TICKETS]: sendTickets(services),
  [UNPAID.kind]: cancelUnpaidOrders(services),
  'loyalty.expire': expireLoyaltyPoints,
})
