/**
 * The job that delivers: one webhook's events, one after the other; more at once when it is far behind, but never two about the same
 * thing. What came of them is written a few at a time: a process that dies in between sends those again, under the same id.
 */
import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { webhookDeliveries, webhooks } from '../../../db/store/store.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { JobKind, Running } from '../../jobs/kind.ts'
import { NotFetched } from '../../outside/not-fetched.ts'
import type { Posted, Receiver } from '../../outside/post-public.ts'
import type { Services } from '../../outside/services.ts'
import { dueDeliveries, endSome, nextDelivery, nextTry, type Due } from './delivery.ts'
import { WEBHOOK_OFF } from './off-mail.ts'
import { secretsOf, signed, webhookNow, type WebhookRow } from './webhook.ts'

/** Deliveries that are read, with their bodies, and how many of them go at once where that many wait. */
const BATCH = 64
const AT_ONCE = 8
/** What came of so many, or after so long, is written; less often beside requests, which wait for it. */
const NOTED_AT_ONCE = 128
const NOTED_MS = 200
const NOTED_BUSY_MS = 2_000
/** How often it is looked for more until then. */
const LOOK_MS = 50
/** Others have their turn after this long. */
const BUDGET_MS = 10_000
/** What is on its way when a process is told to stop has this long. */
const LAST_WAIT_MS = 2_000
/** After so many failures in a row a webhook rests: for 5 s first, then twice as long each time, up to five minutes. */
const FAILURES_MAX = 3
const REST_MS = 5_000
const REST_MAX_MS = 300_000

interface Outcome extends Due {
  answer: Posted | null
  error: string | null
}
const isTaken = ({ answer }: Outcome) => answer !== null && answer.status >= 200 && answer.status < 300
const isGone = ({ answer }: Outcome) => answer?.status === 410

const restOf = (failures: number, now: Date): string | null =>
  failures < FAILURES_MAX
    ? null
    : new Date(now.getTime() + Math.min(REST_MAX_MS, REST_MS * 2 ** Math.min(10, failures - FAILURES_MAX))).toISOString()

/** One turn of a webhook: what it gets, and what came of it. */
class Turn {
  #outcomes: Outcome[] = []
  #sinceMs = Infinity
  /** Things of which something was not taken in this turn: what happened to them later waits. */
  readonly #failed = new Set<string>()
  /** What is on its way, or waits for it, about each thing: several things go at once, one thing one after the other. */
  readonly #lines = new Map<string, Promise<void>>()
  #failures: number
  /** It takes nothing now, or is not what it was. */
  isOver = false

  constructor(
    readonly services: Services,
    readonly job: Running,
    readonly receiver: Receiver,
    readonly row: WebhookRow,
  ) {
    this.#failures = row.failures
  }

  /** What is sent already, and what waits for it. */
  get sent() {
    return { seqs: this.#outcomes.map(({ seq }) => seq), abouts: [...this.#failed] }
  }

  /** Whether there is something to write, and more may come until it has to be. */
  get mayWait() {
    return this.#outcomes.length > 0 && !this.#isTime
  }

  get #isTime() {
    return performance.now() - this.#sinceMs >= (this.services.load.isBusy ? NOTED_BUSY_MS : NOTED_MS)
  }

