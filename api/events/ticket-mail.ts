/** The mail with the tickets of an order: sent once its seats are paid, with a code for the door and the event for the calendar. */
import { and, eq } from 'drizzle-orm'
import type { Db } from '../../db/driver.ts'
import { seats } from '../../db/store/events.ts'
import type { Settings } from '../http/route.ts'
import type { JobKind } from '../jobs/kind.ts'
import { enqueueBy } from '../jobs/queue.ts'
import { senderOf } from '../marketing/newsletters/sender.ts'
import type { Attachment } from '../outside/mail.ts'
import type { Services } from '../outside/services.ts'
import type { Moment } from '../values/clock.ts'
import { html, type Html } from '../values/html.ts'
import { factsOf, printedSeats, settingsOf, type PrintedSeat } from './printed.ts'
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
  /** The content id of its code; null for one with a link alone. */
  code: string | null
}

const guestOf = ({ name, buyer, email }: PrintedSeat) => (name ?? buyer ?? email).replace(/\s+/g, ' ')
/** The seats of each event, in their order. */
const byEvent = (shown: readonly Shown[]) => [...Map.groupBy(shown, ({ seat }) => seat.productId).values()]

function textOf(shown: readonly Shown[], more: string, settings: Settings): string {
  const parts = byEvent(shown).map((own) => {
    const { seat } = own[0]!
    const tickets = own.map(({ seat: one, link }, i) => `${i + 1}. ${guestOf(one)}: ${link}`)
    return [seat.event, ...factsOf(seat, settings), '', ...tickets].join('\n')
  })
  return `${parts.join('\n\n')}\n${more}\n`
}

function htmlOf(shown: readonly Shown[], more: string, settings: Settings): Html {
  return html`<div style="font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:0 auto">
    ${byEvent(shown).map((own) => {
      const { seat } = own[0]!
      return html`<h1 style="font-size:22px;margin:24px 0 4px">${seat.event}</h1>
        ${factsOf(seat, settings).map((fact) => html`<p style="margin:0">${fact}</p>`)}
        ${own.map(
          ({ seat: one, link, code }, i) =>
            html`<div style="margin:16px 0;padding:16px;border:1px solid #ccc;border-radius:8px">
              <p style="margin:0 0 8px"><strong>${i + 1}. ${guestOf(one)}</strong></p>
              ${code === null ? '' : html`<img src="cid:${code}" alt="Code for the door" width="222" height="222" style="display:block;background:#fff" />`}
              <p style="margin:8px 0 0"><a href="${link}">Print this ticket</a></p>
            </div>`,
        )}`
    })}
    <p>${more}</p>
  </div>`
}

/** The seats of an order with their codes, and what goes with the mail. */
async function shownOf(all: readonly PrintedSeat[], { secrets, mailers }: Pick<Services, 'secrets' | 'mailers'>) {
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
    shown.push({ seat, link: `${mailers.baseUrl}/api/v1/tickets/attendee/${token}/ticket.pdf`, code })
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

/** Sends the tickets of an order; none that is not paid any more, and none of a store that has turned outbound mail off. */
export const sendTickets = (services: Pick<Services, 'mailers' | 'secrets'>): JobKind => ({
  retriesMs: [5_000, 60_000, 600_000, 3_600_000, 6 * 3_600_000],
  async run({ store, environment, subject }) {
    const [orderId, again] = subject.split(' ') as [string, string?]
    const all = await printedSeats(store.read, and(eq(seats.orderId, orderId), eq(seats.state, 'valid'))!, LISTED_MAX + 1)
    const settings = await settingsOf(store.read)
    const [first] = all
    if (!first || !settings.email.outboundEnabled) return
    const { mailers } = services
    const { shown, attachments } = await shownOf(all.slice(0, LISTED_MAX), services)
    const names = [...new Set(all.map(({ event }) => event))]
    const rest = all.length > LISTED_MAX ? ' These are the first of your tickets: all of them are found in the shop.' : ''
    const more = `Order ${first.lookup}, access code ${first.accessCode}. Each code lets one person in, once.${rest}`
    const mailer = await mailers.open(environment)
    try {
      await mailer.send({
        id: `${orderId}-tickets${again === undefined ? '' : `-${again.replace(':', '')}`}`,
        ...senderOf(settings, mailers.baseUrl),
        to: { name: first.buyer ?? '', address: first.email },
        subject: `Your tickets for ${names.length > 1 ? `${names.length} events` : names[0]}`,
        text: textOf(shown, more, settings),
        html: htmlOf(shown, more, settings).text,
        headers: { 'Auto-Submitted': 'auto-generated' },
        attachments: [...attachments, ...(await calendars(all, new URL(mailers.baseUrl).hostname))],
      })
    } finally {
      mailer.close()
    }
  },
})
