import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sql } from 'drizzle-orm'
import { folderOnDisk } from '../folder.ts'
import { openDatabase } from '../../db/open.ts'
import { LARGE_ROWS, measureLarge } from '../../scripts/bench/large.ts'
import { mailingStore } from '../../scripts/bench/newsletter.ts'
import { bars } from '../../scripts/bench/report.ts'
import { seed } from '../../scripts/bench/seed.ts'
import { storeWith } from '../../scripts/bench/visitors.ts'

test('what the bench writes past the API fits the tables that there are', async () => {
  const folder = folderOnDisk('bench')
  const location = { url: `file:${folder}/{name}.db` }
  try {
    const { database, orderIds, cartIds } = await seed(location, { products: 5, orders: 7, carts: 2 })
    expect([orderIds.length, cartIds.length]).toEqual([7, 2])
    const { storeId } = await mailingStore(location, 3)
    expect((await storeWith(location, 4, 2, 3)).waiting).toHaveLength(3)
    for (const [name, table, count] of [
      [database, 'orders', 7],
      [`store-${storeId}`, 'subscribers', 3],
    ] as const) {
      const store = await openDatabase(location, name, 'store')
      expect(await store.read.all(sql.raw(`select count(*) from ${table}`))).toEqual([[count]])
      store.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a large store is measured: what is read, and how long others wait beside it; a wait that is too long misses its bar', async () => {
  const folder = folderOnDisk('bench')
  try {
    const large = await measureLarge(folder, LARGE_ROWS, { rounds: 1, products: 300 })
    expect(large.map(({ name, products, perSecond, healthMs }) => [name, products, perSecond > 0, healthMs > 0])).toEqual([
      ['search-large', 300, true, true],
      ['list-large', 300, true, true],
    ])
    const [search, list] = large
    const held = bars({
      rows: [],
      large: [
        { ...search!, healthMs: 19, loopMs: null },
        { ...list!, healthMs: 21, loopMs: 21 },
      ],
    })
    expect(held.map(({ what, met }) => [what.split(':')[0], met])).toEqual([
      ['search-large', true],
      ['list-large', false],
      ['list-large', false],
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
