import { afterEach, beforeEach, expect, test } from 'vitest'
import { sql } from 'drizzle-orm'
import { ADDRESS, openShop, type Shop } from './servers.ts'

let shop: Shop
beforeEach(async () => {
  shop = await openShop()
})
afterEach(() => shop.close())

/** Buyers at once, rounds of killing, and how many orders and how much time each storm has before it is cut off. */
const BUYERS = 24
const KILLS = 3
const ORDERS_LEAST = 20
const STORM_MS = 700
/** A libSQL server keeps the lock of a client that was killed for some seconds. */
const STORM_MAX_MS = 30_000
const STOCK = 100_000

test.each([
  ['after kill -9 in a storm of checkouts every acknowledged order is there, and no stock or number is lost', 1],
  ['of two processes, either may be killed in such a storm: the other one sells on, and nothing is lost or doubled', 2],
])(
  '%s',
  async (_, processes) => {
    const servers = await Promise.all(Array.from({ length: processes }, () => shop.start()))
    const callAt = (n: number, ...[method, path, body]: [string, string, unknown?]) =>
      shop.call(servers[n % processes]!, method, path, body)
    const call = (...request: [string, string, unknown?]) => callAt(0, ...request)
    const variantId = (await call('POST', '/products', { name: 'Candle', price: 4.2, stock: { quantity: STOCK } })).body.variants[0]
      .id as string
    const shippingMethodId = (await call('POST', '/shipping', { name: 'Courier', type: 'courier', price: 5 })).body.id as string
    await call('POST', '/coupons', { code: 'STORM', type: 'percentage', value: 5 })
    const acknowledged = new Map<string, string>()
    /** Orders that each process has acknowledged. */
    const bought = servers.map(() => 0)

    for (let kill = 0; kill < KILLS; kill++) {
      let blowing = true
      const buy = async (buyer: number) => {
        for (let n = 0; blowing; n++) {
          try {
            const cart = (await callAt(buyer, 'POST', '/carts', { items: [{ variantId, quantity: 1 + (n % 3) }] })).body.id
            await callAt(buyer, 'POST', `/carts/${cart}/coupons`, { code: 'STORM' })
            const { status, body } = await callAt(buyer, 'POST', `/carts/${cart}/checkout`, {
              email: `b${buyer}@example.com`,
              paymentMethod: 'test',
              shippingMethodId,
              shippingAddress: ADDRESS,
            })
            if (status !== 201) continue
            acknowledged.set(body.order.id, body.order.orderNumber)
            bought[buyer % processes]!++
          } catch {
            // The server is gone: what it did not acknowledge may or may not be there.
            await Bun.sleep(5)
          }
        }
      }
      const buyers = Promise.all(Array.from({ length: BUYERS }, (_, i) => buy(i)))
      const [before, started] = [acknowledged.size, performance.now()]
      const blown = () => performance.now() - started
      while (blown() < STORM_MS || (acknowledged.size - before < ORDERS_LEAST && blown() < STORM_MAX_MS)) await Bun.sleep(20)
      const killed = kill % processes
      await servers[killed]!.stop('SIGKILL')
      expect(acknowledged.size - before).toBeGreaterThanOrEqual(ORDERS_LEAST)
      const sold = bought.map((count) => count)
      const goesOn = () => bought.every((count, n) => n === killed || count > sold[n]! + ORDERS_LEAST)
      for (const deadline = performance.now() + STORM_MAX_MS; !goesOn(); await Bun.sleep(20))
        if (performance.now() > deadline) throw new Error('the other process sells nothing any more')
      blowing = false
      await buyers
      servers[killed] = await shop.start()
    }

    await shop.inside(async ({ read: db }) => {
      const rows = (await db.all<{ id: string; lookup: number }>(sql`select id, lookup from orders order by lookup`)) as never as [
        string,
        number,
      ][]
      const stored = new Map(
        rows.map((row) => {
          const [id, lookup] = Object.values(row) as [string, number]
          return [id, String(lookup)]
        }),
      )
      for (const [id, number] of acknowledged) expect(stored.get(id)).toBe(number)
      expect([...stored.values()].map(Number)).toEqual(Array.from({ length: stored.size }, (_, i) => 1001 + i))
      const one = async (query: ReturnType<typeof sql>) => Number(Object.values((await db.all<Record<string, number>>(query))[0]!)[0])
      const sold = await one(sql`select sum(quantity) from order_lines`)
      expect(await one(sql`select quantity - reserved from variants where id = ${variantId}`)).toBe(STOCK - sold)
      expect(await one(sql`select times_redeemed from coupons`)).toBe(await one(sql`select count(*) from coupon_redemptions`))
      expect(await one(sql`select count(*) from coupon_redemptions`)).toBe(stored.size)
      expect(await one(sql`select count(*) from carts where order_id is not null`)).toBe(stored.size)
      expect(await one(sql`select count(*) from outbox where event = 'order.paid'`)).toBe(stored.size)
      expect((await db.all(sql`pragma integrity_check`)).length).toBe(1)
    })
  },
  180_000,
)
