/** Many orders that become ready to pack at once: how the workstations share them, and what other requests feel of it. */
import { callerOf } from './call.ts'
import { percentile, requestOf, run, type Operation } from './load.ts'
import type { Seeded } from './seed.ts'
import { startStoa } from './servers.ts'

const ORDERS = 1_000
const STATIONS = 3
const MAKERS = 32
const READERS = 4
const READ_MS = 1_000
const STORM_MAX_MS = 60_000

export interface Storm {
  orders: number
  seconds: number
  /** Orders at each workstation, most first. */
  split: number[]
  /** p99 of product lists, alone and meanwhile, in ms. */
  aloneP99Ms: number
  besideP99Ms: number
}

/** Pays this many orders at once and counts where they are packed. Throws when one is nowhere. */
export async function stormWorkstations(dataDir: string, { keys, variantIds }: Seeded): Promise<Storm> {
  const stoa = await startStoa(dataDir)
  const { port } = stoa
  const headers = { authorization: `Bearer ${keys.admin}` }
  const call = callerOf(stoa, keys.admin)
  const reading = (until?: AbortSignal) => {
    const list: Operation = { first: requestOf('GET', '/api/v1/products?limit=20', headers), expect: [200] }
    return run({ port, connections: READERS, maxMs: until ? STORM_MAX_MS : READ_MS, until, next: () => list })
  }
  try {
    const stations: string[] = []
    for (let i = 0; i < STATIONS; i++) stations.push((await call('POST', '/workstations', { name: `Table ${i + 1}` })).id)
    await call('PUT', '/workstations/rules', { rules: [{ sources: ['admin'], shippingIds: [], workstationIds: stations }] })
    const orderIds: string[] = []
    const make = (n: number): Operation | null =>
      n < ORDERS
        ? {
            first: requestOf('POST', '/api/v1/orders', headers, {
              customer: { email: `packed${n % 50}@example.com` },
              items: [{ variantId: variantIds[n % variantIds.length] }],
            }),
            // The second request only passes on the first one's answer.
            expect: [201, 200],
            then: (body) => {
              orderIds.push(JSON.parse(body).id)
              return requestOf('GET', '/api/v1/me', headers)
            },
          }
        : null
    await run({ port, connections: MAKERS, maxMs: STORM_MAX_MS, next: make })
    await reading()
    const alone = await reading()
    const over = new AbortController()
    const beside = reading(over.signal)
    const pay = (n: number): Operation | null =>
      n < orderIds.length
        ? { first: requestOf('PATCH', `/api/v1/orders/${orderIds[n]}`, headers, { status: 'paid' }), expect: [200] }
        : null
    const paid = await run({ port, connections: ORDERS, maxMs: STORM_MAX_MS, next: pay })
    over.abort()
    const { data } = await call('GET', '/workstations')
    const split = data.map(({ waitingCount }: { waitingCount: number }) => waitingCount).sort((a: number, b: number) => b - a)
    const placed = split.reduce((sum: number, count: number) => sum + count, 0)
    if (placed !== ORDERS) throw new Error(`${ORDERS - placed} of ${ORDERS} orders are at no workstation`)
    const [aloneP99Ms, besideP99Ms] = [percentile(alone, 0.99), percentile(await beside, 0.99)]
    return { orders: ORDERS, seconds: paid.seconds, split, aloneP99Ms, besideP99Ms }
  } finally {
    await stoa.stop()
  }
}
