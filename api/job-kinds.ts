/** The visible list of what is done in the background. */
import { byRules } from './builder/feedback/instruction.ts'
import { makePreview } from './builder/feedback/preview-job.ts'
import { processComments } from './builder/feedback/process-job.ts'
import { PREVIEW, PROCESS } from './builder/feedback/session.ts'
import { publishStorefront } from './builder/publishing/publish-job.ts'
import { PUBLISH } from './builder/publishing/publish.ts'
import { REFRESH, refreshStorefront } from './builder/publishing/refresh.ts'
import { POST_VISIBLE } from './content/blog/post.ts'
import { showPost } from './content/blog/visible-job.ts'
import { ASK, NOTIFY } from './content/wishes/notification.ts'
import { askWaiting, notifyWaiting } from './content/wishes/notify-job.ts'
import { SUPPORT_MAIL } from './content/messages/support-case.ts'
import { sendSupportMail } from './content/messages/support-mail.ts'
import { IMPORT_IMAGES } from './content/media/image-import.ts'
import { importImages } from './content/media/image-import-job.ts'
import type { Services } from './outside/services.ts'
import { sendTickets, TICKETS } from './events/ticket-mail.ts'
import { confirmSubscriber } from './marketing/subscribers/confirmation.ts'
import { deliverNewsletter } from './marketing/newsletters/delivery.ts'
import { expireLoyaltyPoints } from './marketing/loyalty/expiry.ts'
import { DELIVER } from './marketing/newsletters/launch.ts'
import { CONFIRM } from './marketing/subscribers/subscribing.ts'
import type { Ended } from './jobs/given-up.ts'
import type { JobKind } from './jobs/kind.ts'
import { DELIVER_WEBHOOK } from './store/outbox.ts'
import { UNPAID } from './store/unpaid.ts'
import { deliverWebhook } from './store/webhooks/deliver-job.ts'
import { tellWebhookOff, WEBHOOK_OFF } from './store/webhooks/off-mail.ts'
import { ORDER_MAIL } from './orders/mails/ask.ts'
import { sendOrderMail } from './orders/mails/order-mails.ts'
import { cancelUnpaidOrders } from './orders/payments/unpaid-job.ts'

/** Every kind of job of this release, by its name in the queue. */
export const jobKinds = (services: Services): Readonly<Record<string, JobKind>> => ({
  [ASK]: askWaiting(services),
  [NOTIFY]: notifyWaiting(services),
  [CONFIRM]: confirmSubscriber(services),
  [DELIVER]: deliverNewsletter(services),
  [IMPORT_IMAGES]: importImages(services),
  [ORDER_MAIL]: sendOrderMail(services),
  [SUPPORT_MAIL]: sendSupportMail(services),
  [POST_VISIBLE]: showPost,
  [PREVIEW]: makePreview(services),
  [PROCESS]: processComments(byRules),
  [PUBLISH]: publishStorefront(services),
  [REFRESH]: refreshStorefront(services),
  [TICKETS]: sendTickets(services),
  [DELIVER_WEBHOOK]: deliverWebhook(services),
  [WEBHOOK_OFF]: tellWebhookOff(services),
  [UNPAID.kind]: cancelUnpaidOrders(services),
  'loyalty.expire': expireLoyaltyPoints,
})

/** Of these kinds, what was given up has told so and is over: nothing is left to be tried again. Each says what to do instead. */
export const endedKinds: Ended = {
  [DELIVER]: 'its newsletter has failed; POST /newsletters/{id}/retry sends it to those who have not had it',
  [PROCESS]: 'its feedback session has gone on without it',
  [PUBLISH]: 'its publish has failed; POST /publish begins another',
}
