/** Whether a page of a long list costs what a page of a short one does. */
import { sql } from 'drizzle-orm'
import { secretsIn } from '../../api/server/key-file.ts'
import type { Secrets } from '../../api/outside/secrets.ts'
import { openRegistry } from '../../db/control/open.ts'
import { databaseName, openDatabase, type Location } from '../../db/open.ts'
import { newStore } from '../new-store.ts'
import { seedStore } from '../seed.ts'
import { EVENT_SLUG, seedEvent } from './event.ts'
import { percentile, requestOf, run } from './load.ts'
import { addSubscribers } from './newsletter.ts'
import { median } from './rounds.ts'
import { startStoa } from './servers.ts'

const SHORT = 100
const SUBSCRIBERS = 100_000
const NEWSLETTERS = 10_000
const SEATS = 10_000
const LIMIT = 50
const ROUNDS = 5
const ROUND_MS = 300

export interface Paged {
  list: string
  rows: number
  /** The rows of the list that it is compared with. */
  short: number
  /** How many times as long a page takes as one of that: the first page, and one in the middle. */
  firstTimes: number
  middleTimes: number
}

/** How many of each thing a store has. */
interface Long {
  subscribers: number
  newsletters: number
  seats: number
}

async function storeWith(location: Location, secrets: Secrets, { subscribers, newsletters, seats }: Long): Promise<string> {
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
  await seedStore(store, { products: 5, customers: 5, orders: 20 })
  await store.write((tx) => seedEvent(tx, seats, { nowMs: Date.now(), secrets }))
  store.close()
  close()
  return keys.admin
}

/** What is read page by page, and how long it is in the long store. */
const LISTS = [
  ['/subscribers', SUBSCRIBERS],
  ['/newsletters', NEWSLETTERS],
  [`/events/${EVENT_SLUG}/checkins`, SEATS],
  [`/events/${EVENT_SLUG}/attendees`, SEATS],
  [`/events/${EVENT_SLUG}/directory`, SEATS],
] as const

/** Measures the lists, short and long in turn; then the whole of a roster. */
export async function measurePaging(dataDir: string): Promise<{ paging: Paged[]; rosterMs: number }> {
  const location = { url: `file:${dataDir}/{name}.db` }
  const secrets = secretsIn(dataDir, [])
  const keys = {
    short: await storeWith(location, secrets, { subscribers: SHORT, newsletters: SHORT, seats: SHORT }),
    long: await storeWith(location, secrets, { subscribers: SUBSCRIBERS, newsletters: NEWSLETTERS, seats: SEATS }),
  }
  const stoa = await startStoa(dataDir, { isCold: true })
  const p50 = async (key: string, path: string) => {
    const first = requestOf('GET', `/api/v1${path}`, { authorization: `Bearer ${key}` })
    return percentile(await run({ port: stoa.port, connections: 1, maxMs: ROUND_MS, next: () => ({ first, expect: [200] }) }), 0.5)
  }
  try {
    const paging: Paged[] = []
    const page = (list: string, offset: number) => `${list}?limit=${LIMIT}&offset=${offset}`
    for (const [list, rows] of LISTS) {
      const times: { first: number[]; middle: number[] } = { first: [], middle: [] }
      for (let i = 0; i < ROUNDS; i++) {
        const short = await p50(keys.short, page(list, 0))
        times.first.push((await p50(keys.long, page(list, 0))) / short)
        times.middle.push((await p50(keys.long, page(list, rows / 2))) / short)
      }
      paging.push({ list, rows, short: SHORT, firstTimes: median(times.first), middleTimes: median(times.middle) })
    }
    return { paging, rosterMs: await p50(keys.long, `/events/${EVENT_SLUG}/checkins`) }
  } finally {
    await stoa.stop()
  }
}
