/** What the tests of checkout, orders and marketing buy with: a store whose products, carts and orders take one line each. */
import { sql, type SQL } from 'drizzle-orm'
import { expect } from 'vitest'
import type { Environment } from '../db/open.ts'
import type { NewStore } from '../db/control/first-settings.ts'
import type { Answer, CallOptions, TestApp, TestStore } from './harness.ts'

/** Where everything is sent, unless a test is about where it is sent. */
export const ADDRESS = { name: 'Ada Lovelace', line1: 'Długa 1', city: 'Gdańsk', postalCode: '80-831', country: 'PL' }

/** How many there are of all that a checkout writes; `number` is the last order number. */
const TRACES = {
  orders: sql`(select count(*) from orders)`,
  lines: sql`(select count(*) from order_lines)`,
  payments: sql`(select count(*) from payments)`,
  customers: sql`(select count(*) from customers)`,
  redemptions: sql`(select count(*) from coupon_redemptions)`,
  redeemed: sql`(select coalesce(sum(times_redeemed), 0) from coupons)`,
  events: sql`(select count(*) from outbox)`,
  movements: sql`(select count(*) from inventory_movements)`,
  reserved: sql`(select coalesce(sum(reserved), 0) from variants)`,
  converted: sql`(select count(*) from carts where order_id is not null)`,
  number: sql`(select coalesce(max(value), 0) from counters where name = 'order')`,
}
type Traces = Record<keyof typeof TRACES, number>

interface Order {
  items?: object[]
  bundles?: object[]
  coupons?: string[]
  paymentMethod?: string
  [field: string]: unknown
}

export interface Shop extends TestStore {
  get(path: string, options?: CallOptions): Promise<Answer>
  post(path: string, body?: unknown, options?: CallOptions): Promise<Answer>
  patch(path: string, body: unknown, options?: CallOptions): Promise<Answer>
  remove(path: string, options?: CallOptions): Promise<Answer>
  /** The id of a variant of a new product: 10.00, 100 on the shelf, not shipped, unless told otherwise. */
  variant(variant?: object, product?: object): Promise<string>
  /** The id of a new bundle. */
  bundle(parts: [variantId: string, quantity: number][], discountPercentage?: number, more?: object): Promise<string>
  method(input?: object): Promise<string>
  coupon(input?: object): Promise<any>
  promotion(input?: object): Promise<any>
  settings(patch: object): Promise<void>
  cart(items?: object[], more?: object): Promise<any>
  checkOut(cartId: string, body?: object, options?: CallOptions): Promise<Answer>
  /** A placed order; paid at once unless told otherwise. */
  buy(order: Order): Promise<any>
  order(id: string): Promise<any>
  stock(variantId: string): Promise<{ quantity: number; reserved: number; available: number }>
  /** The deltas of a variant's ledger, oldest first. */
  ledger(variantId: string): Promise<number[]>
  /** Rows of the store's database, each as a list in column order. */
  rows(query: SQL, environment?: Environment): Promise<any[][]>
  /** Writes past the API. */
  change(query: SQL): Promise<void>
  traces(): Promise<Traces>
  events(): Promise<string[]>
}

/** The body of an answer that is a success. */
export function made({ status, body, text }: Answer): any {
  expect(status, text).toBeLessThan(300)
  return body
}

/** The paths of a 400's details. */
export const paths = ({ status, body, text }: Answer): string[] => {
  expect(status, text).toBe(400)
  return body.details.map((detail: { path: string[] }) => detail.path.join('.'))
}

export async function newShop(app: TestApp, input: Partial<NewStore> = {}): Promise<Shop> {
  const store = await app.newStore(input)
  let count = 0
  const { call } = store
  const shop: Shop = {
    ...store,
    get: (path, options) => call('GET', path, undefined, options),
    post: (path, body = {}, options) => call('POST', path, body, options),
    patch: (path, body, options) => call('PATCH', path, body, options),
    remove: (path, options) => call('DELETE', path, undefined, options),
    variant: async (variant = {}, product = {}) =>
      made(
        await shop.post('/products', {
          name: `Thing ${++count}`,
          status: 'published',
          variants: [{ price: 10, shippable: false, stock: { quantity: 100 }, ...variant }],
          ...product,
        }),
      ).variants[0].id,
    bundle: async (parts, discountPercentage = 0, more = {}) =>
      made(
        await shop.post('/bundles', {
          name: `Set ${++count}`,
          status: 'published',
          discountPercentage,
          variants: parts.map(([variantId, quantity], position) => ({ variantId, quantity, position })),
          ...more,
        }),
      ).id,
    method: async (input = {}) => made(await shop.post('/shipping', { name: 'Courier', type: 'courier', price: 5, ...input })).id,
    coupon: async (input = {}) => made(await shop.post('/coupons', { code: `C${++count}`, type: 'percentage', value: 10, ...input })),
    promotion: async (input = {}) => made(await shop.post('/promotions', { name: 'Sale', type: 'percentage', value: 10, ...input })),
    settings: async (patch) => void made(await shop.patch('/settings', patch)),
    cart: async (items = [], more = {}) => made(await shop.post('/carts', { items, ...more })),
    checkOut: (cartId, body = {}, options) =>
      shop.post(`/carts/${cartId}/checkout`, { email: 'ada@example.com', paymentMethod: 'test', ...body }, options),
    async buy({ items = [], bundles = [], coupons = [], currency, ...body }) {
      const { id } = await shop.cart(items, currency ? { currency } : {})
      for (const bundle of bundles) made(await shop.post(`/carts/${id}/items`, bundle))
      for (const code of coupons) made(await shop.post(`/carts/${id}/coupons`, { code }))
      return made(await shop.checkOut(id, body)).order
    },
    order: async (id) => made(await shop.get(`/orders/${id}`)),
    async stock(variantId) {
      const { quantity, reserved, available } = made(await shop.get(`/variants/${variantId}`)).stock
      return { quantity, reserved, available }
    },
    ledger: async (variantId) =>
      made(await shop.get(`/inventory/${variantId}/movements?limit=100`))
        .data.map(({ delta }: { delta: number }) => delta)
        .reverse(),
    rows: (query, environment = 'live') =>
      app.handles.use(store.store.id, environment, (handle) => handle.read.all(query) as Promise<any[][]>),
    change: (query) =>
      app.handles.use(store.store.id, 'live', async (handle) => {
        await handle.write((tx) => tx.run(query))
      }),
    async traces() {
      const names = Object.keys(TRACES) as (keyof Traces)[]
      const [row] = await shop.rows(
        sql`select ${sql.join(
          names.map((name) => TRACES[name]),
          sql`, `,
        )}`,
      )
      return Object.fromEntries(names.map((name, i) => [name, Number(row![i])])) as Traces
    },
    events: async () =>
      (await shop.rows(sql`select event from outbox where event not like 'product.%' order by id`)).map(([event]) => event),
  }
  return shop
}
