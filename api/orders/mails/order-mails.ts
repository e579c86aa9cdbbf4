/** Mails about orders (document 3, email templates): confirmed, shipped, refunded, and the question how it is; each once. */
import { and, eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { orders, shipments } from '../../../db/store/orders.ts'
import { unwantedMails } from '../../../db/store/pages.ts'
import { refunds } from '../../../db/store/payments.ts'
import type { TemplateKind } from '../../content/mails/kinds.ts'
import { mailOf, pageValues, wayOut } from '../../content/mails/letter.ts'
import { settingsIn } from '../../http/call.ts'
import { noteGivenUp, noting } from '../../store/mails/mail-issue.ts'
import { MAIL_RETRIES_MS, sendNoted } from '../../store/mails/sent.ts'
import type { Values } from '../../content/mails/template.ts'
import type { Settings } from '../../http/route.ts'
import type { JobKind, Running } from '../../jobs/kind.ts'
import type { Services } from '../../outside/services.ts'
import { readLines, type LineRow, type OrderRow } from '../order.ts'
import { amountOf, orderValues, trackingValues, unitsTable } from './order-values.ts'
import { orderLinkOf } from './order-link.ts'
import { reviewLinks } from './review-link.ts'

/** What happened longer ago is no news: a job that comes so late sends nothing. */
const NEWS_MS = 30 * 86_400_000

interface Told {
  kind: TemplateKind
  order: OrderRow
  /** The shipment or refund that it is about; null: the order. */
  about: string | null
  /** When it happened. */
  at: string
  values(lines: readonly LineRow[], locale: string): Values
  headers?: Record<string, string>
}

const byId = (lines: readonly LineRow[]) => new Map(lines.map((line) => [line.id, line]))
const namedUnits = (lines: readonly LineRow[], units: readonly { lineId: string; quantity: number }[]) => {
  const known = byId(lines)
  return units.flatMap(({ lineId, quantity }) => (known.has(lineId) ? [{ line: known.get(lineId)!, quantity }] : []))
}
const orderOf = async (db: Reader, id: string) => (await db.select().from(orders).where(eq(orders.id, id)))[0]

async function parcel(db: Reader, id: string): Promise<Told | null> {
  const [row] = await db.select().from(shipments).where(eq(shipments.id, id))
  const order = row && (await orderOf(db, row.orderId))
  if (!order) return null
  const values = (lines: readonly LineRow[]) => ({ shippedLines: unitsTable(namedUnits(lines, row.lines)), ...trackingValues(row) })
  return { kind: 'shipment', order, about: id, at: row.createdAt, values }
}

/** What has left without a shipment that says so; null when parcels were told of all of it. */
async function rest(db: Reader, order: OrderRow, at: string): Promise<Told | null> {
  const parcels = await db.select({ lines: shipments.lines }).from(shipments).where(eq(shipments.orderId, order.id))
  const told = new Map<string, number>()
  for (const { lineId, quantity } of parcels.flatMap(({ lines }) => lines)) told.set(lineId, (told.get(lineId) ?? 0) + quantity)
  const left = (await readLines(db, order.id))
    .map((line) => ({ line, quantity: line.shippedQuantity - (told.get(line.id) ?? 0) }))
    .filter(({ line, quantity }) => quantity > 0 && line.shippable)
  if (!left.length) return null
  return { kind: 'shipment', order, about: null, at, values: () => ({ shippedLines: unitsTable(left), ...trackingValues(null) }) }
}

async function money(db: Reader, id: string): Promise<Told | null> {
  const [row] = await db.select().from(refunds).where(eq(refunds.id, id))
  const order = row && (await orderOf(db, row.orderId))
  if (!order || row.status !== 'succeeded' || !row.amountCents) return null
  const values = (lines: readonly LineRow[], locale: string) => ({
    amount: amountOf(row.amountCents, row.currency, locale),
    reason: row.reason ?? '',
    refundedLines: unitsTable(namedUnits(lines, row.lines)),
  })
  return { kind: 'refund', order, about: id, at: row.updatedAt, values }
}

/** What a job tells of; null when there is nothing to tell any more. */
async function toldOf({ store, storeId, environment, subject, clock }: Running, services: Needs, settings: Settings): Promise<Told | null> {
  const [kind, id] = subject.split(' ') as [string, string]
  const db = store.read
  if (kind === 'shipment') return parcel(db, id)
  if (kind === 'refund') return money(db, id)
  const order = await orderOf(db, id)
  if (!order || order.status === 'cancelled' || order.status === 'refunded') return null
  if (kind === 'order-confirmation') return { kind, order, about: null, at: order.paidAt ?? order.createdAt, values: () => ({}) }
  const now = clock.now().toISOString()
  if (kind === 'shipped') return rest(db, order, now)
  if (!settings.reviewRequest?.enabled || !settings.tools.reviews) return null
  if (await db.$count(unwantedMails, and(eq(unwantedMails.email, order.email), eq(unwantedMails.kind, 'review-request')))) return null
  const { write, stop } = reviewLinks(services, { storeId, environment }, order.id)
  const values = () => ({ reviewUrl: { url: write }, stopUrl: { url: stop } })
  return { kind: 'review-request', order, about: null, at: now, values, headers: wayOut(stop) }
}

/** The mail that a job's subject names, as it stands on its order; null when that is gone. */
async function mailOfSubject(db: Reader, kind: string, id: string) {
  const table = kind === 'shipment' ? shipments : kind === 'refund' ? refunds : null
  if (!table) return { orderId: id, kind: kind === 'shipped' ? 'shipment' : kind, about: null }
  const [row] = await db.select({ orderId: table.orderId }).from(table).where(eq(table.id, id))
  return row ? { orderId: row.orderId, kind, about: id } : null
}

type Needs = Pick<Services, 'mailers' | 'secrets' | 'storefronts'>

/** The job: one mail about one order, shipment or refund; none of a store that has turned outbound mail off. */
export const sendOrderMail = (services: Needs): JobKind => ({
  retriesMs: MAIL_RETRIES_MS,
  async run(job) {
    const { store, clock, subject } = job
    const settings = await settingsIn(store.read)
    if (!settings.email.outboundEnabled) return
    const told = await toldOf(job, services, settings)
    if (!told || clock.now().getTime() - Date.parse(told.at) > NEWS_MS) return
    const { kind, order } = told
    const lines = await readLines(store.read, order.id)
    const link = await orderLinkOf(store.read, order)
    const mail = await mailOf({ ...job, services }, settings, {
      id: `${subject.split(' ').toReversed().join('-')}`,
      ...{ kind, locale: order.locale, headers: told.headers, to: { name: order.name, address: order.email } },
      values: (locale, shop) => ({
        ...orderValues(order, lines, settings, locale),
        ...pageValues('order', shop && shop.order({ ...link, mailed: true }), locale),
        ...told.values(lines, locale),
      }),
    })
    await sendNoted(job, services.mailers, { mail, note: noting(job, { orderId: order.id, kind, about: told.about }) })
  },
  async givenUp(tx, moment, subject, failure) {
    const [kind, id] = subject.split(' ') as [string, string]
    const of = await mailOfSubject(tx, kind, id)
    if (of) await noteGivenUp(tx, moment, of, failure)
  },
})
