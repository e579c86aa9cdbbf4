/**
 * Sending a newsletter in the background: one delivery per recipient. Each is marked as on its way, durably, before it goes out, so
 * that a crash leaves no doubt but about those few, which then read `unknown` and are not sent again.
 */
import { and, asc, eq, isNotNull, min, sql } from 'drizzle-orm'
import type { Registry } from '../../../db/control/registry.ts'
import type { Db, Reader } from '../../../db/driver.ts'
import { Busy } from '../../../db/errors.ts'
import type { Handle } from '../../../db/open.ts'
import { newsletterDeliveries, newsletters, subscribers } from '../../../db/store/newsletters.ts'
import { Refusal } from '../../values/refusal.ts'
import type { JobKind, Running } from '../../jobs/kind.ts'
import { MailError, MAILS_AT_ONCE, type Mailer } from '../../outside/mail.ts'
import type { Services } from '../../outside/services.ts'
import { addDeliveries, reach } from './audience.ts'
import { begin, end, fail } from './launch.ts'
import { cardsOf } from './cards.ts'
import { write } from './letter.ts'
import type { NewsletterRow } from './newsletter.ts'
import { defer, note, type Outcome } from './outcomes.ts'
import { readLooks } from '../../store/mails/looks.ts'
import { senderOf } from '../../store/mails/sender.ts'
import { shopLinks } from '../../store/mails/shop-links.ts'
import { subscriberLink } from '../subscribers/link.ts'
import { settingsIn } from '../../http/call.ts'

type Subscriber = typeof subscribers.$inferSelect

/** Deliveries to those who have left meanwhile that one transaction passes over. */
const SKIPPED_MAX = 100
/** A busy store is asked again so often, after this long. */
const BUSY_TRIES = 40
const BUSY_PAUSE_MS = 250

/** Newsletters that a process sends at once, of all stores: its other jobs are never kept waiting by them. */
const NEWSLETTERS_AT_ONCE = 3
/** Then the next store that waits has its turn. */
const TURN_MS = 30_000

const find = async (db: Reader, id: string) => (await db.select().from(newsletters).where(eq(newsletters.id, id)))[0]

/** The next pending delivery that may go out now. */
const pendingOf = (tx: Db, newsletterId: string, now: string) =>
  tx
    .select({ subscriberId: newsletterDeliveries.subscriberId })
    .from(newsletterDeliveries)
    .where(
      and(
        eq(newsletterDeliveries.newsletterId, newsletterId),
        eq(newsletterDeliveries.status, 'pending'),
        sql`(${newsletterDeliveries.notBefore} is null or ${newsletterDeliveries.notBefore} <= ${now})`,
      ),
    )
    .orderBy(asc(newsletterDeliveries.notBefore), asc(newsletterDeliveries.subscriberId))
    .limit(1)

/** Makes more deliveries; false when everybody has been looked at. */
async function fill(tx: Db, newsletterId: string, now: string): Promise<boolean> {
  const row = (await find(tx, newsletterId))!
  const made = await tx.$count(newsletterDeliveries, eq(newsletterDeliveries.newsletterId, newsletterId))
  // Never more than the quota was reserved for, should the audience have grown in between.
  const most = Math.max(0, row.reserved + row.triedBefore - made)
  const asked = { newsletterId, audience: row.audience, now }
  const end = await addDeliveries(tx, asked, { after: row.passedSubscriberId ?? '', last: row.lastSubscriberId ?? '', most })
  if (end === null) return false
  await tx.update(newsletters).set({ passedSubscriberId: end }).where(eq(newsletters.id, newsletterId))
  return true
}

/** Marks the next delivery as on its way, and tells to whom: null when none can go out now, `more` when many have left. */
async function next(tx: Db, newsletterId: string, now: string): Promise<Subscriber | 'more' | null> {
  for (let i = 0; i < SKIPPED_MAX; i++) {
    const [pending] = await pendingOf(tx, newsletterId, now)
    if (!pending) {
      if (await fill(tx, newsletterId, now)) continue
      return null
    }
    const { subscriberId } = pending
    const [subscriber] = await tx.select().from(subscribers).where(eq(subscribers.id, subscriberId))
    const status = subscriber?.status === 'active' ? 'sending' : 'skipped'
    await note(tx, newsletterId, { subscriberId, status, error: null }, now)
    if (status === 'sending') return subscriber!
  }
  return 'more'
}

type Needs = Pick<Services, 'registry' | 'mailers' | 'storefronts' | 'secrets'>

