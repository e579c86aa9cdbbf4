/** The mail with the tickets of an order: sent once its seats are paid, with a code for the door and the event for the calendar. */
import { and, eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { seats } from '../../db/store/events.ts'
import type { Settings } from '../http/route.ts'
import type { JobKind } from '../jobs/kind.ts'
import { enqueueBy } from '../jobs/queue.ts'
import { mailOf, pageValues } from '../content/mails/letter.ts'
import { shopLinks, type ShopLinks } from '../store/mails/shop-links.ts'
import { settingsIn } from '../http/call.ts'
import { noteGivenUp, noting } from '../store/mails/mail-issue.ts'
import { MAIL_RETRIES_MS, sendNoted } from '../store/mails/sent.ts'
import { oneLine, type Value } from '../content/mails/template.ts'
import type { Attachment } from '../outside/mail.ts'
import type { Services } from '../outside/services.ts'
import type { Moment } from '../values/clock.ts'
import { html, type Html } from '../values/html.ts'
import { factsOf, printedSeats, type PrintedSeat } from './printed.ts'
import { tokenOf } from './seat.ts'

export const TICKETS = 'order.tickets'

/** Seats that a mail shows a code of; the rest of those that it lists have a link. */
const CODES_MAX = 10
const LISTED_MAX = 100

/** Has the tickets of an order sent again, though they were before: a mail of its own, one a minute. */
export const askAgain = (tx: Db, moment: Moment, orderId: string) =>
  enqueueBy(tx, moment, { kind: TICKETS, subject: `${orderId} ${moment.now.slice(0, 16)}`, dueAt: moment.now })

/** Has the tickets of an order sent, once the change at hand is committed. */
export const askForTickets = (tx: Db, moment: Moment, orderId: string) =>
  enqueueBy(tx, moment, { kind: TICKETS, subject: orderId, dueAt: moment.now })

/** A seat as the mail shows it: how its guest opens it, and the picture of its code. */
interface Shown {
  seat: PrintedSeat
  link: string
  /** Its page in the shop; null where there is none. */
  page: string | null
  /** The content id of its code; null for one with a link alone. */
  code: string | null
}

const guestOf = ({ name, buyer, email }: PrintedSeat) => oneLine(name ?? buyer ?? email)
/** The seats of each event, in their order. */
const byEvent = (shown: readonly Shown[]) => [...Map.groupBy(shown, ({ seat }) => seat.productId).values()]

function textOf(shown: readonly Shown[], settings: Settings): string {
  const parts = byEvent(shown).map((own) => {
    const { seat } = own[0]!
    const tickets = own.map(({ seat: one, link, page }, i) => `${i + 1}. ${guestOf(one)}: ${page ?? link}`)
    return [seat.event, ...factsOf(seat, settings), '', ...tickets].join('\n')
  })
  return parts.join('\n\n')
}

function htmlOf(shown: readonly Shown[], settings: Settings): Html {
  return html`${byEvent(shown).map((own) => {
    const { seat } = own[0]!
    return html`<h1 style="font-size:22px;margin:24px 0 4px">${seat.event}</h1>
        ${factsOf(seat, settings).map((fact) => html`<p style="margin:0">${fact}</p>`)}
        ${own.map(
          ({ seat: one, link, page, code }, i) =>
            html`<div style="margin:16px 0;padding:16px;border:1px solid #ccc;border-radius:8px">
              <p style="margin:0 0 8px"><strong>${i + 1}. ${guestOf(one)}</strong></p>
              ${code === null ? '' : html`<img src="cid:${code}" alt="Code for the door" width="222" height="222" style="display:block;background:#fff" />`}
              <p style="margin:8px 0 0">${page && html`<a href="${page}">Open this ticket</a> · `}<a href="${link}">Print this ticket</a></p>
            </div>`,
        )}`
  })}`
}

/** The seats of an order with their codes, and what goes with the mail. */
async function shownOf(all: readonly PrintedSeat[], { secrets, mailers }: Needs, shop: ShopLinks | null) {
  const { qrPng } = await import('../printing/qr.ts')
  const attachments: Attachment[] = []
  const shown: Shown[] = []
  for (const seat of all) {
    const token = tokenOf(secrets, seat)
    // Sealed with a key that is gone: nobody can say what it was.
    if (token === null) continue
    const code = shown.length < CODES_MAX ? `${seat.id}@stoa` : null
    if (code !== null)
      attachments.push({ filename: `ticket-${shown.length + 1}.png`, type: 'image/png', content: await qrPng(token), contentId: code })
    shown.push({ seat, link: `${mailers.baseUrl}/api/v1/tickets/attendee/${token}/ticket.pdf`, page: shop && shop.ticket(token), code })
  }
  return { shown, attachments }
}

async function calendars(all: readonly PrintedSeat[], host: string): Promise<Attachment[]> {
  const { calendarOf } = await import('./calendar.ts')
  const dated = [...new Map(all.map((seat) => [seat.productId, seat])).values()]
  return dated.flatMap(({ productId: id, event: name, summary, startsAt, location, createdAt, updatedAt }, i) =>
    startsAt === null
      ? []
      : [
          {
            filename: `event-${i + 1}.ics`,
            type: 'text/calendar; charset=utf-8; method=PUBLISH',
            content: Buffer.from(calendarOf({ id, name, summary, startsAt, location, createdAt, updatedAt }, host)),
          },
        ],
  )
}

/** The mail as it stands on its order: sent again, it is the same one. */
const mailOnOrder = (orderId: string) => ({ orderId, kind: 'ticket', about: null })

type Needs = Pick<Services, 'secrets' | 'mailers' | 'storefronts'>

/** What is said below the tickets of an order with more than a mail lists. */
const REST: Value = {
  text: 'These are the first of your tickets: all of them are found in the shop.',
  html: html`<p>These are the first of your tickets: all of them are found in the shop.</p>`,
}

/** Sends the tickets of an order; none that is not paid any more, and none of a store that has turned outbound mail off. */
export const sendTickets = (services: Needs): JobKind => ({
  retriesMs: MAIL_RETRIES_MS,
  async run(job) {
    const { store, subject } = job
    const [orderId, again] = subject.split(' ') as [string, string?]
    const all = await printedSeats(store.read, and(eq(seats.orderId, orderId), eq(seats.state, 'valid'))!, LISTED_MAX + 1)
    const settings = await settingsIn(store.read)
    const [first] = all
    if (!first || !settings.email.outboundEnabled) return
    const { mailers } = services
    const shop = await shopLinks(services, job, first.locale)
    const { shown, attachments } = await shownOf(all.slice(0, LISTED_MAX), services, shop)
    const { accessCode: code, email } = first
    const names = [...new Set(all.map(({ event }) => event))]
    const mail = await mailOf({ ...job, services }, settings, {
      id: `${orderId}-tickets${again === undefined ? '' : `-${again.replace(':', '')}`}`,
      kind: 'ticket',
      locale: first.locale,
      to: { name: first.buyer, address: first.email },
      values: (locale) => ({
        ...pageValues('tickets', shop && shop.tickets({ code, email }), locale),
        ...{ orderNumber: String(first.lookup), accessCode: code },
        eventNames: names.length > 1 ? `${names.length} events` : names[0]!,
        tickets: { text: textOf(shown, settings), html: htmlOf(shown, settings) },
        rest: all.length > LISTED_MAX ? REST : '',
      }),
      attachments: [...attachments, ...(await calendars(all, new URL(mailers.baseUrl).hostname))],
    })
    await sendNoted(job, mailers, { mail, note: noting(job, mailOnOrder(orderId)) })
  },
  givenUp: (tx, moment, subject, failure) => noteGivenUp(tx, moment, mailOnOrder(subject.split(' ')[0]!), failure),
})
