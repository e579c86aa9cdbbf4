/** Orders and tickets, as the pages of a shop show them to whoever may see them. */
import { and, eq, inArray } from 'drizzle-orm'
import { products } from '../../../db/store/catalog.ts'
import { translations } from '../../../db/store/translations.ts'
import { bookings, bookingSlots, seats } from '../../../db/store/events.ts'
import { pickupLocations } from '../../../db/store/checkout.ts'
import { customers, orders } from '../../../db/store/orders.ts'
import { hashOf } from '../../events/seat.ts'
import { orderLinkOf } from '../../orders/mails/order-link.ts'
import type { OrderLink, TicketLink } from '../../store/mails/shop-links.ts'
import { normalizeEmail } from '../../values/email.ts'
import { addressLines } from './cart-view.ts'
import { noteReader } from './proven.ts'
import { awaitedAtStripe, takesStripe } from './payment.ts'
import type { Visit } from './visit.ts'

interface Order {
  id: string
  orderNumber: string
  status: string
  paymentStatus: string
  currency: string
  lines: { id: string; productId: string | null; name: string; quantity: number; unitPriceCents: number; totalCents: number }[]
  subtotalCents: number
  discountCents: number
  shippingCents: number
  taxCents: number
  totalCents: number
  shipping: object | null
}

/** The path of an order's page: who has the link sees the order. */
export const orderPath = (visit: Visit, link: OrderLink) => visit.at(`/order/${visit.token('order', link)}`)

/** What the API does not tell a storefront of an order, and its buyer may see: when what was booked is, where it goes, and how. */
async function beside(visit: Visit, orderId: string) {
  return visit.app.store(visit.session.store.id, async ({ read }) => {
    const [order] = await read
      .select({ address: orders.shippingAddress, name: orders.shippingName, place: pickupLocations.name, point: orders.pickupPoint })
      .from(orders)
      .leftJoin(pickupLocations, eq(pickupLocations.id, orders.pickupLocationId))
      .where(eq(orders.id, orderId))
    const booked = await read
      .select({ lineId: bookings.lineId, startsAt: bookingSlots.startsAt, timezone: bookingSlots.timezone })
      .from(bookings)
      .innerJoin(bookingSlots, eq(bookingSlots.id, bookings.slotId))
      .where(eq(bookings.orderId, orderId))
    return {
      slots: new Map(booked.map(({ lineId, startsAt, timezone }) => [lineId, visit.when(startsAt, timezone)])),
      to: order?.address?.line1 ? addressLines(visit, order.address) : [],
      shippedBy: order?.name ? [order.name, order.place, order.point?.name].filter((part) => typeof part === 'string').join(', ') : null,
    }
  })
}

/** Names of lines in the visitor's language, where their products have one and are still called what was bought. */
async function namesOf(visit: Visit, lines: Order['lines']): Promise<Map<string, string>> {
  const ids = lines.flatMap(({ productId }) => productId ?? [])
  if (visit.language === visit.shop.deployment.languages[0] || !ids.length) return new Map()
  const rows = await visit.app.store(visit.session.store.id, ({ read }) =>
    read
      .select({ id: products.id, name: products.name, own: translations.fields })
      .from(products)
      .innerJoin(
        translations,
        and(eq(translations.entity, 'product'), eq(translations.entityId, products.id), eq(translations.locale, visit.language.code)),
      )
      .where(inArray(products.id, [...new Set(ids)])),
  )
  const known = new Map(rows.map((row) => [row.id, row]))
  return new Map(
    lines.flatMap(({ id, productId, name }) => {
      const row = known.get(productId ?? '')
      return row?.own.name && (name === row.name || name.startsWith(`${row.name} – `))
        ? [[id, row.own.name + name.slice(row.name.length)]]
        : []
    }),
  )
}

/** The view `order`; null when the link opens nothing. */
export async function orderView(visit: Visit, token: string) {
  const link = visit.opened<OrderLink>('order', token)
  const { status, body } = link ? await visit.ask<Order>('GET', `/orders/${link.id}`) : { status: 404, body: null }
  if (!link || status !== 200) return null
  const order = body as Order
  noteReader(visit, link)
  const { slots, to, shippedBy } = await beside(visit, order.id)
  const names = await namesOf(visit, order.lines)
  const awaited = await visit.app.store(visit.session.store.id, ({ read }) => awaitedAtStripe(read, order.id))
  const money = (cents: number) => visit.money(cents, order.currency)
  return {
    order: {
      number: order.orderNumber,
      status: order.status,
      isNew: visit.url.searchParams.has('new'),
      isUnpaid: order.status === 'pending' && order.paymentStatus === 'unpaid',
      pay: awaited !== null && takesStripe(visit) ? { key: visit.app.stripeKey, token } : null,
      to,
      shippedBy,
      lines: order.lines.map(({ id, name, quantity, unitPriceCents, totalCents }) => ({
        name: names.get(id) ?? name,
        slot: slots.get(id) ?? null,
        quantity,
        unit: money(unitPriceCents),
        total: money(totalCents),
      })),
      subtotal: money(order.subtotalCents),
      discount: order.discountCents > 0 ? money(order.discountCents) : null,
      shipping: order.shipping ? money(order.shippingCents) : null,
      tax: order.taxCents > 0 ? money(order.taxCents) : null,
      total: money(order.totalCents),
      tickets: link.code && link.email ? visit.at(`/tickets?open=${visit.token('tickets', { code: link.code, email: link.email })}`) : null,
    },
  }
}

