/** Looking up tickets tells nothing by how long it takes (traps, 52): which of code and address was wrong, or whether there are tickets. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
  shop = await newShop(app)
})
afterAll(() => app.close())

const SAMPLES = 2_000
/** How far from one half the chance may be that one kind takes longer than another. */
const CHANCE_MAX = 0.05

/** The chance that a sample of `a` is larger than one of `b`, ties counted half: one half when nobody can tell them apart. */
function chance(a: readonly number[], b: readonly number[]): number {
  const all = [...a.map((value) => ({ value, isA: true })), ...b.map((value) => ({ value, isA: false }))].sort((x, y) => x.value - y.value)
  let ranks = 0
  for (let i = 0; i < all.length;) {
    let end = i
    while (end < all.length && all[end]!.value === all[i]!.value) end++
    for (let k = i; k < end; k++) if (all[k]!.isA) ranks += (i + 1 + end) / 2
    i = end
  }
  return (ranks - (a.length * (a.length + 1)) / 2) / (a.length * b.length)
}

test('the measure tells 2 % apart', () => {
  const around = (middle: number) => Array.from({ length: SAMPLES }, () => middle * (1 + (Math.random() - 0.5) / 10))
  expect(Math.abs(chance(around(1), around(1)) - 0.5)).toBeLessThan(CHANCE_MAX)
  expect(Math.abs(chance(around(1.02), around(1)) - 0.5)).toBeGreaterThan(CHANCE_MAX)
})

/** Who asks says the same each time. */
const EMAIL = 'gracy@example.com'

test('an unknown code, another address and an order without tickets take the same time, over 2,000 samples of each', async () => {
  const { event } = made(await shop.post('/events', { name: 'Workshop', price: '25' }))
  const ticket = made(await shop.get(`/products/${event.id}`)).variants[0].id
  const bought = await shop.buy({ items: [{ variantId: ticket, quantity: 3 }], email: 'grace@example.com' })
  const plain = await shop.buy({ items: [{ variantId: await shop.variant() }], email: EMAIL })
  // What is read for the time that it takes is no order of these.
  await shop.buy({ items: [{ variantId: await shop.variant() }], email: 'grace@example.com' })
  const unknown = bought.accessCode.split('').reverse().join('')
  const kinds: Record<string, string> = {
    'unknown code': `/tickets/${unknown}?email=${EMAIL}`,
    'another address': `/tickets/${bought.accessCode}?email=${EMAIL}`,
    'no tickets': `/tickets/${plain.accessCode}?email=${EMAIL}`,
  }
  const took: Record<string, number[]> = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]))
  const headers = { authorization: `Bearer ${shop.keys.storefront}` }
  const names = Object.keys(kinds)
  // As they come over the network: a text that was read beside letters of other scripts is wider in memory, and takes longer.
  const urls = Object.fromEntries(names.map((kind) => [kind, Buffer.from(`http://localhost/api/v1${kinds[kind]}`).toString('latin1')]))
  const requestOf = (kind: string) => new Request(urls[kind]!, { headers })
  // The first hundreds are for the compiler.
  for (let n = -300; n < SAMPLES; n++)
    for (const kind of names.toSorted(() => Math.random() - 0.5)) {
      const request = requestOf(kind)
      const started = Bun.nanoseconds()
      const response = await app.app.fetch(request)
      const ns = Bun.nanoseconds() - started
      if (response.status !== 404) throw new Error(`${kind} is ${response.status}`)
      if (n >= 0) took[kind]!.push(ns)
    }
  for (const [i, one] of names.entries())
    for (const other of names.slice(i + 1))
      expect(Math.abs(chance(took[one]!, took[other]!) - 0.5), `${one} against ${other}`).toBeLessThan(CHANCE_MAX)
}, 120_000)
