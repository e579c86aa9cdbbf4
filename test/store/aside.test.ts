import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folderFor } from '../folder.ts'
import { aside, AsideReader } from '../../db/aside.ts'
import { FileConnection } from '../../db/connection.ts'
import { Busy } from '../../db/errors.ts'
import { createDatabase, openDatabase, type Handle } from '../../db/open.ts'

const folder = folderFor('aside')
const path = join(folder, 'plain.db')
let file: FileConnection
beforeAll(() => {
  file = new FileConnection(path)
  file.exec('create table t (id integer primary key, name text)')
})
afterAll(() => {
  file.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A statement that computes for a while; `rows` of them come out. */
const LONG =
  'with recursive c(n) as (select 1 union all select n + 1 from c where n < 100000) select n % 7, count(*) from c group by 1 order by 1 desc'
// Bounded all the same: a connection that is busy holds whoever frees a statement of it.
const ENDLESS = 'with recursive c(n) as (select 1 union all select n + 1 from c limit 40000000) select max(n) from c'
const BOUNDS = { waitingMax: 3, waitMaxMs: 60_000, runMaxMs: 60_000 }

/** How many turns the event loop makes until `work` has ended. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let over = false
  const ended = work.finally(() => (over = true))
  while (!over) {
    await new Promise((next) => setImmediate(next))
    turns++
  }
  await ended
  return turns
}

describe('a reader beside the event loop', () => {
  test('answers as a reader in it does, in the same order, and lets the event loop turn meanwhile', async () => {
    const reader = new AsideReader(path)
    const read = reader.rows(LONG, [])
    expect(await turnsDuring(read)).toBeGreaterThan(20)
    expect(await read).toEqual(file.rows(LONG, []))
    expect(await turnsDuring(Promise.resolve(file.rows(LONG, [])))).toBeLessThan(5)
    reader.close()
  })

  test('binds parameters each time anew, knows null and text, and gives one row', async () => {
    const reader = new AsideReader(path)
    for (const values of [
      [1, 'a', null],
      [2.5, 'Łódź', 'b'],
    ])
      expect(await reader.rows('select ?, ?, ? limit 1', values)).toEqual([values])
    expect(await reader.row('select id from t where id = ?', [999])).toBeUndefined()
    await expect(reader.rows('select nothing from t', [])).rejects.toThrow('nothing')
    expect(await reader.row('select ? as x, ? as x', [3, 4])).toEqual([3, 4])
    reader.close()
  })

  test('reads what is committed, and writes nothing', async () => {
    const reader = new AsideReader(path)
    for (let i = 1; i <= 20; i++) {
      file.run('insert into t (name) values (?)', [`n${i}`])
      expect(await reader.rows('select count(*) from t', [])).toEqual([[i]])
    }
    expect(() => reader.run()).toThrow()
    reader.close()
  })

  test('ends what runs too long, and goes on with the next', async () => {
    const reader = new AsideReader(path, { ...BOUNDS, runMaxMs: 500 })
    const [endless, next] = await Promise.allSettled([reader.rows(ENDLESS, []), reader.rows('select 1', [])])
    expect(endless).toMatchObject({ status: 'rejected', reason: expect.any(Busy) })
    expect(next).toMatchObject({ value: [[1]] })
    expect(await reader.rows('select 2', [])).toEqual([[2]])
    reader.close()
  })

  test('has a bound for those that wait, and refuses those that waited for too long', async () => {
    const reader = new AsideReader(path, { ...BOUNDS, runMaxMs: 30 })
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => reader.rows(ENDLESS, [])))
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(10)
    const impatient = new AsideReader(path, { ...BOUNDS, waitMaxMs: -1 })
    await expect(impatient.rows('select 1', [])).rejects.toThrow(Busy)
    reader.close()
    impatient.close()
  })

  test("one store's long reads leave room for another's", async () => {
    const greedy = new AsideReader(path, { ...BOUNDS, waitingMax: 64, runMaxMs: 50 })
    const other = new AsideReader(path, BOUNDS)
    let ended = 0
    const many = Array.from({ length: 20 }, () => greedy.rows(ENDLESS, []).catch(() => ended++))
    expect(await other.rows('select 1', [])).toEqual([[1]])
    expect(ended).toBeLessThan(5)
    greedy.close()
    await Promise.all(many)
    other.close()
  })

  test.each([0, 20, 200])('closed after %i ms, it ends what runs and refuses the rest', async (ms) => {
    const reader = new AsideReader(path, BOUNDS)
    const outcomes = Promise.allSettled([reader.rows(ENDLESS, []), reader.rows('select 1', [])])
    await Bun.sleep(ms)
    reader.close()
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(Busy) })
    await expect(reader.rows('select 1', [])).rejects.toThrow(Busy)
  })

  test('any number of files is read, few are kept open', async () => {
    const readers = Array.from({ length: 40 }, () => new AsideReader(path))
    for (let round = 0; round < 2; round++)
      expect(await Promise.all(readers.map(async (reader) => (await reader.rows('select 7', []))[0]![0]))).toEqual(Array(40).fill(7))
    for (const reader of readers) reader.close()
  })
})

describe('where a table of a store is read', () => {
  let store: Handle
  beforeAll(async () => {
    const location = { url: `file:${folder}/{name}.db` }
    await createDatabase(location, 'store', 'store')
    store = await openDatabase(location, 'store', 'store')
  })
  afterAll(() => store.close())
  const fill = (count: number) =>
    store.write((tx) =>
      tx.run(sql`insert into brands (id, name, slug, active, seo, created_at, updated_at)
        select lower(hex(randomblob(16))), 'B', lower(hex(randomblob(16))), 1, '{}', '', '' from (with recursive c(n) as (select 1 union all select n + 1 from c where n < ${count}) select n from c)`),
    )

  test('short in the event loop, long beside it, in a transaction in the transaction', async () => {
    expect(aside(store.read, 'brands')).toBe(store.read)
    await fill(2_500)
    await Bun.sleep(1_100)
    const far = aside(store.read, 'brands')
    expect(far).not.toBe(store.read)
    expect(aside(store.read, 'products')).toBe(store.read)
    await store.write(async (tx) => {
      expect(aside(tx, 'brands')).toBe(tx)
    })
    for (let i = 1; i <= 5; i++) {
      await fill(1)
      expect(await far.all(sql`select count(*) from brands`)).toEqual([[2_500 + i]])
    }
  })

  test('pages do not wait behind searches', async () => {
    const slow = sql`with recursive c(n) as (select 1 union all select n + 1 from c where n < 3000000) select count(*) from c`
    const ended: string[] = []
    const searches = Array.from({ length: 4 }, () =>
      aside(store.read, 'brands', { search: true })
        .all(slow)
        .then(() => ended.push('search')),
    )
    const page = aside(store.read, 'brands')
      .all(sql`select id from brands limit 1`)
      .then(() => ended.push('page'))
    await Promise.all([...searches, page])
    expect(ended[0]).toBe('page')
  })
})
