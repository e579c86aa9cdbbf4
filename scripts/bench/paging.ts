/** Whether a page of a long list costs what a page of a short one does. */
import { sql } from 'drizzle-orm'
import { openRegistry } from '../../db/control/open.ts'
import { databaseName, openDatabase, type Location } from '../../db/open.ts'
import { newStore } from '../new-store.ts'
import { percentile, requestOf, run } from './load.ts'
import { addSubscribers } from './newsletter.ts'
import { median } from './rounds.ts'
import { startStoa } from './servers.ts'

const SHORT = 100
const SUBSCRIBERS = 100_000
const NEWSLETTERS = 10_000
const LIMIT = 50
const ROUNDS = 5
const ROUND_MS = 300

export interface Paged {
  list: string
  rows: number
  /** How many times as long a page takes as one of the list of 100: the first page, and one in the middle. */
  firstTimes: number
  middleTimes: number
}

async function storeWith(location: Location, subscribers: number, newsletters: number): Promise<string> {
  const { registry, close } = await openRegistry(location)
  const { id, keys } = await newStore(registry, {
    name: `List of ${subscribers}`,
    plan: 'scale',
    currency: 'usd',
    locale: 'en-US',
    aiBuilt: false,
  })
  const store = await openDatabase(location, databaseName(id, 'live'), 'store')
  await addSubscribers(store, subscribers)
  const now = new Date().toISOString()
  const ids = JSON.stringify(Array.from({ length: newsletters }, () => Bun.randomUUIDv7()))
  await store.write((tx) =>
    tx.run(sql`insert into newsletters (id, subject, content, status, audience, products, recipient_count, created_at, updated_at, reserved, tried_before)
      select value, 'Subject', 'Some words.', 'draft', 'all_active', '[]', 0, ${now}, ${now}, 0, 0 from json_each(${ids})`),
  )
  store.close()
  close()
  return keys.admin
}

/** Measures both lists, short and long in turn. */
export async function measurePaging(dataDir: string): Promise<Paged[]> {
  const location = { url: `file:${dataDir}/{name}.db` }
  const keys = { short: await storeWith(location, SHORT, SHORT), long: await storeWith(location, SUBSCRIBERS, NEWSLETTERS) }
  const stoa = await startStoa(dataDir)
  const p50 = async (key: string, path: string, offset: number) => {
    const first = requestOf('GET', `/api/v1${path}?limit=${LIMIT}&offset=${offset}`, { authorization: `Bearer ${key}` })
    return percentile(await run({ port: stoa.port, connections: 1, maxMs: ROUND_MS, next: () => ({ first, expect: [200] }) }), 0.5)
  }
  try {
    const lists: Paged[] = []
    for (const [list, rows] of [['/subscribers', SUBSCRIBERS] as const, ['/newsletters', NEWSLETTERS] as const]) {
      const times: { first: number[]; middle: number[] } = { first: [], middle: [] }
      for (let i = 0; i < ROUNDS; i++) {
        const short = await p50(keys.short, list, 0)
        times.first.push((await p50(keys.long, list, 0)) / short)
        times.middle.push((await p50(keys.long, list, rows / 2)) / short)
      }
      lists.push({ list, rows, firstTimes: median(times.first), middleTimes: median(times.middle) })
    }
    return lists
  } finally {
    await stoa.stop()
  }
}