  get #isEnding() {
    return this.isOver || this.job.signal.aborted
  }

  /** Sends what is due as far as it is taken. */
  async send(batch: readonly Due[]) {
    let next = 0
    const work = async () => {
      while (next < batch.length && !this.#isEnding) {
        const due = batch[next++]!
        const line = (this.#lines.get(due.about) ?? Promise.resolve()).then(() => this.#one(due))
        this.#lines.set(due.about, line)
        await line
      }
    }
    await Promise.all(Array.from({ length: batch.length === BATCH ? AT_ONCE : 1 }, work))
    this.#lines.clear()
    if (this.#outcomes.length >= NOTED_AT_ONCE || this.#isTime) await this.note()
  }

  async #one(due: Due) {
    if (this.#failed.has(due.about) || this.#isEnding) return
    await this.services.load.turn()
    const row = await webhookNow(this.job.store.read, this.row.id)
    if (!isSame(row, this.row)) return void (this.isOver = true)
    const answered = await this.#answerTo(due)
    if (!answered) return
    const outcome = { ...due, ...answered }
    // One that is forgotten is nobody's failure.
    if (isTaken(outcome)) this.#failures = 0
    else if (due.body !== null) {
      this.#failures++
      this.#failed.add(due.about)
      if (this.#failures >= FAILURES_MAX || isGone(outcome)) this.isOver = true
    }
    if (!this.#outcomes.length) this.#sinceMs = performance.now()
    this.#outcomes.push(outcome)
  }

  /** What came of one message; null when it was interrupted here, which is no try. */
  async #answerTo({ eventId, body }: Due): Promise<Pick<Outcome, 'answer' | 'error'> | null> {
    const { services, job, row } = this
    const now = job.clock.now()
    if (body === null) return { answer: null, error: 'the event is forgotten' }
    const secrets = secretsOf(services.secrets, job, row, now.toISOString())
    if (secrets === null) return { answer: null, error: 'its secret was sealed with another SECRET_KEY: rotate it' }
    const headers = { 'content-type': 'application/json', 'user-agent': 'Stoa', ...signed(secrets, eventId, body, now) }
    const last = new AbortController()
    const stopping = () => setTimeout(() => last.abort(), LAST_WAIT_MS).unref()
    if (job.ending.aborted) stopping()
    job.ending.addEventListener('abort', stopping, { once: true })
    try {
      const answer = await this.receiver.post(body, headers, last.signal)
      return { answer, error: answer.status >= 200 && answer.status < 300 ? null : `its server answers ${answer.status}` }
    } catch (error) {
      if (last.signal.aborted) return null
      if (!(error instanceof NotFetched)) throw error
      return { answer: null, error: error.message }
    } finally {
      job.ending.removeEventListener('abort', stopping)
    }
  }

  /** Writes what came of those that have been sent. */
  async note() {
    const outcomes = this.#outcomes
    this.#outcomes = []
    this.#sinceMs = Infinity
    if (!outcomes.length) return
    const { job } = this
    await job.store.write(async (tx) => {
      await job.progress(tx)
      const at = job.clock.now()
      await noteTaken(tx, outcomes.filter(isTaken), at.toISOString())
      const row = await webhookNow(tx, this.row.id)
      // Not taken at an address that it has no more, or by one that is off: that says nothing of what it is now.
      if (row && isSame(row, this.row)) await this.#judge(tx, row, outcomes, at)
    })
  }

  /** Writes what was not taken, and how the webhook stands. */
  async #judge(tx: Db, row: WebhookRow, outcomes: readonly Outcome[], at: Date) {
    const { clock } = this.job
    const now = at.toISOString()
    const lastDeliveredAt = outcomes.some(isTaken) ? now : row.lastDeliveredAt
    let reason: WebhookRow['disabledReason'] = null
    for (const outcome of outcomes.filter((one) => !isTaken(one))) {
      const isLast = await noteFailed(tx, outcome, at)
      if (isGone(outcome)) reason = 'gone'
      // One that alone is not taken, of a webhook that takes others, is no reason to turn it off.
      else if (isLast && outcome.body !== null && (lastDeliveredAt ?? '') < (outcome.firstTryAt ?? now)) reason ??= 'failing'
    }
    const off = reason === null ? {} : { active: false, disabledReason: reason, disabledAt: now, updatedAt: now }
    const standing = { failures: this.#failures, restUntil: restOf(this.#failures, at), lastDeliveredAt }
    await tx
      .update(webhooks)
      .set({ ...standing, ...off })
      .where(eq(webhooks.id, row.id))
    if (reason !== null) await enqueue(tx, { clock, now }, { kind: WEBHOOK_OFF, subject: `${row.id} ${now}`, dueAt: now })
  }
}

/** Whether a webhook still is what a turn began with: at the same address, with the same secrets, not turned off. */
const isSame = (row: WebhookRow | undefined, before: WebhookRow): boolean =>
  row !== undefined && row.active && row.url === before.url && row.secret === before.secret && row.updatedAt === before.updatedAt

/** Writes that deliveries were taken, in one statement for all that were answered alike. */
async function noteTaken(tx: Db, taken: readonly Outcome[], now: string) {
  const alike = Map.groupBy(taken, ({ answer }) => `${answer!.status} ${answer!.body}`)
  const { tries, firstTryAt, seq } = webhookDeliveries
  for (const group of alike.values()) {
    const { status, body } = group[0]!.answer!
    const seqs = JSON.stringify(group.map((one) => one.seq))
    await tx
      .update(webhookDeliveries)
      .set({
        ...{ status: 'delivered', tries: sql`${tries} + 1`, firstTryAt: sql`coalesce(${firstTryAt}, ${now})`, dueAt: null },
        ...{ lastStatus: status, lastBody: body, lastError: null, deliveredAt: now },
      })
      .where(sql`${seq} in (select value from json_each(${seqs}))`)
  }
}

/** Writes that a delivery was not taken; whether that was the last try. */
async function noteFailed(tx: Db, { id, answer, error, body, ...outcome }: Outcome, now: Date): Promise<boolean> {
  const tries = outcome.tries + 1
  const firstTryAt = outcome.firstTryAt ?? now.toISOString()
  const dueAt = body === null || answer?.status === 410 ? null : nextTry(tries, firstTryAt, now)
  const status = dueAt === null ? ('failed' as const) : ('pending' as const)
  const last = { lastStatus: answer?.status ?? null, lastBody: answer?.body ?? null, lastError: error }
  await tx
    .update(webhookDeliveries)
    .set({ status, tries, firstTryAt, dueAt, ...last })
    .where(eq(webhookDeliveries.id, id))
  return status === 'failed'
}

/** Ends what a webhook that is off would have got, some at a time; not when it is on again. */
async function endRest({ store, subject, held }: Running) {
  const some = () =>
    store.write(async (tx) => {
      await held(tx)
      return (await webhookNow(tx, subject))?.active === false && endSome(tx, subject)
    })
  while (await some()) await Bun.sleep(1)
}

async function run(services: Services, job: Running): Promise<'interrupted' | void> {
  const { store, subject: webhookId, clock, signal } = job
  let turn: Turn | null = null
  try {
    for (;;) {
      const row = await webhookNow(store.read, webhookId)
      const now = clock.now().toISOString()
      // What was changed meanwhile counts from the next message on.
      if (turn && (turn.isOver || !isSame(row, turn.row))) {
        turn = await ended(turn)
        continue
      }
      if (!row) return
      if (!row.active) return await endRest(job)
      if (row.restUntil !== null && row.restUntil > now) return
      const sent = turn?.sent ?? { seqs: [], abouts: [] }
      const batch = signal.aborted ? [] : await dueDeliveries(store.read, { webhookId, now, limit: BATCH, sent })
      if (batch.length) await (turn ??= new Turn(services, job, services.postPublic.to(row.url, AT_ONCE), row)).send(batch)
      else if (turn?.mayWait && !signal.aborted) await Bun.sleep(LOOK_MS)
      else {
        if (turn) turn = await ended(turn)
        return signal.aborted ? 'interrupted' : undefined
      }
    }
  } finally {
    turn?.receiver.close()
  }
}

/** Writes what came of a turn's messages, and lets go of its connections. */
async function ended(turn: Turn): Promise<null> {
  await turn.note()
  turn.receiver.close()
  return null
}

export const deliverWebhook = (services: Services): JobKind => ({
  run: (job) => run(services, job),
  async next(tx, { subject, now }) {
    const row = await webhookNow(tx, subject)
    if (!row) return undefined
    const due = await nextDelivery(tx, subject, now)
    // One that is off ends what waits, at once.
    return due !== undefined && row.active && row.restUntil !== null && row.restUntil > due ? row.restUntil : due
  },
  isApart: true,
  budgetMs: BUDGET_MS,
  // What went wrong was ours, such as a full disk: it goes on for as long as deliveries may wait.
  retriesMs: [1_000, 5_000, 30_000, ...Array<number>(500).fill(600_000)],
})
