import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { realClock } from '../../api/values/clock.ts'
import { createLog } from '../../api/server/log.ts'
import { holderToken } from '../../api/jobs/holder.ts'
import { enqueue, enqueueBy, enqueueIdle, nextDues, withdraw } from '../../api/jobs/queue.ts'
import type { JobKind, Running } from '../../api/jobs/kind.ts'
import { Runner } from '../../api/jobs/runner.ts'
import type { Db } from '../../db/driver.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await app.newStore()
  app.clock.now = new Date()
})
afterEach(() => inStore((tx) => tx.run(sql`delete from jobs`)))
afterAll(() => app.close())

const inStore = <T>(fn: (tx: Db) => Promise<T>) => app.handles.use(shop.store.id, 'live', (store) => store.write(fn))
const about = () => ({ clock: { ...realClock, now: () => app.clock.now }, now: app.clock.now.toISOString() })
const later = (ms: number) => new Date(app.clock.now.getTime() + ms).toISOString()
const asked = (subject = 'a', dueAt = later(0), kind = 'test') => inStore((tx) => enqueue(tx, about(), { kind, subject, dueAt }))
const rows = () =>
  app.handles.use(shop.store.id, 'live', ({ read }) =>
    read.all<[string, number, string | null, string | null, string]>(
      sql`select subject, attempts, error, failed_at, due_at from jobs order by subject`,
    ),
  )
const runnerOf = (run: JobKind['run'], more: Partial<JobKind> & { leaseMs?: number } = {}) => {
  const { leaseMs, ...kind } = more
  return new Runner({
    registry: app.registry,
    handles: app.handles,
    kinds: { test: { retriesMs: [1_000, 5_000], run, ...kind } },
    clock: about().clock,
    log: createLog('silent'),
    leaseMs,
  })
}
/** A runner that claims what is due and is heard of no more, as of a process that died. */
async function dies() {
  const runs = Promise.withResolvers<void>()
  const run = () => (runs.resolve(), new Promise<void>(() => {}))
  const dead = runnerOf(run, { leaseMs: 600_000 })
  void dead.settle()
  await runs.promise
  void dead.stop()
}
const untilAborted = ({ signal }: Running) =>
  new Promise<'interrupted'>((resolve) => signal.addEventListener('abort', () => resolve('interrupted')))

describe('a job', () => {
  test('is done when it is due, not before, and then it is gone', async () => {
    const done: string[] = []
    const runner = runnerOf(async ({ subject }) => void done.push(subject))
    await asked('now')
    await asked('later', later(60_000))
    await runner.settle()
    expect(done).toEqual(['now'])
    app.clock.advance(59_999)
    await runner.settle()
    expect(done).toEqual(['now'])
    app.clock.advance(1)
    await runner.settle()
    expect(done).toEqual(['now', 'later'])
    expect(await rows()).toEqual([])
  })

  test('waits while the clock is set back, and is done once when it has been missed', async () => {
    let count = 0
    const runner = runnerOf(async () => void count++)
    await asked('a', later(60_000))
    app.clock.advance(-3_600_000)
    await runner.settle()
    expect(count).toBe(0)
    app.clock.advance(86_400_000)
    await runner.settle()
    expect(count).toBe(1)
  })

  test('is there once for a subject, at the earlier instant', async () => {
    await asked('a', later(5_000))
    await asked('a', later(1_000))
    await asked('a', later(9_000))
    const all = await rows()
    expect(all).toHaveLength(1)
    expect(all[0]![4]).toBe(later(1_000))
  })

  test('leaves nothing when the transaction that asked for it fails, and can be withdrawn', async () => {
    await inStore(async (tx) => {
      await enqueue(tx, about(), { kind: 'test', subject: 'a', dueAt: later(0) })
      throw new Error('refused')
    }).catch(() => {})
    expect(await rows()).toEqual([])
    await asked('b')
    expect(await inStore((tx) => withdraw(tx, 'test', 'b'))).toBe(true)
    expect(await inStore((tx) => withdraw(tx, 'test', 'b'))).toBe(false)
    expect(await rows()).toEqual([])
  })

  test('that is asked for while it runs is done again after it', async () => {
    let count = 0
    const runner = runnerOf(async () => {
      if (++count === 1) await asked()
    })
    await asked()
    await runner.settle()
    expect(count).toBe(2)
    expect(await rows()).toEqual([])
  })

  test('may name the instant at which it is due again', async () => {
    const runner = runnerOf(async () => later(60_000))
    await asked()
    await runner.settle()
    expect((await rows())[0]![4]).toBe(later(60_000))
  })

  test('is done by one of two runners, though both see it', async () => {
    let running = 0
    let most = 0
    let count = 0
    const run = async () => {
      most = Math.max(most, ++running)
      await Bun.sleep(20)
      running--
      count++
    }
    for (let i = 0; i < 1; i++) await asked()
    await Promise.all([runnerOf(run).settle(), runnerOf(run).settle(), runnerOf(run).settle()])
    expect([count, most]).toEqual([1, 1])
  })

  test('is started at once by the process that is woken', async () => {
    const done = Promise.withResolvers<void>()
    const runner = runnerOf(async () => done.resolve())
    await asked()
    runner.wake(shop.store.id, 'live')
    await done.promise
    await runner.stop()
  })
})

