/** Orders that nobody pays, cancelled by processes that are killed while they do it. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stripeDouble, type StripeDouble } from '../doubles/stripe.ts'
import { ADDRESS, openShop, type Server, type Shop } from './servers.ts'

let shop: Shop
let stripe: StripeDouble
beforeAll(async () => {
  ;[shop, stripe] = [await openShop(), stripeDouble()]
})
afterAll(async () => {
  await shop.close()
  stripe.close()
})

/** Orders of each kind; of those at Stripe, so many are paid there though nobody was told. */
const ORDERS = 150
const PAID = 10
const KILLS = 4
const STOCK = 1_000
/** How long Stripe takes to answer. */
const STRIPE_MS = 5

type Counts = { cancelled: number; paid: number; events: number; entries: number; reserved: number; redeemed: number }

test('orders that nobody paid are cancelled once each, and none that was paid, though the processes that do it are killed', async () => {
  const env = { STRIPE_SECRET_KEY: stripe.secretKey, STRIPE_WEBHOOK_SECRET: stripe.webhookSecret, STRIPE_API_BASE: stripe.url }
  const start = () => shop.start(env)
  let servers: Server[] = [await start()]
  const call = async (method: string, path: string, body?: unknown) => {
    const reply = await shop.call(servers.at(-1)!, method, path, body)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const variantId = (await call('POST', '/products', { name: 'Candle', price: 4.2, stock: { quantity: STOCK } })).variants[0].id
  const shippingMethodId = (await call('POST', '/shipping', { name: 'Courier', type: 'courier', price: 5 })).id
  await call('POST', '/coupons', { code: 'STORM', type: 'percentage', value: 5 })
  const order = async (paymentMethod: string, n: number) => {
    const cart = (await call('POST', '/carts', { items: [{ variantId, quantity: 1 + (n % 3) }] })).id
    await call('POST', `/carts/${cart}/coupons`, { code: 'STORM' })
    const about = { email: `b${n}@example.com`, shippingMethodId, shippingAddress: ADDRESS }
    return (await call('POST', `/carts/${cart}/checkout`, { ...about, paymentMethod })).order.id as string
  }
  for (let n = 0; n < ORDERS; n++) await Promise.all([order('manual', n), order('stripe', n)])
  for (const id of [...stripe.intents.keys()].slice(0, PAID)) stripe.pay(id)
  await Promise.all(servers.map((server) => server.stop()))
  const long = '2020-01-01T00:00:00.000Z'
  await shop.inside((store) =>
    store.write(async (tx) => {
      await tx.run(sql`update orders set awaiting_since = ${long}`)
      await tx.run(sql`update jobs set due_at = ${long} where kind = 'orders.unpaid'`)
    }),
  )
  stripe.meanwhile = () => Bun.sleep(STRIPE_MS)
  const counts = () =>
    shop.inside(async ({ read }) => {
      const [row] = (await read.all(sql`select
        (select count(*) from orders where status = 'cancelled'),
        (select count(*) from orders where status = 'paid'),
        (select count(*) from outbox where event = 'order.cancelled'),
        (select count(distinct payload) from outbox where event = 'order.cancelled'),
        (select sum(reserved) from variants), (select sum(times_redeemed) from coupons)`)) as [number[]]
      const [cancelled, paid, events, entries, reserved, redeemed] = row as never as number[]
      return { cancelled, paid, events, entries, reserved, redeemed } as Counts
    })
  const total = 2 * ORDERS
  servers = [await start(), await start()]
  for (let kill = 1; kill <= KILLS; kill++) {
    let seen: Counts
    do {
      await Bun.sleep(5)
      seen = await counts()
    } while (seen.cancelled < (total * kill) / (KILLS + 2))
    await Promise.all(servers.map((server) => server.stop('SIGKILL')))
    // It was killed in the middle: there was something left to do.
    expect((await counts()).cancelled).toBeLessThan(total - PAID)
    servers = [await start(), await start()]
  }
  const ended = total - PAID
  const deadline = Date.now() + 60_000
  while ((await counts()).cancelled + (await counts()).paid < total && Date.now() < deadline) await Bun.sleep(50)
  await Promise.all(servers.map((server) => server.stop()))
  const sold = await shop.inside(async ({ read }) =>
    Number(
      (
        (await read.all(
          sql`select sum(l.quantity) from order_lines l join orders o on o.id = l.order_id where o.status = 'paid'`,
        )) as number[][]
      )[0]![0],
    ),
  )
  expect(await counts()).toEqual({ cancelled: ended, paid: PAID, events: ended, entries: ended, reserved: sold, redeemed: PAID })
  // At Stripe nothing is left that could be paid, and what was paid there was not given up.
  expect(Map.groupBy(stripe.intents.values(), ({ status }) => status as string).get('canceled')!.length).toBe(ORDERS - PAID)
  expect([...stripe.intents.values()].filter(({ status }) => status === 'succeeded').length).toBe(PAID)
}, 180_000)