/** Makes the mails of a newsletter, one for each reader. */
async function composer(job: Running, row: NewsletterRow, services: Needs) {
  const { store, storeId } = job
  const { baseUrl } = services.mailers
  const settings = await settingsIn(store.read)
  const shop = await shopLinks(services, job, settings.defaultLanguage)
  const letter = write({
    content: row.content,
    cards: await cardsOf(store.read, row.products, settings, shop),
    ...{ settings, looks: await readLooks(store.read), home: shop?.home ?? null },
  })
  const sender = senderOf(settings, baseUrl)
  const listId = `newsletters.${storeId}.${new URL(baseUrl).hostname}`
  return ({ id, email, name, token }: Subscriber) => {
    const url = subscriberLink(baseUrl, 'unsubscribe', token)
    return {
      ...{ id: `${row.id}.${id}`, ...sender, to: { name: name ?? '', address: email }, subject: row.subject, ...letter(url) },
      headers: { 'List-ID': `<${listId}>`, 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
    }
  }
}

/** Writes, though the store is so busy that it refuses for a while: what became of a mail must not be lost to that. */
async function patiently<T>(store: Handle, fn: (tx: Db) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await store.write(fn)
    } catch (error) {
      if (!(error instanceof Busy) || tries === BUSY_TRIES) throw error
      await Bun.sleep(BUSY_PAUSE_MS)
    }
  }
}

/** Sends until nothing is left that can go out now, several mails at once. Throws what breaks it off; what is on its way is waited for. */
async function sendAll(
  { store, subject: id, clock, signal, held, progress }: Running,
  mailer: Mailer,
  compose: Awaited<ReturnType<typeof composer>>,
) {
  let broken: unknown
  const one = async () => {
    let done = null as Outcome | null
    for (;;) {
      const stop = signal.aborted || broken !== undefined
      const subscriber: Subscriber | 'more' | null = await patiently(store, async (tx) => {
        await (done?.status === 'sent' ? progress : held)(tx)
        const now = clock.now().toISOString()
        if (done) await (done.status === 'pending' && done.error !== null ? defer : note)(tx, id, done, now)
        return stop ? null : next(tx, id, now)
      })
      if (!subscriber) return
      done = null
      if (subscriber === 'more') continue
      const { id: subscriberId } = subscriber
      done = { subscriberId, status: 'sent', error: null }
      try {
        await mailer.send(compose(subscriber))
      } catch (thrown) {
        const error = thrown instanceof MailError ? thrown : new MailError('unknown', String(thrown))
        const { outcome, message } = error
        if (outcome === 'broken' || outcome === 'unknown') broken ??= error
        if (outcome === 'broken') done = { subscriberId, status: 'pending', error: null }
        else done = { subscriberId, status: outcome === 'deferred' ? 'pending' : outcome, error: message }
      }
    }
  }
  // One that fails stops the others, and they are waited for: what they have under way is noted before anybody takes over.
  const stopped = (error: unknown) => void (broken ??= error)
  await Promise.all(Array.from({ length: MAILS_AT_ONCE }, () => one().catch(stopped)))
  if (broken) throw broken
}

/** Begins a newsletter whose time has come; one that can't be sent fails with the reason. */
async function launch({ store, storeId, clock, held }: Running, registry: Registry, row: NewsletterRow): Promise<NewsletterRow | null> {
  const now = clock.now().toISOString()
  const reached = await reach(store, { newsletterId: row.id, audience: row.audience, now })
  const plan = (await registry.store(storeId))!.plan
  return store.write(async (tx) => {
    await held(tx)
    const newsletter = await find(tx, row.id)
    if (newsletter?.status !== 'scheduled') return null
    const settings = await settingsIn(tx)
    try {
      return await begin(tx, { newsletter, settings, plan, reached, now })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      await fail(tx, { clock, now }, newsletter, error.message)
      return null
    }
  })
}

/** The job: sends one newsletter to its end. A mail server that is down is tried for about half a minute. */
export const deliverNewsletter = (services: Needs): JobKind => ({
  retriesMs: [1_000, 2_000, 4_000, 8_000, 15_000],
  concurrency: NEWSLETTERS_AT_ONCE,
  budgetMs: TURN_MS,
  async run(job) {
    const { store, subject: id, clock, signal, environment } = job
    let row: NewsletterRow | null = (await find(store.read, id)) ?? null
    if (row?.status === 'scheduled') row = await launch(job, services.registry, row)
    if (row?.status !== 'sending') return
    await store.write(async (tx) => {
      await job.held(tx)
      const onTheirWay = and(eq(newsletterDeliveries.newsletterId, id), eq(newsletterDeliveries.status, 'sending'))
      const now = clock.now().toISOString()
      await tx
        .update(newsletterDeliveries)
        .set({ status: 'unknown', error: 'the process ended while it was on its way', updatedAt: now })
        .where(onTheirWay)
    })
    const mailer = await services.mailers.open(environment)
    try {
      await sendAll(job, mailer, await composer(job, row, services))
    } finally {
      mailer.close()
    }
    if (signal.aborted) return 'interrupted'
    return store.write(async (tx) => {
      await job.held(tx)
      const waiting = and(
        eq(newsletterDeliveries.newsletterId, id),
        eq(newsletterDeliveries.status, 'pending'),
        isNotNull(newsletterDeliveries.notBefore),
      )
      const [later] = await tx
        .select({ at: min(newsletterDeliveries.notBefore) })
        .from(newsletterDeliveries)
        .where(waiting)
      if (later?.at) return later.at
      await end(tx, { clock, now: clock.now().toISOString() }, (await find(tx, id))!)
    })
  },
  async givenUp(tx, about, id, { error }) {
    const row = await find(tx, id)
    if (row?.status === 'sending') await fail(tx, about, row, error)
  },
})