describe('a job that goes wrong', () => {
  test('is tried again after each pause, then given up, once, with its error', async () => {
    const given: string[] = []
    let tries = 0
    const runner = runnerOf(
      async () => {
        tries++
        throw new Error(`try ${tries}`)
      },
      { givenUp: async (_, __, subject, { error }) => void given.push(`${subject}: ${error}`) },
    )
    await asked()
    await runner.settle()
    expect(await rows()).toMatchObject([['a', 1, 'try 1', null, later(1_000)]])
    app.clock.advance(1_000)
    await runner.settle()
    expect(await rows()).toMatchObject([['a', 2, 'try 2', null, later(5_000)]])
    app.clock.advance(5_000)
    await runner.settle()
    expect(await rows()).toMatchObject([['a', 0, 'try 3', later(0), later(0)]])
    app.clock.advance(86_400_000)
    await runner.settle()
    expect([tries, given]).toEqual([3, ['a: try 3']])
    // Asked for again, it is taken up again.
    await asked()
    await runner.settle()
    expect(tries).toBe(4)
  })

  test.each([
    ['enqueueBy', (tx: Db) => enqueueBy(tx, about(), { kind: 'test', subject: 'a', dueAt: later(0) })],
    ['enqueueIdle', (tx: Db) => enqueueIdle(tx, about(), 'test', [{ subject: 'a', dueAt: later(0) }])],
    // What triggers do.
    ['a trigger', async (tx: Db) => void (await tx.run(sql`update jobs set due_at = ${later(0)}, asked = asked + 1, failed_at = null`))],
  ])('and was given up has all its attempts again, whoever asks: %s', async (_, ask) => {
    let tries = 0
    const runner = runnerOf(async () => {
      tries++
      throw new Error('no')
    })
    const giveUp = async () => {
      for (let i = 0; i < 4; i++) {
        await runner.settle()
        app.clock.advance(5_000)
      }
    }
    await asked()
    await giveUp()
    expect(tries).toBe(3)
    await inStore(ask)
    await giveUp()
    expect(tries).toBe(6)
  })

  test('for the last time while it is asked for again, is not given up', async () => {
    const given: string[] = []
    let tries = 0
    const runner = runnerOf(
      async () => {
        if (++tries === 3) await asked()
        throw new Error(`try ${tries}`)
      },
      { givenUp: async (_, __, subject) => void given.push(subject) },
    )
    await asked()
    for (let i = 0; i < 3; i++) {
      await runner.settle()
      app.clock.advance(5_000)
    }
    // Tried again at once, and after its pauses.
    expect([tries, given]).toEqual([4, []])
    for (let i = 0; i < 3; i++) {
      await runner.settle()
      app.clock.advance(5_000)
    }
    expect([tries, given]).toEqual([6, ['a']])
  })

  test('has all its attempts again once it got somewhere', async () => {
    const runner = runnerOf(async ({ store, progress }) => {
      await store.write(progress)
      throw new Error('after progress')
    })
    await asked()
    for (let i = 0; i < 5; i++) {
      await runner.settle()
      expect((await rows())[0]!.slice(0, 4)).toEqual(['a', 0, 'after progress', null])
      app.clock.advance(1_000)
    }
  })

  test('of a kind that this release does not know is given up', async () => {
    await asked('a', later(0), 'unknown')
    await runnerOf(async () => {}).settle()
    expect(await rows()).toEqual([['a', 0, 'this release knows no job unknown', later(0), later(0)]])
  })

  test('keeps no other job from being done', async () => {
    const done: string[] = []
    const runner = runnerOf(async ({ subject }) => {
      if (subject === 'a') throw new Error('no')
      done.push(subject)
    })
    for (const subject of ['a', 'b', 'c']) await asked(subject)
    await runner.settle()
    expect(done.toSorted()).toEqual(['b', 'c'])
  })
})

