/**
 * The job that delivers: one webhook's events, one after the other; more at once when it is far behind, but never two about the same
 * thing. What came of them is written a few at a time: a process that dies in between sends those again, under the same id.
 */
import { and, asc, eq, inArray } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { webhookDeliveries, webhooks } from '../../../db/store/store.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { JobKind, Running } from '../../jobs/kind.ts'
import { NotFetched } from '../../outside/not-fetched.ts'
import type { Posted, Receiver } from '../../outside/post-public.ts'
import type { Services } from '../../outside/services.ts'
import { dueDeliveries, nextDelivery, nextTry, type Due } from './delivery.ts'
import { WEBHOOK_OFF } from './off-mail.ts'
import { secretsOf, signed, type WebhookRow } from './webhook.ts'

/** Deliveries that are read, with their bodies, and how many of them go at once where that many wait. */
const BATCH = 64
const AT_ONCE = 8
/** What came of so many, or after so long, is written. */
const NOTED_AT_ONCE = 32
const NOTED_MS = 250
/** Others have their turn after this long. */
const BUDGET_MS = 10_000
/** What is on its way when a process is told to stop has this long. */
const LAST_WAIT_MS = 2_000
/** After so many failures in a row a webhook rests: for 5 s first, then twice as long each time, up to five minutes. */
const FAILURES_MAX = 3
const REST_MS = 5_000
const REST_MAX_MS = 300_000
/** Deliveries of a webhook that is off which are ended in one transaction. */
const ENDED_AT_ONCE = 500

interface Outcome extends Due {
  answer: Posted | null
  error: string | null
}
const isTaken = ({ answer }: Outcome) => answer !== null && answer.status >= 200 && answer.status < 300

const restOf = (failures: number, now: Date): string | null =>
  failures < FAILURES_MAX
    ? null
    : new Date(now.getTime() + Math.min(REST_MAX_MS, REST_MS * 2 ** Math.min(10, failures - FAILURES_MAX))).toISOString()

/** One turn of a webhook: what it gets, and what came of it. */
class Turn {
  readonly #outcomes: Outcome[] = []
  #notedAt = performance.now()
  /** Things of which something was not taken in this turn: what happened to them later waits. */
  readonly #failed = new Set<string>()
  readonly #underway = new Map<string, Promise<void>>()
  /** It takes nothing now. */
  #isOver = false

  constructor(
    readonly services: Services,
    readonly job: Running,
    readonly receiver: Receiver,
    readonly row: WebhookRow,
  ) {}

