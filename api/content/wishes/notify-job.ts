/**
 * The mails to those who wait for a variant that is back. Each is marked as on its way, durably, before it leaves: a crash leaves no
 * doubt but about those few, which then read `unknown` and get no other.
 */
import { and, asc, eq, lte, sql } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { availabilityNotifications as table } from '../../../db/store/visitors.ts'
import type { Settings } from '../../http/route.ts'
import type { JobKind, Running } from '../../jobs/kind.ts'
import { MailError, MAILS_AT_ONCE, type Mailer } from '../../outside/mail.ts'
import type { Services } from '../../outside/services.ts'
import { translationsFor } from '../../catalog/translated.ts'
import { senderOf } from '../../store/mails/sender.ts'
import { html } from '../../values/html.ts'
import { later } from '../../values/time.ts'
import { button, framed } from '../../store/mails/frame.ts'
import { shopLinks } from '../../store/mails/shop-links.ts'
import { mailOf, pageValues, wayOut } from '../mails/letter.ts'
import { settingsIn } from '../../http/call.ts'
import { MAIL_RETRIES_MS, sendOnce } from '../../store/mails/sent.ts'
import { oneLine } from '../mails/template.ts'
import { findWanted, wishLink, type Notification } from './notification.ts'

/** A mail server may ask so often to try an address later; the pauses between. */
const DEFERRALS_MS = [60_000, 300_000, 1_800_000]
/** Then the next store that waits has its turn. */
const TURN_MS = 30_000

/** What became of one mail; `broken`: nothing can be sent now, and it was not. */
type Outcome = { row: Notification; outcome: 'sent' | MailError['outcome']; error: string | null }

/** When somebody may be told, as the index of those who wait has it. */
const turnAt = sql`coalesce(${table.notBefore}, '')`
const waitingFor = (variantId: string) => and(eq(table.variantId, variantId), sql`${table.status} = 'waiting'`)

/** Notes what became of mails. */
async function note(tx: Db, outcomes: readonly Outcome[], now: string) {
  for (const { row, outcome, error } of outcomes) {
    const pause = outcome === 'deferred' ? DEFERRALS_MS[row.deferrals] : undefined
    const next =
      outcome === 'sent'
        ? { status: 'sent' as const, notifiedAt: now }
        : outcome === 'broken'
          ? { status: 'waiting' as const }
          : pause !== undefined
            ? { status: 'waiting' as const, deferrals: row.deferrals + 1, notBefore: later(now, pause) }
            : { status: outcome === 'unknown' ? ('unknown' as const) : ('failed' as const) }
    await tx
      .update(table)
      .set({ ...next, error, updatedAt: now })
      .where(eq(table.id, row.id))
  }
}

/** Marks the next few as on their way; none when the variant can't be bought any more. */
async function next(tx: Db, variantId: string, now: string): Promise<Notification[]> {
  if (!(await findWanted(tx, variantId))?.available) return []
  const due = and(waitingFor(variantId), lte(turnAt, now))
  const rows = await tx.select().from(table).where(due).orderBy(asc(turnAt), asc(table.id)).limit(MAILS_AT_ONCE)
  for (const { id } of rows) await tx.update(table).set({ status: 'sending', updatedAt: now }).where(eq(table.id, id))
  return rows
}

/** What is wanted, called as the mail's language calls it. */
async function inLanguage(db: Reader, wanted: NonNullable<Awaited<ReturnType<typeof findWanted>>>, locale: string | null) {
  const { name, slug } = (await translationsFor(db, 'product', locale, [wanted.productId])).get(wanted.productId) ?? {}
  return { ...wanted, productName: name ?? wanted.productName, productSlug: slug ?? wanted.productSlug }
}

type Needs = Pick<Services, 'mailers' | 'storefronts' | 'secrets'>

