/** The rules that prices are remembered by: a cart never costs what an older rule said. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readRules } from '../../api/pricing/price-rules.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
let variantId: string
let cartId: string
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  app.clock.real()
  shop = await newShop(app)
  variantId = await shop.variant()
  cartId = (await shop.cart([{ variantId, quantity: 10 }])).id
})
afterAll(() => app.close())

const cart = async () => made(await shop.get(`/carts/${cartId}`))
const total = async () => (await cart()).totalCents as number
const inStore = <T>(fn: Parameters<TestApp['handles']['use']>[2]) => app.handles.use(shop.store.id, 'live', fn) as Promise<T>

describe('a cart of 100.00 costs what the rules of this moment say', () => {
  test('when a promotion is added, changed, turned off and deleted', async () => {
    expect(await total()).toBe(100_00)
    const { id } = await shop.promotion({ type: 'percentage', value: 10 })
    expect(await total()).toBe(90_00)
    made(await shop.patch(`/promotions/${id}`, { value: 20 }))
    expect(await total()).toBe(80_00)
    made(await shop.patch(`/promotions/${id}`, { active: false }))
    expect(await total()).toBe(100_00)
    made(await shop.patch(`/promotions/${id}`, { active: true }))
    expect(await total()).toBe(80_00)
    expect((await shop.remove(`/promotions/${id}`)).status).toBe(200)
    expect(await total()).toBe(100_00)
  })

  test('when a promotion begins and ends, also for a clock that is set back', async () => {
    const hour = 3_600_000
    const at = (hours: number) => new Date(app.clock.now.getTime() + hours * hour).toISOString()
    await shop.promotion({ type: 'percentage', value: 10, startsAt: at(1), endsAt: at(3) })
    const totals: number[] = [await total()]
    for (const hours of [2, 2, -2]) {
      app.clock.advance(hours * hour)
      totals.push(await total())
    }
    expect(totals).toEqual([100_00, 90_00, 100_00, 90_00])
  })

  test('when a tax rate or the shipping method changes', async () => {
    const method = await shop.method({ price: 5 })
    const shipped = await shop.variant({ shippable: true })
    cartId = (await shop.cart([{ variantId: shipped }])).id
    made(await shop.patch(`/carts/${cartId}`, { shippingMethodId: method }))
    expect(await cart()).toMatchObject({ shippingCents: 5_00, taxCents: 0 })
    const { id } = made(await shop.post('/tax-rates', { name: 'VAT', rate: 25, default: true }))
    expect((await cart()).taxCents).toBe(3_00)
    made(await shop.patch(`/tax-rates/${id}`, { rate: 100 }))
    expect((await cart()).taxCents).toBe(7_50)
    made(await shop.patch(`/shipping/${method}`, { name: 'Courier', type: 'courier', price: 7 }))
    expect((await cart()).shippingCents).toBe(7_00)
  })

  test('when the change was written past the API, by another process', async () => {
    expect(await total()).toBe(100_00)
    const { id } = await shop.promotion({ type: 'percentage', value: 10 })
    expect(await total()).toBe(90_00)
    await inStore((store) => store.write((tx) => tx.run(sql`update promotions set percentage = 50 where id = ${id}`)))
    expect(await total()).toBe(50_00)
  })

  test('when the change was undone: what a rolled back write has read is not remembered', async () => {
    const { id } = await shop.promotion({ type: 'percentage', value: 10 })
    const now = new Date().toISOString()
    const undone = inStore((store) =>
      store.write(async (tx) => {
        await tx.run(sql`update promotions set percentage = 50 where id = ${id}`)
        expect((await readRules(tx, now)).promotions[0]!.percentage).toBe(50)
        throw new Error('undo')
      }),
    )
    await expect(undone).rejects.toThrow('undo')
    expect(await total()).toBe(90_00)
  })

  test('when one promotion of more than 500 ends, which had kept another out', async () => {
    await shop.promotion({ name: 'Kept out', type: 'percentage', value: 10, priority: -1 })
    const insert = (n: number) => sql`
      insert into promotions (id, name, type, percentage, currency_amounts, tiers, product_ids, collection_ids, category_ids, brand_ids, ends_at, active, priority, stackable, created_at, updated_at)
      select ${String(n).padStart(36, 'p')}, name, type, 0, currency_amounts, tiers, product_ids, collection_ids, category_ids, brand_ids, ${n ? null : new Date(Date.now() + 3_600_000).toISOString()}, 1, 0, 1, created_at, updated_at from promotions where name = 'Kept out'`
    await inStore((store) =>
      store.write(async (tx) => {
        for (let n = 0; n < 500; n++) await tx.run(insert(n).append(sql` limit 1`))
        await tx.run(sql`update promotions set name = 'Nothing' where id like 'ppp%'`)
      }),
    )
    expect(await total()).toBe(100_00)
    app.clock.advance(2 * 3_600_000)
    expect(await total()).toBe(90_00)
  })
})
