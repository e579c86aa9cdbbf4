/** The visible list of what webhooks hear of. */
import { bookingTold } from './events/booking.ts'
import { customerTold } from './orders/customer.ts'
import { newsletterTold } from './marketing/newsletters/newsletter.ts'
import { orderTold } from './orders/order.ts'
import { productTold, stockTold } from './catalog/told.ts'
import { publishTold } from './builder/publishing/publish.ts'
import { reviewTold } from './content/reviews/review.ts'
import { ticketTold } from './events/ticket.ts'
import type { ToldEvent } from './openapi/document.ts'
import { EVENTS } from './store/webhooks/events.ts'

/** Every event of this release, with what it tells. */
export const webhookEvents: readonly ToldEvent[] = [
  orderTold,
  productTold,
  stockTold,
  customerTold,
  reviewTold,
  newsletterTold,
  bookingTold,
  ticketTold,
  publishTold,
].flatMap(({ room, types, data }) => types.map((type) => ({ type, room, data, when: EVENTS[type].when })))
