/** Slugs of namesakes: free, in order, and found without reading those that are taken. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { slugFor } from '../../api/http/input/references.ts'
import { databaseName, openDatabase, type Handle } from '../../db/open.ts'
import { brands } from '../../db/store/catalog.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { rowsIn, seeStatements } from '../plans.ts'
import { create, parallel, statuses } from './shop.ts'

let app: TestApp
let shop: TestStore
let live: Handle
beforeAll(async () => {
  app = await testApp()
  shop = await app.newStore()
  live = await openDatabase(app.location, databaseName(shop.store.id, 'live'), 'store')
})
afterAll(() => {
  live.close()
  return app.close()
})

const insert = (slugs: string[]) =>
  live.write((tx) =>
    tx.run(sql`insert into brands (id, name, slug, active, seo, created_at, updated_at)
      select lower(hex(randomblob(16))), 'Brand', value, 1, '{}', '', '' from json_each(${JSON.stringify(slugs)})`),
  )
const free = (name: string) => live.write((tx) => slugFor(tx, brands, undefined, name))
const numbered = (base: string, numbers: number[]) => numbers.map((n) => (n === 1 ? base : `${base}-${n}`))
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

test('a taken slug gets the number after the last one, however many there are', async () => {
  for (const count of [0, 1, 2, 3, 4, 5, 8, 9, 10, 17, 31, 100, 1000, 5000]) {
    await insert(numbered(`many-${count}x`, upTo(count)))
    expect(await free(`Many ${count}x`)).toBe(count ? `many-${count}x-${count + 1}` : `many-${count}x`)
  }
})

test('what only begins alike, and numbers far away, leave -2 and -3 free', async () => {
  await insert(['tee', 'tee-shirt', 'tee-20260101', 'tee-2-2', 'tees', 'gap-2', 'hole', 'hole-2', 'hole-4', 'round', 'round-02'])
  expect(await Promise.all(['Tee', 'Gap', 'Hole', 'Round', 'Tee 2', 'Tee-shirt'].map(free))).toEqual([
    'tee-2',
    'gap',
    'hole-3',
    'round-2',
    'tee-2',
    'tee-shirt-2',
  ])
})

test('a free one is free, whatever is taken', async () => {
  for (let round = 0; round < 40; round++) {
    const taken = numbered(`odd-${round}r`, [1, ...upTo(60).filter((n) => n > 1 && (n * 7919 + round * 31) % 5 > round % 4)])
    await insert(taken)
    const slug = await free(`Odd ${round}r`)
    expect(slug).toMatch(new RegExp(`^odd-${round}r-\\d+$`))
    expect(taken).not.toContain(slug)
  }
})

test('it reads no namesakes: the rows that a creation reads are as many with 3,000 of a name as with 3', async () => {
  let read = 0
  const end = seeStatements(['file.rows', 'file.row', 'server.rows', 'server.row'], (text, _, found) => (read += rowsIn(text, found)))
  try {
    const readWith = async (name: string, count: number) => {
      await insert(numbered(name, upTo(count)))
      read = 0
      await free(name)
      return read
    }
    const few = await readWith('few', 3)
    expect(few).toBeGreaterThan(0)
    expect(await readWith('crowd', 3_000)).toBe(few)
  } finally {
    end()
  }
})

test('twenty at once of one name get twenty slugs in a row; of one explicit slug one is made', async () => {
  const made = await parallel(20, () => create(shop, '/products', { name: 'Żółty kubek' }))
  expect(new Set(made.map(({ slug }) => slug))).toEqual(new Set(numbered('zolty-kubek', upTo(20))))
  const answers = await parallel(20, () => shop.call('POST', '/products', { name: 'X', slug: 'explicit' }))
  expect(statuses(answers)).toEqual([201, ...Array(19).fill(409)])
})
