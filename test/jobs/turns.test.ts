/** Whose turn it is: jobs of deleted stores, of kinds with a limit, and those whose time is up. */
import { like, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { realClock } from '../../api/values/clock.ts'
import { createLog } from '../../api/server/log.ts'
import type { JobKind, Running } from '../../api/jobs/kind.ts'
import { enqueue } from '../../api/jobs/queue.ts'
import { Runner } from '../../api/jobs/runner.ts'
import { leases } from '../../db/control/tables.ts'
import { createDatabase, databaseName } from '../../db/open.ts'
import { testApp, type TestApp } from '../harness.ts'

let app: TestApp
let said: string[]
beforeAll(async () => {
  app = await testApp()
})
beforeEach(() => (said = []))
afterAll(() => app.close())

const now = () => new Date().toISOString()
const newStores = async (count: number) => {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push((await app.newStore()).store.id)
  return ids
}
const asked = async (storeId: string, subject: string, kind = 'test') =>
  app.handles.use(storeId, 'live', (store) =>
    store.write((tx) => enqueue(tx, { clock: realClock, now: now() }, { kind, subject, dueAt: now() })),
  )
const runnerOf = (kinds: Record<string, JobKind>, leaseMs?: number) =>
  new Runner({
    leaseMs,
    registry: app.registry,
    handles: app.handles,
    kinds,
    clock: realClock,
    log: createLog('warn', { write: (text) => void said.push(text) }),
  })
const jobsOf = (storeId: string) =>
  app.handles.use(storeId, 'live', ({ read }) => read.all<[string, number]>(sql`select subject, attempts from jobs order by subject`))
const untilAborted = (signal: AbortSignal) =>
  new Promise<'interrupted'>((resolve) => signal.addEventListener('abort', () => resolve('interrupted')))

/** Deletes a store as another process does, which this one hears of through the registry alone. */
const deletedElsewhere = (storeId: string) => app.elsewhere((registry) => registry.deleteStore(storeId))

describe('a job of a store that another process deletes', () => {
  /** Goes on step by step, until it is told to stop: two steps, then whatever `between` does, then more. */
  async function steps(between: (storeId: string) => Promise<unknown>) {
    const [storeId] = (await newStores(1)) as [string]
    let taken = 0
    const run = async ({ store, held }: Running) => {
      for (;;) {
        await store.write(held)
        if (++taken === 2) await between(storeId)
        if (taken > 10) return
      }
    }
    const runner = runnerOf({ test: { concurrency: 1, retriesMs: [0], run } })
    await asked(storeId, 'a')
    await asked(storeId, 'b')
    await runner.settle()
    await app.registry.deleteStore(storeId)
    return taken
  }

  test('stops at its next step, no other one of it begins, and nothing is said of either', async () => {
    expect(await steps(deletedElsewhere)).toBe(2)
    expect(said).toEqual([])
  })

  test('stops, too, when the store comes back: what is written to its old file is lost', async () => {
    const comesBack = async (storeId: string) => {
      const row = (await app.registry.store(storeId))!
      await deletedElsewhere(storeId)
      await createDatabase(app.location, databaseName(storeId, 'live'), 'store')
      await app.registry.adoptStore(row, [])
    }
    expect(await steps(comesBack)).toBe(2)
  })
})

describe('a kind with a limit', () => {
  test('has a turn for each store that waits, however many such jobs the first one has', async () => {
    const [many, ...others] = (await newStores(4)) as [string, ...string[]]
    for (let i = 0; i < 6; i++) await asked(many, `${i}`)
    const order: string[] = []
    const first = Promise.withResolvers<void>()
    const all = Promise.withResolvers<void>()
    const runner = runnerOf({
      test: {
        concurrency: 1,
        retriesMs: [],
        async run({ storeId }) {
          order.push(storeId)
          if (order.length === 1) {
            first.resolve()
            await all.promise
          }
        },
      },
    })
    const settled = runner.settle()
    await first.promise
    for (const id of others) {
      await asked(id, 'only')
      await runner.look(id, 'live')
    }
    all.resolve()
    await settled
    expect(order).toHaveLength(9)
    // The second one of the first store waits with the others, not before them all.
    expect(order.slice(0, 5).toSorted()).toEqual([many, many, ...others].toSorted())
  })

  test('hands a slot on to nobody who has nothing left to do', async () => {
    const [a, b, c] = (await newStores(3)) as [string, string, string]
    const order: string[] = []
    const first = Promise.withResolvers<void>()
    const all = Promise.withResolvers<void>()
    const run = async ({ storeId }: Running) => {
      order.push(storeId)
      first.resolve()
      await all.promise
    }
    const runner = runnerOf({ test: { concurrency: 1, retriesMs: [], run } })
    await asked(a, 'a')
    const settled = runner.settle()
    await first.promise
    for (const id of [b, c]) {
      await asked(id, 'x')
      await runner.look(id, 'live')
    }
    // Done by another process meanwhile.
    await app.handles.use(b, 'live', (store) => store.write((tx) => tx.run(sql`delete from jobs`)))
    all.resolve()
    await settled
    expect(order).toEqual([a, c])
  })
})

describe('a job of a process that dies', () => {
  test('goes on in another one that has looked before, shortly after its lease ends', async () => {
    const [storeId] = (await newStores(1)) as [string]
    const done = Promise.withResolvers<void>()
    const survivor = runnerOf({ test: { retriesMs: [0], run: async () => done.resolve() } }, 900)
    survivor.start()
    await survivor.lookRound(0)
    const runs = Promise.withResolvers<void>()
    // It claims the job and is heard of no more: it prolongs nothing and says nothing.
    const dead = runnerOf({ test: { retriesMs: [0], run: () => (runs.resolve(), new Promise<void>(() => {})) } }, 3_000)
    await asked(storeId, 'a')
    void dead.settle()
    await runs.promise
    void dead.stop()
    await app.handles.use(storeId, 'live', (store) =>
      store.write((tx) =>
        tx.run(sql`update jobs set lease_token = 'elsewhere 1 n x', lease_until = ${new Date(Date.now() + 1_000).toISOString()}`),
      ),
    )
    await done.promise
    await survivor.stop()
    expect(await jobsOf(storeId)).toEqual([])
  })

  test('is told of in the registry as long as it runs, and no more after a polite stop', async () => {
    const told = () =>
      app.registry.control.read
        .select()
        .from(leases)
        .where(like(leases.name, `jobs ${storeId} %`))
    const [storeId] = (await newStores(1)) as [string]
    const runs = Promise.withResolvers<void>()
    const runner = runnerOf({ test: { retriesMs: [0], run: ({ signal }) => (runs.resolve(), untilAborted(signal)) } }, 900)
    await asked(storeId, 'a')
    runner.start()
    await runs.promise
    const [first] = await told()
    while ((await told())[0]?.until === first!.until) await Bun.sleep(20)
    expect(await told()).toHaveLength(1)
    await runner.stop()
    expect(await told()).toEqual([])
  })
})

describe('a job whose time is up', () => {
  test('goes behind those that wait, goes on later, and has lost no attempt', async () => {
    const [a, b] = (await newStores(2)) as [string, string]
    const order: string[] = []
    const runner = runnerOf({
      test: {
        concurrency: 1,
        budgetMs: 100,
        retriesMs: [],
        async run({ storeId, signal, subject }) {
          order.push(`${storeId === a ? 'a' : 'b'} ${subject}`)
          if (subject === 'long' && order.filter((one) => one === 'a long').length < 3) return untilAborted(signal)
        },
      },
    })
    await asked(a, 'long')
    await runner.look(a, 'live')
    await asked(b, 'short')
    const settled = runner.settle()
    await settled
    expect(order.filter((one) => one === 'a long')).toHaveLength(3)
    expect(order.indexOf('b short')).toBeLessThan(order.lastIndexOf('a long'))
    expect([await jobsOf(a), await jobsOf(b)]).toEqual([[], []])
    expect(said).toEqual([])
  })
})
