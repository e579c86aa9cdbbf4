/** What guests keep of a ticket: a page to print, which its token opens, and the event for their calendar. */
import { eq } from 'drizzle-orm'
import { seats } from '../../db/store/events.ts'
import { viewOf } from '../catalog/read.ts'
import { Lang } from '../catalog/shapes.ts'
import { Reply, resource } from '../http/route.ts'
import { ownerOfToken } from '../store/links/link-token.ts'
import { conflict, missing, Refusal } from '../values/refusal.ts'
import { findEvent, PRIVATE, readEvents } from './event.ts'
import { settingsIn } from '../http/call.ts'
import { factsOf, printedSeats } from './printed.ts'
import { hashOf, tokenOf } from './seat.ts'

export const calendarRoutes = resource('events', '/events').get(
  '/{idOrSlug}/calendar.ics',
  {
    operationId: 'getEventCalendar',
    summary: 'Put an event into a calendar',
    description: 'One event of RFC 5545, whose id stays the same when it is moved. 404 for one without a date.',
    scope: ['storefront:read', 'events:read'],
    tool: 'events',
    query: { lang: Lang },
    responses: { 200: 'text/calendar' },
  },
  async (call) => {
    const view = await viewOf(call)
    const { product, event } = await findEvent(call.db, call.params.idOrSlug, view)
    const [seen] = await readEvents(call.db, [product.id], view)
    const { startsAt, location } = seen!.event
    if (startsAt === null) throw new Refusal(404, 'the event has no date yet')
    const { calendarOf } = await import('./calendar.ts')
    const { name, summary, slug } = seen!
    const dated = { id: product.id, name, summary, startsAt, location, createdAt: event.createdAt, updatedAt: event.updatedAt }
    return new Reply(200, calendarOf(dated, new URL(call.services.mailers.baseUrl).hostname), {
      'content-type': 'text/calendar; charset=utf-8',
      'content-disposition': `attachment; filename="${slug}.ics"`,
    })
  },
)

export const ticketPdfRoutes = resource('events', '/tickets').get(
  '/attendee/{token}/ticket.pdf',
  {
    operationId: 'printTicket',
    summary: 'Print a ticket',
    description: 'The page that mails link to: no key, the token opens it. 409 while the order is not paid.',
    scope: 'public',
    responses: { 200: 'application/pdf' },
    refuses: [404, 409],
    async owner({ params, services }) {
      const owner = ownerOfToken(params.token)
      if (!owner || !(await services.registry.store(owner.storeId))) throw missing('ticket')
      return owner
    },
  },
  async ({ db, params: { token }, services }) => {
    const [seat] = await printedSeats(db, eq(seats.tokenHash, hashOf(token)), 1)
    const settings = await settingsIn(db)
    if (!seat || seat.state === 'void' || !settings.tools.events) throw missing('ticket')
    if (seat.state === 'held') throw conflict('the order has not been paid', { status: seat.status })
    // Fonts and PDF are loaded by those alone who print.
    const { ticketPdf } = await import('./ticket-sheet.ts')
    const { event, name, buyer, email, lookup, seatCreatedAt } = seat
    const content = {
      ...{ token: tokenOf(services.secrets, seat) ?? token, event, facts: factsOf(seat, settings), attendee: name ?? buyer ?? email },
      ...{ order: `Order ${lookup}`, store: settings.name, contact: settings.contactEmail },
    }
    return new Reply(200, await ticketPdf(content, new Date(seatCreatedAt)), {
      ...PRIVATE,
      'content-type': 'application/pdf',
      'content-disposition': `inline; filename="ticket-${lookup}.pdf"`,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
    })
  },
)
