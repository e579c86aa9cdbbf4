import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { asc, eq, sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { folderOnDisk } from '../folder.ts'
import { Busy, constraintOf, Hung } from '../../db/errors.ts'
import { createDatabase, openDatabase, type Handle } from '../../db/open.ts'
import { counters, outbox } from '../../db/store/store.ts'
import { lookAtWrites, slowWrites, type SlowWrite } from '../../db/watchdog.ts'

let folder: string
let path: string
let store: Handle
const open = () => openDatabase({ url: `file:${path}` }, 'store', 'store')

beforeEach(async () => {
  folder = folderOnDisk('writer')
  path = join(folder, 'store.db')
  await createDatabase({ url: `file:${path}` }, 'store', 'store')
  store = await open()
})
afterEach(() => {
  store.close()
  rmSync(folder, { recursive: true, force: true })
})

const event = (id: string) => ({ id, event: 'test', payload: {}, createdAt: new Date().toISOString() })
const add = (id: string, to = store) =>
  to.write(async (tx) => {
    await tx.insert(outbox).values(event(id))
  })
const ids = async (from = store) =>
  (
    await from.read
      .select({ id: outbox.id })
      .from(outbox)
      .orderBy(asc(sql`rowid`))
  ).map(({ id }) => id)

/** Reads a counter, lets others run, writes it back: loses updates wherever two may run at once. */
const increment = (to = store) =>
  to.write(async (tx) => {
    const [row] = await tx.select().from(counters).where(eq(counters.name, 'n'))
    await new Promise(setImmediate)
    await tx
      .insert(counters)
      .values({ name: 'n', value: 1 })
      .onConflictDoUpdate({ target: counters.name, set: { value: (row?.value ?? 0) + 1 } })
  })
const counted = async () => (await store.read.select().from(counters))[0]!.value

function child(count: number, name: string) {
  const run = Bun.spawn([process.execPath, join(import.meta.dirname, 'writer-child.ts'), path, String(count), name], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const told: string[] = []
  const ended = (async () => {
    let rest = ''
    for await (const chunk of run.stdout as never as AsyncIterable<Uint8Array>) {
      const lines = (rest + Buffer.from(chunk).toString()).split('\n')
      rest = lines.pop()!
      told.push(...lines.filter((line) => line !== 'ready'))
    }
  })()
  return { run, told, ended }
}

describe('the writer of a store', () => {
  test('500 writes at once all land, one after the other', async () => {
    await Promise.all(Array.from({ length: 500 }, () => increment()))
    expect(await counted()).toBe(500)
  })

  test('500 writes at once hold up the event loop for less than 100 ms', async () => {
    const lags: number[] = []
    // The best of three: another program may take the processor meanwhile, but not each time.
    for (let round = 0; round < 3; round++) {
      let longest = 0
      let last = performance.now()
      const timer = setInterval(() => {
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
      }, 1)
      await Promise.all(Array.from({ length: 500 }, (_, n) => add(`${round}-${n}`)))
      clearInterval(timer)
      lags.push(Math.max(longest, performance.now() - last))
    }
    expect((await ids()).length).toBe(1_500)
    expect(Math.min(...lags)).toBeLessThan(100)
  })

  test('a write of many statements gives others their turns in between, and its statements keep their order', async () => {
    let turns = 0
    let over = false
    const count = () => void (turns++, over || setImmediate(count))
    setImmediate(count)
    const rows = await store.write(async (tx) => {
      for (let n = 0; n < 3_000; n += 3) await Promise.all([0, 1, 2].map((more) => tx.insert(outbox).values(event(`e${n + more}`))))
      return tx.$count(outbox)
    })
    over = true
    expect(rows).toBe(3_000)
    // 3,000 inserts that are built anew take 100 ms and more.
    expect(turns).toBeGreaterThan(5)
    expect(await ids()).toEqual(Array.from({ length: 3_000 }, (_, n) => `e${n}`))
  })

  test('first come, first served', async () => {
    const done: string[] = []
    const wanted = Array.from({ length: 300 }, (_, n) => `e${n}`)
    await Promise.all(wanted.map((id) => add(id).then(() => done.push(id))))
    expect(await ids()).toEqual(wanted)
    expect(done).toEqual(wanted)
  })

  test('a write that throws undoes itself, and those that share its commit land', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, n) =>
        store.write(async (tx) => {
          await tx.insert(outbox).values(event(`e${n}`))
          if (n % 10 === 3) throw new Error(`no ${n}`)
          return n
        }),
      ),
    )
    outcomes.forEach((outcome, n) => {
      if (n % 10 === 3) expect(outcome).toMatchObject({ status: 'rejected', reason: { message: `no ${n}` } })
      else expect(outcome).toEqual({ status: 'fulfilled', value: n })
    })
    expect((await ids()).length).toBe(90)
    await add('after')
    expect(await ids()).toContain('after')
  })

  test('a write that a constraint refuses undoes itself alone, and tells which', async () => {
    await add('taken')
    const [first, second, third] = await Promise.allSettled([
      add('a'),
      store.write(async (tx) => {
        await tx.insert(outbox).values(event('b'))
        await tx.insert(outbox).values(event('taken'))
      }),
      add('c'),
    ])
    expect([first!.status, second!.status, third!.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(constraintOf((second as PromiseRejectedResult).reason)).toEqual({ kind: 'unique', columns: ['outbox.id'] })
    expect(await ids()).toEqual(['taken', 'a', 'c'])
  })

  test('a write sees those before it, and readers see none that is not committed', async () => {
    const seen: number[] = []
    const outside: number[] = []
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        store
          .write(async (tx) => {
            await tx.insert(outbox).values(event(`e${n}`))
            seen.push(await tx.$count(outbox))
            outside.push(await store.read.$count(outbox))
            throw new Error('undone')
          })
          .catch(() => {}),
      ),
    )
    expect(seen).toEqual(Array(20).fill(1))
    expect(outside).toEqual(Array(20).fill(0))
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        store.write(async (tx) => {
          await tx.insert(outbox).values(event(`f${n}`))
          seen.push(await tx.$count(outbox))
        }),
      ),
    )
    expect(seen.slice(20)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
    expect(await store.read.$count(outbox)).toBe(20)
  })

  test('once too many wait, the next is refused at once as busy, and those that wait still land', async () => {
    const waiting = Array.from({ length: 2_000 }, (_, n) => add(`e${n}`))
    const refused = await add('one too many').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Busy)
    expect((refused as Busy).retryAfterSeconds).toBeGreaterThan(0)
    await Promise.all(waiting)
    expect((await ids()).length).toBe(2_000)
    await add('later')
    expect(await ids()).toContain('later')
  })

  test('is idle before and after, not in between: it is not closed under a write', async () => {
    expect(store.idle).toBe(true)
    const writing = add('e')
    expect(store.idle).toBe(false)
    await writing
    await new Promise(setImmediate)
    expect(store.idle).toBe(true)
  })

  test("two handles on one file lose no update and are never refused for the other's lock", async () => {
    const other = await open()
    await Promise.all(Array.from({ length: 250 }, () => [increment(), increment(other)]).flat())
    other.close()
    expect(await counted()).toBe(500)
  })
})

