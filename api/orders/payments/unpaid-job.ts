/** The job that cancels the orders of a store that have waited too long for their money (document 3, Orders). */
import { and, asc, eq, lte, sql } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { orders } from '../../../db/store/orders.ts'
import { settings as settingsTable } from '../../../db/store/store.ts'
import type { Provider } from '../../outside/payment-provider.ts'
import type { Services } from '../../outside/services.ts'
import type { JobKind, Running } from '../../jobs/kind.ts'
import { waitMs, type Awaiting } from './awaiting.ts'
import { endIntents } from './provider.ts'
import { cancelUnpaid } from './unpaid.ts'

/** Orders that are read at once, and those that one run deals with before others have their turn. */
const BATCH = 50
const RUN_MAX = 500
/** An order whose money is on its way (a bank takes days) is looked at again after this long. */
const LATER_MS = 3_600_000
/** A provider that can't be reached is asked again; what was given up all the same, the next checkout asks for anew. */
const RETRIES_MS = Array<number>(20).fill(10 * 60_000)

const iso = (ms: number) => new Date(ms).toISOString()

/** Orders that wait for their money since an instant or longer, those that wait longest first. */
export const waiting = (db: Reader, awaiting: Awaiting, until: string, limit: number) =>
  db
    .select({ id: orders.id, since: orders.awaitingSince })
    .from(orders)
    .where(and(sql`${orders.status} = 'pending'`, eq(orders.awaiting, awaiting), lte(orders.awaitingSince, until)))
    .orderBy(asc(orders.awaitingSince), asc(orders.id))
    .limit(limit)

/** Looks at an order again after a while. */
const postpone = ({ store, clock, progress }: Running, id: string, wait: number) =>
  store.write(async (tx) => {
    await progress(tx)
    await tx
      .update(orders)
      .set({ awaitingSince: iso(clock.now().getTime() - wait + LATER_MS) })
      .where(eq(orders.id, id))
  })

/** Ends one order. Its payment is given up at the provider first: once that is done, no money can come any more. */
async function end(job: Running, provider: Provider | null, id: string, wait: number) {
  const { store, clock, progress } = job
  const acting = { clock, now: iso(clock.now().getTime()), keyId: null }
  if (provider && !(await endIntents(store, provider, id, acting))) return postpone(job, id, wait)
  await store.write(async (tx) => {
    await progress(tx)
    await cancelUnpaid(tx, acting, id)
  })
}

/** Ends orders of one kind as long as `mayGoOn`; stops at the first that fails, which has its next turn after the others. */
async function endAll(
  job: Running,
  provider: Provider | null,
  { awaiting, wait, mayGoOn }: { awaiting: Awaiting; wait: number; mayGoOn(): boolean },
) {
  const { store, clock } = job
  for (;;) {
    const due = await waiting(store.read, awaiting, iso(clock.now().getTime() - wait), BATCH)
    if (!due.length) return
    for (const { id } of due) {
      if (!mayGoOn()) return
      try {
        await end(job, awaiting === 'stripe' ? provider : null, id, wait)
      } catch (error) {
        await postpone(job, id, wait)
        throw error
      }
    }
  }
}

/** Cancels what has waited too long, and is due again when the next order has. */
export const cancelUnpaidOrders = ({ payments: provider }: Pick<Services, 'payments'>): JobKind => ({
  retriesMs: RETRIES_MS,
  async run(job) {
    const { store, clock, signal } = job
    const [settings] = await store.read.select({ checkout: settingsTable.checkout }).from(settingsTable)
    const failures: unknown[] = []
    const next: number[] = []
    let left = RUN_MAX
    for (const awaiting of ['hand', 'stripe'] as const) {
      const wait = waitMs(awaiting, settings!, provider !== null)
      await endAll(job, provider, { awaiting, wait, mayGoOn: () => !signal.aborted && left-- > 0 }).catch((error) => failures.push(error))
      if (signal.aborted) return 'interrupted'
      const [first] = await waiting(store.read, awaiting, '9999', 1)
      if (first) next.push(Date.parse(first.since!) + wait)
    }
    if (failures.length) throw failures[0]
    return next.length ? iso(Math.max(clock.now().getTime(), Math.min(...next))) : undefined
  },
})
