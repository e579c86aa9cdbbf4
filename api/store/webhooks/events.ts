/** Every event that a store tells of: when it happens, and the scope with which the API answers what it tells (document 3, Webhook events). */

const event = (scope: string, when: string) => ({ scope, when })

export const EVENTS = {
  'order.created': event('orders:read', 'An order is placed'),
  'order.paid': event('orders:read', 'The total of an order is paid'),
  'order.cancelled': event('orders:read', 'An order is cancelled'),
  'order.refunded': event('orders:read', 'Money of an order is given back, or a part of it'),
  'order.shipped': event('orders:read', 'All of an order that is shipped has left'),
  'product.created': event('storefront:read', 'A product or an event is made'),
  'product.updated': event('storefront:read', 'A product, an event or one of its variants changes'),
  'product.deleted': event('storefront:read', 'A product is removed; `data` is what it was'),
  'inventory.low': event('catalog:write', "What is available of a variant falls to the store's `lowStockThreshold`"),
  'customer.created': event('customers:read', 'Somebody buys for the first time'),
  'review.created': event('content:read', 'A review waits for approval'),
  'newsletter.sent': event('marketing:read', 'A newsletter has been sent'),
  'newsletter.failed': event('marketing:read', 'A newsletter could not be sent, or not to its end'),
  'booking.created': event('orders:read', 'Places of a slot are taken'),
  'booking.cancelled': event('orders:read', 'Places of a slot are given back; `quantity` says how many'),
  'ticket.checked_in': event('events:read', 'A seat is checked in'),
  'publish.live': event('store:admin', 'A publish serves its hosts'),
  'publish.failed': event('store:admin', 'A publish has failed'),
}
export type EventType = keyof typeof EVENTS
export const EVENT_TYPES = Object.keys(EVENTS) as [EventType, ...EventType[]]
export const isEvent = (type: string): type is EventType => type in EVENTS
