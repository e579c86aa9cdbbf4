/** The requests of the bench: the same bytes for the floor and for Stoa. */
import { choosing } from '../seed/choose.ts'
import { requestOf, type Operation } from './load.ts'
import type { Seeded } from './seed.ts'

const SEED = 7
const API = '/api/v1'
/** Where all orders go. */
const ADDRESS = { line1: '1000 SW Broadway', city: 'Portland', state: 'OR', postalCode: '97205', country: 'US' }
/** Orders that are read; the rest only makes the tables as large as they are. */
const ORDERS_READ = 2_000
/** Every other buyer is a customer already. */
const KNOWN_BUYERS = 1_000
/** Products that many look at. */
const POPULAR = 50
const OK = [200]
const NOT_MODIFIED = [304]
const CREATED = [201]
const CREATED_TWICE = [201, 201]

/** Makes the nth operation of a load. */
export type Operations = (n: number) => Operation

/** The paths that are read. */
export const paths = {
  list: `${API}/products?limit=20`,
  product: (id: string) => `${API}/products/${id}`,
  order: (id: string) => `${API}/orders/${id}`,
  cart: (id: string) => `${API}/carts/${id}`,
}

const idOf = (body: string) => (JSON.parse(body) as { id: string }).id
const cycle =
  (list: readonly Operation[]): Operations =>
  (n) =>
    list[n % list.length]!

/** Who buys, how and where it goes. */
const detailsOf =
  ({ customerEmails, methodId }: Seeded) =>
  (n: number) => ({
    email: n % 2 ? customerEmails[n % KNOWN_BUYERS]! : `buyer${n}@example.com`,
    name: 'Ada Lovelace',
    shippingAddress: ADDRESS,
    shippingMethodId: methodId,
    paymentMethod: 'manual',
  })

type Step = [status: number, request: (cartId: string, n: number) => Buffer]

/** Purchases: each a new cart, and what is done with it. */
function purchases(newCart: Buffer, steps: readonly Step[]): Operations {
  const expect = [201, ...steps.map(([status]) => status)]
  return (n) => {
    let cartId = ''
    return {
      first: newCart,
      expect,
      then(body, step) {
        if (step === 0) cartId = idOf(body)
        return steps[step]![1](cartId, n)
      },
    }
  }
}

/** All requests that the rows need, made once over the seeded data. */
export function requests(seeded: Seeded) {
  const { keys, productIds, orderIds, variantIds } = seeded
  const choose = choosing(SEED)
  const buyer = { authorization: `Bearer ${keys.storefront}` }
  const team = { authorization: `Bearer ${keys.admin}` }
  const get = (path: string, headers: Record<string, string>, expect = OK): Operation => ({
    first: requestOf('GET', path, headers),
    expect,
  })
  const post = (path: string, body: unknown) => requestOf('POST', `${API}${path}`, buyer, body)

  const details = detailsOf(seeded)
  const item = () => ({ variantId: choose.one(variantIds), quantity: 1 })
  const addItem: Step = [201, (cartId) => post(`/carts/${cartId}/items`, item())]
  const look: Step = [200, (cartId) => requestOf('GET', paths.cart(cartId), buyer)]
  const checkOut: Step = [201, (cartId, n) => post(`/carts/${cartId}/checkout`, details(n))]

  return {
    buyer,
    team,
    list: cycle([get(paths.list, buyer)]),
    products: cycle(productIds.map(() => get(paths.product(choose.one(productIds)), buyer))),
    /** A few products, again and again. */
    popular: cycle(productIds.slice(0, POPULAR).map((id) => get(paths.product(id), buyer))),
    orders: cycle(Array.from({ length: ORDERS_READ }, () => get(paths.order(choose.one(orderIds)), team))),
    /** Products that the client has already: `etags` by product id. */
    unchanged: (etags: ReadonlyMap<string, string>) =>
      cycle([...etags].map(([id, etag]) => get(paths.product(id), { ...buyer, 'if-none-match': etag }, NOT_MODIFIED))),
    /** A write that has nothing to do with what is read. */
    newCart: (key: string) => ({
      path: `${API}/carts`,
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
    }),
    /** A cart and one line in it. */
    addToCart: ((): Operation => ({
      first: post('/carts', {}),
      expect: CREATED_TWICE,
      then: (body) => post(`/carts/${idOf(body)}/items`, item()),
    })) as Operations,
    /** The checkout of a cart that is there. */
    checkout: (cartId: string, n: number): Operation => ({ first: post(`/carts/${cartId}/checkout`, details(n)), expect: CREATED }),
    /** A guest who comes in. */
    checkIn: (token: string): Operation => ({
      first: requestOf('POST', `${API}/tickets/attendee/${token}/checkin`, team, { by: 'Door 1' }),
      expect: OK,
    }),
    /** A whole purchase. */
    purchase: purchases(post('/carts', {}), [addItem, checkOut]),
    /** The same of a buyer who looks at the cart before the checkout. */
    purchaseLookedAt: purchases(post('/carts', {}), [addItem, look, checkOut]),
    /** What is worked out anew each time: nothing of it is remembered. */
    carts: cycle(seeded.cartIds.map((id) => get(paths.cart(id), buyer))),
  }
}

export type Requests = ReturnType<typeof requests>