/** Finds an order by its number and the address that it was placed with; null when the two do not belong together. */
export function findOrder(visit: Visit, number: string, email: string): Promise<OrderLink | null> {
  const lookup = Number(/\d{1,15}/.exec(number)?.[0] ?? NaN)
  return visit.app.store(visit.session.store.id, async ({ read }) => {
    if (!Number.isSafeInteger(lookup)) return null
    const [row] = await read
      .select({ id: orders.id, email: customers.email })
      .from(orders)
      .innerJoin(customers, eq(customers.id, orders.customerId))
      .where(eq(orders.lookup, lookup))
    return row && row.email === normalizeEmail(email) ? orderLinkOf(read, row) : null
  })
}

interface Bundle {
  code: string
  buyerEmail: string
  lines: {
    product: { name: string; slug: string }
    event: { startsAt: string | null; location: string | null }
    seats: { token: string; name: string | null; email: string | null }[]
  }[]
}

const zoneOf = async (visit: Visit): Promise<string> =>
  (await visit.ask<{ store: { settings: { timezone: string } } }>('GET', '/me')).body.store.settings.timezone

/** The view `tickets`; null when code and address open nothing. */
export async function ticketsView(visit: Visit, { code, email }: TicketLink) {
  const { status, body } = await visit.ask<Bundle>('GET', `/tickets/${encodeURIComponent(code)}?email=${encodeURIComponent(email)}`)
  if (status !== 200) return { status, view: null }
  const zone = await zoneOf(visit)
  const lines = body.lines.map(({ product, event, seats }) => ({
    name: product.name,
    when: event.startsAt ? visit.when(event.startsAt, zone) : '',
    location: event.location,
    seats: seats.map(({ token, name, email: own }, at) => ({
      number: at + 1,
      token,
      name: name ?? '',
      email: own ?? '',
      href: visit.at(`/ticket/${token}`),
    })),
  }))
  return { status, view: { bundle: { lines }, open: visit.token('tickets', { code, email }) } }
}

interface Seat {
  attendee: { name: string | null; email: string | null; bio: string | null; socialProfileUrl: string | null; listed: boolean }
  product: { name: string }
  event: { startsAt: string | null; location: string | null }
  orderStatus: string
}

/** A guest may say that they are there from a day before it begins on: who does so weeks before by mistake would not be let in. */
const OPEN_BEFORE_MS = 86_400_000

/** The view `ticket`; null when there is no such ticket. */
export async function ticketView(visit: Visit, token: string) {
  const { status, body } = await visit.ask<Seat>('GET', `/tickets/attendee/${encodeURIComponent(token)}`)
  if (status !== 200) return null
  const zone = await zoneOf(visit)
  const { attendee, event } = body
  const checkedInAt = await visit.app.store(visit.session.store.id, async ({ read }) => {
    const [seat] = await read
      .select({ at: seats.checkedInAt })
      .from(seats)
      .where(eq(seats.tokenHash, hashOf(token)))
    return seat?.at ?? null
  })
  const isActive = !['cancelled', 'refunded'].includes(body.orderStatus)
  const opensAt = event.startsAt && new Date(Date.parse(event.startsAt) - OPEN_BEFORE_MS).toISOString()
  const isOpen = !opensAt || opensAt <= visit.app.services.clock.now().toISOString()
  return {
    ticket: {
      token,
      event: body.product.name,
      when: event.startsAt ? visit.when(event.startsAt, zone) : '',
      location: event.location,
      name: attendee.name ?? '',
      email: attendee.email ?? '',
      bio: attendee.bio ?? '',
      socialProfileUrl: attendee.socialProfileUrl ?? '',
      listed: attendee.listed,
      active: isActive,
      checkedIn: checkedInAt && visit.when(checkedInAt, zone),
      mayCheckIn: isActive && isOpen,
      checkInFrom: isActive && opensAt && !isOpen ? visit.when(opensAt, zone) : null,
      pdf: `/_shop/tickets/attendee/${encodeURIComponent(token)}/ticket.pdf`,
    },
  }
}
