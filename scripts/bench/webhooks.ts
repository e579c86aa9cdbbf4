/** Webhooks: how many a second reach a receiver on this machine, what memory that takes, and what checkouts feel of five of them. */
import { sql } from 'drizzle-orm'
import { openDatabase } from '../../db/open.ts'
import { callerOf } from './call.ts'
import { percentile, requestOf, run, type Operation } from './load.ts'
import { median } from './rounds.ts'
import type { Seeded } from './seed.ts'
import { memoryOf, startStoa } from './servers.ts'

const EVENTS = 10_000
const AT_ONCE = 2_000
/** Of an order with three lines. */
const BODY_BYTES = 2_000
const POLL_MS = 50
const DELIVER_MAX_MS = 120_000
const WEBHOOKS = 5
/** So that p99 is the twentieth of them, and not the sixth. */
const CHECKOUTS = 2_000
const BUYERS = 4
const ROUNDS = 3
const CHECKOUT_MAX_MS = 60_000

export interface Told {
  events: number
  perSecond: number
  /** Before, and the most while they went out, in megabytes. */
  restMb: number
  memoryMb: number
  /** p99 of checkouts without webhooks and with five, in ms: of rounds in turn, the medians. */
  aloneP99Ms: number
  besideP99Ms: number
}

/** A receiver that takes everything, and counts. */
function sink() {
  const counted = { taken: 0 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      await request.arrayBuffer()
      counted.taken++
      return new Response(null, { status: 204 })
    },
  })
  return { counted, host: `127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

/** Writes events that wait for a webhook, as a store would have left them that sold while its receiver was away. */
async function backlog(dataDir: string, database: string, webhookId: string) {
  const store = await openDatabase({ url: `file:${dataDir}/{name}.db` }, database, 'store')
  const now = new Date().toISOString()
  const body = JSON.stringify({ type: 'order.paid', timestamp: now, data: { note: 'x'.repeat(BODY_BYTES) } })
  for (let from = 0; from < EVENTS; from += AT_ONCE) {
    const ids = JSON.stringify(Array.from({ length: AT_ONCE }, () => Bun.randomUUIDv7()))
    await store.write(async (tx) => {
      await tx.run(
        sql`insert into outbox (id, event, payload, created_at, body) select value, 'order.paid', '{}', ${now}, ${body} from json_each(${ids})`,
      )
      await tx.run(sql`insert into webhook_deliveries (id, webhook_id, event_id, event, about, status, tries, due_at, created_at)
        select value, ${webhookId}, value, 'order.paid', value, 'pending', 0, ${now}, ${now} from json_each(${ids})`)
    })
  }
  await store.write((tx) =>
    tx.run(sql`insert into jobs (id, kind, subject, due_at, attempts, asked, created_at, updated_at)
      values (${Bun.randomUUIDv7()}, 'webhook.deliver', ${webhookId}, ${now}, 0, 1, ${now}, ${now}) on conflict do nothing`),
  )
  store.close()
}

async function deliver(dataDir: string, { keys, database }: Seeded) {
  const hook = sink()
  const env = { FETCH_ALLOW: hook.host }
  const before = await startStoa(dataDir, env)
  const { id } = await callerOf(before, keys.admin)('POST', '/webhooks', { url: `http://${hook.host}/`, events: ['order.paid'] })
  await before.stop()
  await backlog(dataDir, database, id)
  const stoa = await startStoa(dataDir, env)
  try {
    const restMb = await memoryOf(stoa)
    while (!hook.counted.taken) await Bun.sleep(1)
    const started = performance.now()
    let memoryMb = 0
    while (hook.counted.taken < EVENTS) {
      await Bun.sleep(POLL_MS)
      memoryMb = Math.max(memoryMb, await memoryOf(stoa))
      if (performance.now() - started > DELIVER_MAX_MS) throw new Error(`${hook.counted.taken} of ${EVENTS} events came`)
    }
    const perSecond = EVENTS / ((performance.now() - started) / 1_000)
    await callerOf(stoa, keys.admin)('DELETE', `/webhooks/${id}`)
    return { events: EVENTS, perSecond, restMb, memoryMb }
  } finally {
    await stoa.stop()
    hook.stop()
  }
}

async function checkouts(dataDir: string, { keys, variantIds }: Seeded) {
  const hook = sink()
  const stoa = await startStoa(dataDir, { FETCH_ALLOW: hook.host })
  const call = callerOf(stoa, keys.admin)
  const headers = { authorization: `Bearer ${keys.admin}` }
  const address = { line1: '1000 SW Broadway', city: 'Portland', postalCode: '97205', country: 'US' }
  const shippingMethodId = (await call('POST', '/shipping', { name: 'Courier', type: 'courier', price: 5 })).id
  const cartOf = async (n: number) =>
    (await call('POST', '/carts', { items: [{ variantId: variantIds[n % variantIds.length] }] })).id as string
  const round = async () => {
    const carts: string[] = []
    for (let n = 0; n < CHECKOUTS; n++) carts.push(await cartOf(n))
    const body = { email: 'ada@example.com', paymentMethod: 'test', shippingMethodId, shippingAddress: address }
    const next = (n: number): Operation | null =>
      n < CHECKOUTS ? { first: requestOf('POST', `/api/v1/carts/${carts[n]}/checkout`, headers, body), expect: [201] } : null
    return percentile(await run({ port: stoa.port, connections: BUYERS, maxMs: CHECKOUT_MAX_MS, next }), 0.99)
  }
  const drained = async () => {
    for (let before = -1; before !== hook.counted.taken; await Bun.sleep(1_000)) before = hook.counted.taken
  }
  try {
    const [alone, beside]: [number[], number[]] = [[], []]
    await round()
    for (let i = 0; i < ROUNDS; i++) {
      alone.push(await round())
      const ids: string[] = []
      for (let n = 0; n < WEBHOOKS; n++)
        ids.push((await call('POST', '/webhooks', { url: `http://${hook.host}/${n}`, events: ['order.created', 'order.paid'] })).id)
      beside.push(await round())
      await drained()
      for (const id of ids) await call('DELETE', `/webhooks/${id}`)
    }
    return { aloneP99Ms: median(alone), besideP99Ms: median(beside) }
  } finally {
    await stoa.stop()
    hook.stop()
  }
}

/** Measures both over a seeded store. Throws when an event does not come. */
export async function measureWebhooks(dataDir: string, seeded: Seeded): Promise<Told> {
  return { ...(await deliver(dataDir, seeded)), ...(await checkouts(dataDir, seeded)) }
}
