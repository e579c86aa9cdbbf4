/** Webhooks of two server processes that are killed in a storm of orders: nothing is lost, nothing is made up, and what repeats says so. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { receiver, type Receiver } from '../doubles/receiver.ts'
import { ADDRESS, openShop, type Server, type Shop } from './servers.ts'

let shop: Shop
const hooks: Record<'good' | 'other' | 'slow' | 'failing' | 'gone', Receiver> = {
  good: receiver(),
  other: receiver(),
  slow: receiver(),
  failing: receiver(),
  gone: receiver(),
}
const living = [hooks.good, hooks.other, hooks.slow, hooks.failing]
beforeAll(async () => {
  shop = await openShop()
})
afterAll(async () => {
  await shop.close()
  await Promise.all(Object.values(hooks).map((hook) => hook.close()))
})

/** `STORM_ORDERS=10000` is what releases are measured with. */
const ORDERS = Number(process.env.STORM_ORDERS ?? 400)
const BUYERS = 8
const KILLS = 5
const SETTLED_MAX_MS = 90_000 + ORDERS * 20

test(
  'every event of every order reaches each receiver that lives, under one id, created before paid',
  async () => {
    hooks.slow.answer = async () => {
      await Bun.sleep(30)
      return new Response('ok')
    }
    // Every fifth event is refused at first.
    const refused = new Set<string>()
    hooks.failing.answer = ({ id }) => {
      if (Bun.hash(id) % 5n || refused.has(id)) return new Response('ok')
      refused.add(id)
      return new Response('not now', { status: 503 })
    }
    hooks.gone.answer = (_, nth) => new Response(null, { status: nth > 20 ? 410 : 200 })

    const env = {
      FETCH_ALLOW: Object.values(hooks)
        .map(({ host }) => host)
        .join(','),
      WORKERS: '1',
    }
    const servers: Server[] = [await shop.start(env), await shop.start(env)]
    const call = (at: number, method: string, path: string, body?: unknown) => shop.call(servers[at]!, method, path, body)
    const ids: string[] = []
    for (const hook of Object.values(hooks)) {
      const { body } = await call(0, 'POST', '/webhooks', { url: hook.url, events: ['order.created', 'order.paid'] })
      hook.secrets.set('/', body.secret)
      ids.push(body.id)
    }
    const { body: product } = await call(0, 'POST', '/products', { name: 'Candle', price: 4.2, stock: { quantity: 1_000_000 } })
    const shippingMethodId = (await call(0, 'POST', '/shipping', { name: 'Courier', type: 'courier', price: 5 })).body.id as string

    const acknowledged = new Set<string>()
    const buy = async (buyer: number) => {
      for (let n = buyer; acknowledged.size < ORDERS; n++) {
        try {
          const { body: cart } = await call(n % 2, 'POST', '/carts', { items: [{ variantId: product.variants[0].id }] })
          const bought = await call(n % 2, 'POST', `/carts/${cart.id}/checkout`, {
            ...{ email: `b${buyer}@example.com`, paymentMethod: 'test', shippingMethodId, shippingAddress: ADDRESS },
          })
          if (bought.status === 201) acknowledged.add(bought.body.order.id)
        } catch {
          /* that server is gone: the other one goes on */
          await Bun.sleep(5)
        }
      }
    }
    const buyers = Promise.all(Array.from({ length: BUYERS }, (_, i) => buy(i)))
    for (let kill = 0; kill < KILLS; kill++) {
      while (acknowledged.size < (ORDERS * (kill + 1)) / (KILLS + 1)) await Bun.sleep(5)
      await servers[kill % 2]!.stop('SIGKILL')
      servers[kill % 2] = await shop.start(env)
    }
    await buyers

    await shop.inside(async ({ read: db }) => {
      const one = async (query: ReturnType<typeof sql>) => Number(Object.values((await db.all<Record<string, number>>(query))[0]!)[0])
      for (
        const deadline = Date.now() + SETTLED_MAX_MS;
        await one(sql`select count(*) from webhook_deliveries where status = 'pending'`);
      ) {
        expect(Date.now()).toBeLessThan(deadline)
        await Bun.sleep(100)
      }
      const orders = (await db.all<Record<string, string>>(sql`select id from orders`)).map((row) => Object.values(row)[0]!)
      expect(orders.length).toBeGreaterThanOrEqual(ORDERS)
      expect(acknowledged.difference(new Set(orders)).size).toBe(0)
      for (const hook of living) {
        expect(hook.forged).toBe(0)
        const first = new Map<string, { id: string; at: number }>()
        for (const [at, { id, type, data }] of hook.received.entries()) {
          const key = `${data.id} ${type}`
          const known = first.get(key)
          if (known) expect(id).toBe(known.id)
          else first.set(key, { id, at })
        }
        expect(first.size).toBe(orders.length * 2)
        for (const order of orders) expect(first.get(`${order} order.created`)!.at).toBeLessThan(first.get(`${order} order.paid`)!.at)
      }
      // What is gone was told nothing more, and of each order what it was told is told once.
      const { body: gone } = await call(0, 'GET', `/webhooks/${ids[4]}`)
      expect(gone).toMatchObject({ active: false, disabledReason: 'gone' })
      expect(await one(sql`select count(*) from webhook_deliveries where status = 'failed' and webhook_id <> ${ids[4]}`)).toBe(0)
      expect(refused.size).toBeGreaterThan(0)
    })
  },
  SETTLED_MAX_MS + 120_000,
)