describe('a lease', () => {
  test('of a process of this machine that has ended holds nobody up', async () => {
    const ended = Bun.spawn(['true'])
    await ended.exited
    await asked()
    const leaseUntil = later(600_000)
    const leased = (token: string) =>
      inStore((tx) => tx.run(sql`update jobs set lease_token = ${token}, lease_until = ${leaseUntil}, attempts = 1`))
    let count = 0
    const runner = runnerOf(async () => void count++)
    const [host] = holderToken('x').split(' ')
    for (const token of [holderToken('of another store'), `${host} 1 other x`, `elsewhere ${ended.pid} other x`]) {
      await leased(token)
      await runner.settle()
      expect(count).toBe(0)
    }
    await leased(`${host} ${ended.pid} other x`)
    await runner.settle()
    expect(count).toBe(1)
  })

  test('of a process that died runs out, and its job goes on; the attempt of the dead one counts', async () => {
    await asked()
    await dies()
    let count = 0
    const second = runnerOf(async () => void count++)
    await second.settle()
    expect(count).toBe(0)
    expect(await app.handles.use(shop.store.id, 'live', ({ read }) => nextDues(read))).toEqual(new Map([['test', later(600_000)]]))
    app.clock.advance(600_000)
    await second.settle()
    expect(count).toBe(1)
  })

  test('that is lost stops who had it: what it does after that is refused', async () => {
    const outcome = Promise.withResolvers<unknown>()
    const claimed = Promise.withResolvers<void>()
    const resume = Promise.withResolvers<void>()
    const first = runnerOf(
      async ({ store, progress }) => {
        claimed.resolve()
        await resume.promise
        await store.write(progress).then(outcome.resolve, outcome.resolve)
      },
      { leaseMs: 600_000 },
    )
    await asked()
    const running = first.settle()
    await claimed.promise
    app.clock.advance(600_000)
    await runnerOf(async () => {}).settle()
    resume.resolve()
    expect(String(await outcome.promise)).toContain('the lease was lost')
    await running
    expect(await rows()).toEqual([])
  })

  test('is renewed while its job runs', async () => {
    app.clock.real()
    // Prolonged each third of the lease: two of three may be late on a busy machine.
    const end = Promise.withResolvers<void>()
    const first = runnerOf(() => end.promise, { leaseMs: 1_500 })
    await asked('a', new Date().toISOString())
    const running = first.settle()
    await Bun.sleep(2_500)
    let stolen = false
    await runnerOf(async () => void (stolen = true)).settle()
    end.resolve()
    await running
    expect(stolen).toBe(false)
    expect(await rows()).toEqual([])
  })

  test('is let go when the process stops: another one goes on at once, with no attempt lost', async () => {
    const runner = runnerOf(untilAborted)
    await asked()
    runner.start()
    while (!(await rows())[0]![1]) await Bun.sleep(5)
    await runner.stop()
    expect(await rows()).toEqual([['a', 0, null, null, later(0)]])
    let count = 0
    await runnerOf(async () => void count++).settle()
    expect(count).toBe(1)
  })

  test('of a job that kills its process again and again is not given for ever', async () => {
    await asked()
    const given: string[] = []
    for (let i = 0; i < 3; i++) {
      await dies()
      app.clock.advance(600_000)
    }
    await runnerOf(async () => {}, { givenUp: async (_, __, ___, { error }) => void given.push(error) }).settle()
    expect(given).toEqual(['the process ended 3 times while it ran'])
  })
})

describe('a kind with a limit', () => {
  test('runs so many at once over all stores, and keeps its jobs from no other kind', async () => {
    const others = [await app.newStore(), await app.newStore()]
    const stores = [shop, ...others]
    const ends: (() => void)[] = []
    let [running, most, done] = [0, 0, 0]
    const quick: string[] = []
    const runner = new Runner({
      registry: app.registry,
      handles: app.handles,
      kinds: {
        slow: {
          concurrency: 2,
          retriesMs: [],
          async run() {
            await new Promise<void>((resolve) => {
              ends.push(resolve)
              most = Math.max(most, ++running)
            })
            running--
            done++
          },
        },
        test: { retriesMs: [], run: async ({ storeId }) => void quick.push(storeId) },
      },
      clock: about().clock,
      log: createLog('silent'),
    })
    for (const {
      store: { id },
    } of stores)
      for (let i = 0; i < 4; i++)
        await app.handles.use(id, 'live', (store) =>
          store.write((tx) => enqueue(tx, about(), { kind: 'slow', subject: `${i}`, dueAt: later(0) })),
        )
    await asked('quick', later(0), 'test')
    const settled = runner.settle()
    // With both of its places taken, the others of its kind wait, and what is not of its kind is done.
    while (ends.length < 2 || !quick.length) await Bun.sleep(5)
    expect([done, quick]).toEqual([0, [shop.store.id]])
    while (done < 12) {
      ends.shift()?.()
      await Bun.sleep(1)
    }
    await settled
    expect([most, done, await rows()]).toEqual([2, 12, []])
  })
})