  /** Sends what is due as far as it is taken; whether to go on. */
  async send(batch: readonly Due[]): Promise<boolean> {
    let next = 0
    const work = async () => {
      while (next < batch.length && !this.#isOver && !this.job.signal.aborted) {
        const due = batch[next++]!
        // Where several go at once, what happened to one thing goes one after the other.
        while (this.#underway.has(due.about)) await this.#underway.get(due.about)
        if (this.#failed.has(due.about) || this.#isOver) continue
        const sending = this.#one(due).finally(() => this.#underway.delete(due.about))
        this.#underway.set(due.about, sending)
        await sending
      }
    }
    await Promise.all(Array.from({ length: batch.length === BATCH ? AT_ONCE : 1 }, work))
    await this.#note()
    return !this.#isOver
  }

  async #one(due: Due) {
    const outcome = { ...due, ...(await this.#answerTo(due)) }
    if (isTaken(outcome)) this.row.failures = 0
    else {
      this.row.failures++
      this.#failed.add(due.about)
      if (this.row.failures >= FAILURES_MAX || outcome.answer?.status === 410) this.#isOver = true
    }
    this.#outcomes.push(outcome)
    if (this.#outcomes.length >= NOTED_AT_ONCE || performance.now() - this.#notedAt > NOTED_MS) await this.#note()
  }

  async #answerTo({ eventId, body }: Due): Promise<Pick<Outcome, 'answer' | 'error'>> {
    const { services, job, row } = this
    const now = job.clock.now()
    const secrets = secretsOf(services.secrets, job, row, now.toISOString())
    if (secrets === null) return { answer: null, error: 'its secret was sealed with another SECRET_KEY: rotate it' }
    if (body === null) return { answer: null, error: 'the event is forgotten' }
    const headers = { 'content-type': 'application/json', 'user-agent': 'Stoa', ...signed(secrets, eventId, body, now) }
    const last = new AbortController()
    const stopping = () => setTimeout(() => last.abort(), LAST_WAIT_MS).unref()
    job.signal.addEventListener('abort', stopping, { once: true })
    try {
      const answer = await this.receiver.post(body, headers, last.signal)
      return { answer, error: answer.status >= 200 && answer.status < 300 ? null : `its server answers ${answer.status}` }
    } catch (error) {
      if (!(error instanceof NotFetched)) throw error
      return { answer: null, error: error.message }
    } finally {
      job.signal.removeEventListener('abort', stopping)
    }
  }

  /** Writes what came of those that have been sent. */
  async #note() {
    const outcomes = this.#outcomes.splice(0)
    this.#notedAt = performance.now()
    if (!outcomes.length) return
    const { job, row } = this
    const { failures } = row
    await job.store.write(async (tx) => {
      await job.progress(tx)
      const at = job.clock.now()
      const now = at.toISOString()
      let isOff: WebhookRow['disabledReason'] = null
      for (const outcome of outcomes) {
        const isLast = await noteOne(tx, outcome, at)
        if (isTaken(outcome)) row.lastDeliveredAt = now
        if (outcome.answer?.status === 410) isOff = 'gone'
        // One that alone is not taken, of a webhook that takes others, is no reason to turn it off.
        else if (isLast && (row.lastDeliveredAt ?? '') < (outcome.firstTryAt ?? now)) isOff ??= 'failing'
      }
      const off = isOff === null ? {} : { active: false, disabledReason: isOff, disabledAt: now, updatedAt: now }
      const standing = { failures, restUntil: restOf(failures, at), lastDeliveredAt: row.lastDeliveredAt }
      await tx
        .update(webhooks)
        .set({ ...standing, ...off })
        .where(eq(webhooks.id, row.id))
      if (isOff !== null) await enqueue(tx, { clock: job.clock, now }, { kind: WEBHOOK_OFF, subject: `${row.id} ${now}`, dueAt: now })
    })
  }
}

/** Writes what came of one try; whether it was the last one. */
async function noteOne(tx: Db, outcome: Outcome, now: Date): Promise<boolean> {
  const { id, answer, error, body } = outcome
  const wire = now.toISOString()
  const tries = outcome.tries + 1
  const firstTryAt = outcome.firstTryAt ?? wire
  const isDelivered = isTaken(outcome)
  const dueAt = isDelivered || body === null || answer?.status === 410 ? null : nextTry(tries, firstTryAt, now)
  const status = isDelivered ? ('delivered' as const) : dueAt === null ? ('failed' as const) : ('pending' as const)
  const last = { lastStatus: answer?.status ?? null, lastBody: answer?.body ?? null, lastError: error }
  await tx
    .update(webhookDeliveries)
    .set({ status, tries, firstTryAt, dueAt, ...last, ...(isDelivered ? { deliveredAt: wire } : {}) })
    .where(eq(webhookDeliveries.id, id))
  return status === 'failed'
}

/** Ends what a webhook that is off would have got. */
async function endRest({ store, subject, held }: Running) {
  const { id, webhookId, status, seq } = webhookDeliveries
  for (;;) {
    const ended = await store.write(async (tx) => {
      await held(tx)
      const waiting = and(eq(webhookId, subject), eq(status, 'pending'))
      const rows = await tx.select({ id }).from(webhookDeliveries).where(waiting).orderBy(asc(seq)).limit(ENDED_AT_ONCE)
      const ids = rows.map((row) => row.id)
      if (ids.length)
        await tx
          .update(webhookDeliveries)
          .set({ status: 'failed', dueAt: null, lastError: 'the webhook was turned off' })
          .where(inArray(id, ids))
      return ids.length
    })
    if (ended < ENDED_AT_ONCE) return
    await Bun.sleep(1)
  }
}

async function run(services: Services, job: Running): Promise<string | 'interrupted' | void> {
  const { store, subject, clock, signal } = job
  let receiver: Receiver | null = null
  let url: string | null = null
  try {
    for (;;) {
      if (signal.aborted) return 'interrupted'
      const [row] = await store.read.select().from(webhooks).where(eq(webhooks.id, subject))
      if (!row) return
      if (!row.active) return await endRest(job)
      const now = clock.now().toISOString()
      if (row.restUntil !== null && row.restUntil > now) return row.restUntil
      const batch = await dueDeliveries(store.read, subject, now, BATCH)
      if (!batch.length) return await nextDelivery(store.read, subject, now)
      if (row.url !== url) {
        receiver?.close()
        receiver = services.postPublic.to((url = row.url), AT_ONCE)
      }
      await new Turn(services, job, receiver!, row).send(batch)
    }
  } finally {
    receiver?.close()
  }
}

export const deliverWebhook = (services: Services): JobKind => ({
  run: (job) => run(services, job),
  isApart: true,
  budgetMs: BUDGET_MS,
  // What went wrong was ours, such as a full disk: it goes on for as long as deliveries may wait.
  retriesMs: [1_000, 5_000, 30_000, ...Array<number>(500).fill(600_000)],
})