test('a write of many statements takes as long for each of them, however many there are', async () => {
  await store.write((tx) => tx.run(sql.raw('create table filled (id text primary key, about text not null unique)')))
  // A trigger, or a foreign key, is what makes SQLite note how to undo a statement alone.
  const trigger = "create trigger counted after insert on filled begin update counters set value = value + 1 where name = 'filled'; end"
  await store.write((tx) => tx.run(sql.raw(trigger)))
  await store.write((tx) => tx.insert(counters).values({ name: 'filled', value: 0 }))
  const fill = (count: number) =>
    store.write(async (tx) => {
      const started = performance.now()
      for (let i = 0; i < count; i++)
        await tx.run(sql`insert into filled values (${crypto.randomUUID()}, ${crypto.randomUUID().repeat(4)})`)
      return (performance.now() - started) / count
    })
  // Pages that were there before the write are what is noted.
  const there = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)
    insert into filled select lower(hex(randomblob(16))), lower(hex(randomblob(70))) from n`
  await store.write((tx) => tx.run(there))
  const few = await fill(300)
  expect(await fill(6_000)).toBeLessThan(few * 4)
  expect(await store.read.$count(counters, eq(counters.value, 66_300))).toBe(1)
}, 60_000)

describe('two processes on one store', () => {
  test('both write at once, and nothing is lost or refused', async () => {
    const { run, told, ended } = child(400, 'child')
    let n = 0
    const work = async () => {
      while (run.exitCode === null && n < 5_000) await add(`parent-${n++}`)
    }
    await Promise.all(Array.from({ length: 20 }, work))
    expect(await run.exited).toBe(0)
    await ended
    const stored = await ids()
    expect(told.length).toBe(400)
    expect(stored.filter((id) => id.startsWith('child-')).length).toBe(400)
    expect(stored.filter((id) => id.startsWith('parent-')).length).toBe(n)
    expect(n).toBeGreaterThan(0)
  })

  test('what a process acknowledged is there after it is killed, and the next one writes on', async () => {
    for (let round = 0; round < 5; round++) {
      const { run, told, ended } = child(1_000_000, `round${round}`)
      while (told.length < 200) await Bun.sleep(5)
      run.kill('SIGKILL')
      await run.exited
      await ended
      const stored = new Set(await ids())
      expect(told.filter((id) => !stored.has(id))).toEqual([])
      expect((await store.read.all<[string]>(sql`PRAGMA integrity_check`))[0]).toEqual(['ok'])
      await add(`after${round}`)
    }
  })
})

describe('a write that hangs', () => {
  /** So many looks of the watch, as if so many seconds had passed. */
  const looks = async (count: number) => {
    for (let i = 0; i < count; i++) lookAtWrites()
    await new Promise(setImmediate)
  }
  /** Writes, and then waits until it is told to go on. */
  function hanging(id: string) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    let after: unknown = 'nothing yet'
    const written = store.write(
      async (tx) => {
        await tx.insert(outbox).values(event(id))
        begun.resolve()
        await promise
        after = await tx
          .insert(outbox)
          .values(event(`${id} late`))
          .then(
            () => 'written',
            (error) => error,
          )
      },
      { name: 'PATCH /things' },
    )
    return { written, begun: begun.promise, goOn: resolve, after: () => after }
  }

  test('is told of after ten looks and ended after a minute of nothing; the store is written to again, by others and for good', async () => {
    const told: SlowWrite[] = []
    store.onSlow = (slow) => void told.push(slow)
    const before = add('before')
    const hung = hanging('hung')
    const behind = add('behind')
    const outcome = hung.written.catch((error) => error)
    await hung.begun
    const { ended } = slowWrites()
    await looks(9)
    expect([told, slowWrites().slow]).toEqual([[], 0])
    await looks(1)
    expect(told).toEqual([{ name: 'PATCH /things', seconds: expect.any(Number), isEnded: false }])
    expect(slowWrites()).toEqual({ slow: 1, ended })
    await looks(60)
    expect(await outcome).toBeInstanceOf(Hung)
    expect(told.slice(1)).toEqual([{ name: 'PATCH /things', seconds: expect.any(Number), isEnded: true }])
    expect(slowWrites()).toEqual({ slow: 0, ended: ended + 1 })
    // Those of its group lose nothing, and what it wrote is undone.
    await Promise.all([before, behind])
    expect(await ids()).toEqual(['before', 'behind'])
    // Whatever it waited for: its connection is nobody's any more, while another write has the store.
    const other = store.write(async (tx) => {
      await tx.insert(outbox).values(event('other'))
      hung.goOn()
      await new Promise(setImmediate)
      await tx.insert(outbox).values(event('other too'))
    })
    await other
    expect(String(hung.after())).toContain('ended')
    await add('after')
    expect(await ids()).toEqual(['before', 'behind', 'other', 'other too', 'after'])
    expect(await ids(await open())).toEqual(['before', 'behind', 'other', 'other too', 'after'])
  })

  test('is none as long as it asks for something, however long it takes', async () => {
    const told: SlowWrite[] = []
    store.onSlow = (slow) => void told.push(slow)
    await store.write(async (tx) => {
      for (let i = 0; i < 20; i++) {
        await tx.insert(outbox).values(event(`long ${i}`))
        await looks(30)
      }
    })
    expect((await ids()).length).toBe(20)
    // Without a name it is told by its code.
    expect(told).toEqual([{ name: expect.stringContaining('long ${i}'), seconds: expect.any(Number), isEnded: false }])
  })

  test('lets another process write once it is ended', async () => {
    const second = await open()
    const hung = hanging('hung')
    const outcome = hung.written.catch((error) => error)
    await hung.begun
    const waiting = add('second', second)
    await looks(61)
    expect(await outcome).toBeInstanceOf(Hung)
    await waiting
    second.close()
    expect(await ids()).toEqual(['second'])
  })
})
