/** The rows of the bench: what is asked, how often, and by how many at a time. */
import { HOST, type Operation } from './load.ts'
import { paths, type Operations, type Requests } from './requests.ts'
import type { Seeded } from './seed.ts'

/** The rows, in the order in which they run: those that only read come first. */
export const ROW_NAMES = [
  'list-products',
  'get-product',
  'get-order',
  'product-304',
  'list-products-hot',
  'get-product-hot',
  'list-products-written',
  'get-product-written',
  'add-to-cart',
  'checkout-1',
  'checkout-32',
  'ticket-checkout-32',
  'checkin',
  'reads-beside-checkouts',
] as const
export type RowName = (typeof ROW_NAMES)[number]

const READERS = 16
const BUYERS = 32
const ROUND_MS = 700
const WARM_MS = 400
/** Checkouts of one round: about half a second's worth. */
const CHECKOUTS_1 = 400
const CHECKOUTS_32 = 1_200
/** Checkouts that go on beside the reads of one round; the round ends with them. */
const CHECKOUTS_BESIDE = 4_000
const CHECKOUTS_WARM = 300
/** Guests who come in at a round, through so many doors. */
const CHECKINS = 1_500
const CHECKINS_WARM = 300
const DOORS = 20
/** Writes to another store, and to the one that is read, while remembered answers are asked for. */
const ELSEWHERE_PER_SECOND = 20
const HERE_PER_SECOND = 1

/** One of the two servers, and what it has been asked so far. */
export interface Side {
  name: 'floor' | 'stoa' | 'hot'
  port: number
  /** Carts that are not orders yet, each taken once. */
  carts: Supply
  ticketCarts: Supply
  /** Of guests who have not come. */
  tokens: Supply
}
interface Supply {
  ids: readonly string[]
  used: number
}

/** A load of a row: `most` bounds its operations in a round, `warm` those before the first. */
export interface Part {
  connections: number
  most: number
  warm: number
  operations(side: Side, most: number): Promise<(n: number) => Operation | null>
}

export interface Row {
  name: RowName
  part: Part
  roundMs: number
  warmMs: number
  /** Runs all the time while `part` is measured; then `part` is measured without it too. */
  beside?: Part
  /** Asks the Stoa that remembers its answers; the other one makes each anew. */
  isHot?: boolean
  /** A request that goes to that Stoa so many times a second while it is measured. */
  meanwhile?: { request(): RequestInit & { path: string }; perSecond: number }
}

/** Carts with tickets, and guests, that a run of these rows takes from each side. */
export const ticketsFor = (names: readonly RowName[], rounds: number) => ({
  ticketCarts: names.includes('ticket-checkout-32') ? CHECKOUTS_WARM + rounds * CHECKOUTS_32 : 0,
  seats: names.includes('checkin') ? CHECKINS_WARM + rounds * CHECKINS : 0,
})

/** Carts that a run of these rows takes from each side. */
export const cartsFor = (names: readonly RowName[], rounds: number) =>
  names.reduce(
    (sum, name) =>
      sum +
      (name === 'checkout-1'
        ? CHECKOUTS_WARM + rounds * CHECKOUTS_1
        : name === 'checkout-32'
          ? CHECKOUTS_WARM + rounds * CHECKOUTS_32
          : name === 'reads-beside-checkouts'
            ? CHECKOUTS_WARM + rounds * CHECKOUTS_BESIDE
            : 0),
    0,
  )

const reading = (operations: Operations): Part => ({
  connections: READERS,
  most: Infinity,
  warm: Infinity,
  operations: async () => operations,
})

async function etagsOf({ port }: Side, { productIds }: Seeded, { buyer }: Requests): Promise<Map<string, string>> {
  const etags = new Map<string, string>()
  for (const id of productIds) {
    const response = await fetch(`http://127.0.0.1:${port}${paths.product(id)}`, { headers: { ...buyer, host: HOST } })
    await response.arrayBuffer()
    etags.set(id, response.headers.get('etag')!)
  }
  return etags
}

/** All rows over the seeded data. */
export function rowsOf(seeded: Seeded, ask: Requests): Row[] {
  /** Takes each of a supply once. */
  const taking = (of: (side: Side) => Supply, operation: (id: string, n: number) => Operation, part: Omit<Part, 'operations'>): Part => ({
    ...part,
    async operations(side, count) {
      const supply = of(side)
      const last = Math.min(supply.used + count, supply.ids.length)
      return () => {
        if (supply.used >= last) return null
        const n = supply.used++
        return operation(supply.ids[n]!, n)
      }
    },
  })
  const checkouts = (connections: number, most: number) =>
    taking(({ carts }) => carts, ask.checkout, { connections, most, warm: CHECKOUTS_WARM })
  const row = (name: RowName, part: Part, beside?: Part): Row => ({ name, part, roundMs: ROUND_MS, warmMs: WARM_MS, beside })
  const hot = (asked: Row, meanwhile?: Row['meanwhile']): Row => ({ ...asked, isHot: true, meanwhile })
  const elsewhere = { request: () => ask.newCart(seeded.otherKey), perSecond: ELSEWHERE_PER_SECOND }
  const here = { request: () => ask.newCart(seeded.keys.storefront), perSecond: HERE_PER_SECOND }
  const parts: Record<RowName, () => Row> = {
    'list-products': () => row('list-products', reading(ask.list)),
    'get-product': () => row('get-product', reading(ask.products)),
    'get-order': () => row('get-order', reading(ask.orders)),
    'product-304': () =>
      hot(row('product-304', { ...reading(ask.products), operations: async (side) => ask.unchanged(await etagsOf(side, seeded, ask)) })),
    'list-products-hot': () => hot(row('list-products-hot', reading(ask.list)), elsewhere),
    'get-product-hot': () => hot(row('get-product-hot', reading(ask.popular)), elsewhere),
    'list-products-written': () => hot(row('list-products-written', reading(ask.list)), here),
    'get-product-written': () => hot(row('get-product-written', reading(ask.popular)), here),
    'add-to-cart': () => row('add-to-cart', { ...reading(ask.addToCart), connections: 1 }),
    'checkout-1': () => row('checkout-1', checkouts(1, CHECKOUTS_1)),
    'checkout-32': () => row('checkout-32', checkouts(BUYERS, CHECKOUTS_32)),
    'ticket-checkout-32': () =>
      row(
        'ticket-checkout-32',
        taking(({ ticketCarts }) => ticketCarts, ask.checkout, { connections: BUYERS, most: CHECKOUTS_32, warm: CHECKOUTS_WARM }),
      ),
    checkin: () =>
      row(
        'checkin',
        taking(({ tokens }) => tokens, ask.checkIn, { connections: DOORS, most: CHECKINS, warm: CHECKINS_WARM }),
      ),
    'reads-beside-checkouts': () => row('reads-beside-checkouts', reading(ask.products), checkouts(BUYERS, CHECKOUTS_BESIDE)),
  }
  return ROW_NAMES.map((name) => parts[name]())
}