async function sendOne(job: Running, mailer: Mailer, services: Needs, settings: Settings, row: Notification): Promise<Outcome> {
  const { store } = job
  try {
    const wanted = await findWanted(store.read, row.variantId)
    if (!wanted) return { row, outcome: 'broken', error: 'it is gone' }
    const { name, productName, productSlug } = await inLanguage(store.read, wanted, row.locale)
    const stopUrl = wishLink(services.mailers.baseUrl, 'stop', row.token)
    const mail = await mailOf({ ...job, services }, settings, {
      id: `${row.id}-back`,
      ...{ kind: 'back-in-stock', locale: row.locale, to: { name: null, address: row.email } },
      values: (locale, shop) => ({
        ...pageValues('product', shop && shop.product(productSlug), locale),
        ...{ productName, productSlug, variantName: name === wanted.productName ? '' : name, stopUrl: { url: stopUrl } },
      }),
      headers: wayOut(stopUrl),
    })
    await mailer.send(mail)
    return { row, outcome: 'sent', error: null }
  } catch (thrown) {
    const error = thrown instanceof MailError ? thrown : new MailError('unknown', String(thrown))
    return { row, outcome: error.outcome, error: error.message }
  }
}

/** The job: tells those who wait for one variant, a few at once, until none is left that may be told now. */
export const notifyWaiting = (services: Needs): JobKind => ({
  retriesMs: MAIL_RETRIES_MS,
  budgetMs: TURN_MS,
  async run(job) {
    const { store, subject: variantId, clock, signal, environment } = job
    const settings = await settingsIn(store.read)
    if (!settings.email.outboundEnabled) return
    const onTheirWay = and(eq(table.variantId, variantId), eq(table.status, 'sending'))
    const instant = () => clock.now().toISOString()
    await store.write(async (tx) => {
      await job.held(tx)
      const error = 'the process ended while it was on its way'
      await tx.update(table).set({ status: 'unknown', error, updatedAt: instant() }).where(onTheirWay)
    })
    const mailer = await services.mailers.open(environment)
    try {
      let outcomes: Outcome[] = []
      for (;;) {
        const broken = outcomes.find(({ outcome }) => outcome === 'broken' || outcome === 'unknown')
        const rows = await store.write(async (tx) => {
          await (outcomes.some(({ outcome }) => outcome === 'sent') ? job.progress : job.held)(tx)
          await note(tx, outcomes, instant())
          return broken || signal.aborted ? [] : next(tx, variantId, instant())
        })
        if (broken) throw new Error(broken.error ?? broken.outcome)
        if (!rows.length) break
        outcomes = await Promise.all(rows.map((row) => sendOne(job, mailer, services, settings, row)))
      }
    } finally {
      mailer.close()
    }
    if (signal.aborted) return 'interrupted'
    const [first] = await store.read.select({ at: table.notBefore }).from(table).where(waitingFor(variantId)).orderBy(asc(turnAt)).limit(1)
    if (first?.at && (await findWanted(store.read, variantId))?.available) return first.at
  },
})

/** The job that asks an address whether it wants the mail (double opt-in). */
export const askWaiting = (services: Needs): JobKind => ({
  retriesMs: MAIL_RETRIES_MS,
  async run(job) {
    const { store, subject } = job
    const { mailers } = services
    const home = (await shopLinks(services, job, null))?.home ?? null
    const [row] = await store.read.select().from(table).where(eq(table.id, subject))
    const settings = await settingsIn(store.read)
    const wanted = row && (await findWanted(store.read, row.variantId))
    if (row?.status !== 'pending' || !wanted || !settings.email.outboundEnabled) return
    const link = wishLink(mailers.baseUrl, 'confirm', row.token)
    const { name, productName } = wanted
    const question = oneLine(`Shall ${settings.name} tell you when ${name === productName ? name : `${productName}, ${name},`} is back?`)
    const otherwise = 'If you did not ask for this, do nothing: you will get no more mail.'
    const body = html`<p>${question}</p>${button(link, 'Yes, tell me')}<p>${otherwise}</p>`
    await sendOnce(job, mailers, {
      id: `${row.id}-${Date.parse(row.askedAt!)}`,
      ...senderOf(settings, mailers.baseUrl),
      ...{ to: { name: '', address: row.email }, subject: question },
      text: `${question}\n\nOpen this page to confirm:\n${link}\n\n${otherwise}\n`,
      html: await framed(store.read, settings, { language: 'en', body: body.text, home }),
      headers: { 'Auto-Submitted': 'auto-generated', ...wayOut(wishLink(mailers.baseUrl, 'stop', row.token)) },
    })
  },
})
