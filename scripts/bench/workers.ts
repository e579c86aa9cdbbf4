/** Several processes over one store: what they sell and answer together, in turn with one process, on the same data and load. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { run, type Operation } from './load.ts'
import { requests } from './requests.ts'
import { median } from './rounds.ts'
import { seed, type Seeded } from './seed.ts'
import { startWorkers, type Server } from './servers.ts'

const PRODUCTS = 200
const ORDERS = 1_000
const CARTS = 500
const BUYERS = 16
const READERS = 32
const ROUND_MS = 1_500
const WARM_MS = 1_500
/** Processes of the other side. */
const PROCESSES = 2

/** Rates of one process and of several, and the median of their ratio, round by round. */
export interface Together {
  what: 'purchases' | 'reads'
  processes: number
  alonePerSecond: number
  togetherPerSecond: number
  ratio: number
}

type Part = [what: Together['what'], connections: number, next: (n: number) => Operation]

/** Loads of a seeded store: whole purchases of four requests each, and carts, which are priced anew for each answer. */
function parts(seeded: Seeded): Part[] {
  const { purchaseLookedAt, carts } = requests(seeded)
  return [
    ['purchases', BUYERS, purchaseLookedAt],
    ['reads', READERS, carts],
  ]
}

/** Measures one process and several in turn, in so many rounds. */
export async function measureWorkers(folder: string, rounds: number, processes = PROCESSES): Promise<Together[]> {
  const [one, several] = [join(folder, 'one'), join(folder, 'several')]
  mkdirSync(one, { recursive: true })
  const seeded = await seed({ url: `file:${one}/{name}.db` }, { products: PRODUCTS, orders: ORDERS, carts: CARTS })
  cpSync(one, several, { recursive: true })
  const servers: Server[] = []
  try {
    servers.push(await startWorkers(one, 1))
    servers.push(await startWorkers(several, processes))
    const measured: Together[] = []
    for (const [what, connections, next] of parts(seeded)) {
      const rate = async ({ port }: Server, maxMs = ROUND_MS) => (await run({ port, connections, maxMs, next })).perSecond
      for (const server of servers) await rate(server, WARM_MS)
      const rates: [number, number][] = []
      for (let round = 0; round < rounds; round++) rates.push([await rate(servers[0]!), await rate(servers[1]!)])
      measured.push({
        what,
        processes,
        alonePerSecond: median(rates.map(([alone]) => alone)),
        togetherPerSecond: median(rates.map(([, together]) => together)),
        ratio: median(rates.map(([alone, together]) => together / alone)),
      })
    }
    return measured
  } finally {
    for (const server of servers) await server.stop()
  }
}
