import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inlineScripts } from '../../api/hosting/inline-scripts.ts'
import { servicesFor } from '../../api/services.ts'
import { shopToken } from '../../api/store/mails/shop-links.ts'
import { pricedByPatterns } from './priced-by-patterns.ts'
import { openShop, type PublishedShop } from './published.ts'

let shop: PublishedShop
let pickupId: string
beforeAll(async () => {
  shop = await openShop({ products: 12, more: { enabledCurrencies: ['usd', 'huf', 'idr', 'eur'] } })
  const oak = { name: 'Oak table', slug: 'oak-table', price: 20_000, prices: { huf: 10_000, idr: 1_000_000 }, stock: { quantity: 50 } }
  expect((await shop.call('POST', '/products', { ...oak, compareAtPrice: 25_000 })).status).toBe(201)
  for (const { id } of (await shop.call('GET', '/shipping')).body.data) await shop.call('DELETE', `/shipping/${id}`)
  for (const type of ['courier', 'in_store']) {
    const free = { name: type, type, price: 0, currencyPrices: { huf: { price: 0 }, idr: { price: 0 } } }
    expect(await shop.call('POST', '/shipping', free)).toMatchObject({ status: 201 })
  }
  const place = {
    label: 'Kiln',
    name: 'The kiln',
    line1: 'Yard 3',
    city: 'Portland',
    postalCode: '97205',
    country: 'US',
    phone: '+15035550100',
  }
  pickupId = (await shop.call('POST', '/pickup-locations', place)).body.id
  // A page with a script of its own.
  const cart = join(shop.config.dataDir, 'builder', shop.store.id, 'src/pages/[...lang]/cart.astro')
  writeFileSync(cart, readFileSync(cart, 'utf8').replace('<Notice ', '<script is:inline>window.own = 1</script><Notice '))
  expect(await shop.publish()).toMatchObject({ status: 'live' })
}, 60_000)
afterAll(() => shop?.close())

const host = () => `shop.localhost:${shop.api.port}`

/** A visitor's browser without scripts: it keeps cookies, and sends forms. */
function visitor() {
  const jar = new Map<string, string>()
  const ask = async (path: string, init: RequestInit = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await shop.visit(host(), path, { ...init, headers: { ...(init.headers as Record<string, string>), cookie } })
    for (const set of response.headers.getSetCookie())
      jar.set(set.slice(0, set.indexOf('=')), set.slice(set.indexOf('=') + 1).split(';')[0]!)
    return response
  }
  return {
    jar,
    page: async (path: string) => (await ask(path)).text(),
    send: (path: string, fields: Record<string, string>) =>
      ask(`/_shop/${path}`, {
        method: 'POST',
        body: new URLSearchParams({ from: '/checkout', ...fields }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
  }
}
const of = (name: string, html: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)![1]!
const ADDRESS = { email: 'ada@example.com', name: 'Ada', line1: 'A 1', city: 'P', postalCode: '1', country: 'US' }

/** A visitor who has put a table into the cart, in a currency, and said where it goes. */
async function withTable(currency: string) {
  const her = visitor()
  expect((await her.send('currency', { currency })).status).toBe(303)
  const table = await her.page('/products/oak-table')
  expect((await her.send('cart/items', { variantId: of('variantId', table), quantity: '1' })).status).toBe(303)
  expect((await her.send('checkout/address', ADDRESS)).status).toBe(303)
  return her
}

describe.each([
  ['usd', 2_000_000],
  ['huf', 1_000_000],
  ['idr', 100_000_000],
])('in %s', (currency, cents) => {
  test(`a table of ${cents} in minor units is bought at its price, and not at another one`, async () => {
    const her = await withTable(currency)
    const page = await her.page('/checkout')
    const total = of('expectedTotalCents', page)
    expect(total).toBe(String(cents))
    const order = { shippingMethodId: of('shippingMethodId', page), paymentMethod: 'test' }
    for (const other of [String(cents - 1), `${cents}0`, 'x', '-1', '1e6', '99999999999999999999'])
      expect([other, (await her.send('checkout', { ...order, expectedTotalCents: other })).status]).toEqual([
        other,
        /^\d{1,15}$/.test(other) ? 409 : 400,
      ])
    const placed = await her.send('checkout', { ...order, expectedTotalCents: total })
    expect([placed.status, placed.headers.get('location')]).toEqual([303, expect.stringMatching(/^\/order\//)])
    expect((await shop.call('GET', '/orders?limit=1')).body.data[0]).toMatchObject({ currency, totalCents: cents })
  })

  test('it is collected in store, which is asked for with the order', async () => {
    const her = await withTable(currency)
    const page = await her.page('/checkout')
    const [, method] = /value="([^"]+)"[^>]*>\s*<span>in_store/.exec(page)!
    const order = { shippingMethodId: method!, [`place-${method}`]: pickupId, paymentMethod: 'test' }
    const placed = await her.send('checkout', { ...order, expectedTotalCents: of('expectedTotalCents', page) })
    expect([placed.status, placed.headers.get('location')]).toEqual([303, expect.stringMatching(/^\/order\//)])
  })
})

test('a form that names no total is asked once more when the method changes it, and then no more', async () => {
  const paid = { name: 'dear', type: 'in_store', price: 5 }
  const { body } = await shop.call('POST', '/shipping', paid)
  const her = await withTable('usd')
  const order = { shippingMethodId: body.id, [`place-${body.id}`]: pickupId, paymentMethod: 'test' }
  expect((await her.send('checkout', order)).status).toBe(409)
  expect((await her.send('checkout', order)).status).toBe(303)
  await shop.call('DELETE', `/shipping/${body.id}`)
})

test('more than 999,999 points are used; what is no number of points changes nothing', async () => {
  expect((await shop.call('PUT', '/loyalty/settings', { pointsPerUnit: 1, pointsToCurrencyRate: 1_000, minRedemption: 1 })).status).toBe(
    200,
  )
  const { email } = ADDRESS
  const { body: orders } = await shop.call('GET', '/orders?limit=1')
  const [{ id, customer }] = orders.data
  const adjusted = await shop.call('POST', `/loyalty/members/${customer.id}/adjustments`, { points: 5_000_000, reason: 'A present' })
  expect(adjusted.status).toBeLessThan(300)
  const link = await shop.registry(async (registry) => {
    const { secrets } = await servicesFor(shop.config, { registry, baseUrl: shop.api.url, port: shop.api.port })
    return shopToken(secrets, shop.store.id, 'order', { id, email, mailed: true })
  })
  const her = await withTable('usd')
  await her.page(`/order/${link}`)
  const used = async (points: string) => [(await her.send('cart/points', { points })).status, of('points', await her.page('/cart'))]
  expect(await used('1000000')).toEqual([303, '1000000'])
  for (const wrong of ['x', '1e6', '-1', '99999999999999999999']) expect([wrong, ...(await used(wrong))]).toEqual([wrong, 400, '1000000'])
  expect(await used('0')).toEqual([303, '0'])
})

test('a quantity that is none is refused, and never taken for 1', async () => {
  const her = visitor()
  const variantId = of('variantId', await her.page('/products/oak-table'))
  for (const quantity of ['x', '-1', '1.5', '99999999999999999999'])
    expect([quantity, (await her.send('cart/items', { variantId, quantity })).status]).toEqual([quantity, 400])
  expect((await her.send('cart/items', { variantId, quantity: '' })).status).toBe(303)
})

test('lists are bounded by prices of ten digits, too', async () => {
  const page = async (query: string) => (await (await shop.visit(host(), `/products?${query}`)).text()).includes('Oak table')
  expect([await page('min=1000000000'), await page('max=9999999999'), await page('min=20000&max=20000')]).toEqual([false, true, true])
})

test('pages have the prices of the currency that a visitor has chosen, as patterns find them', async () => {
  const seen: string[] = []
  for (const path of ['/', '/products', '/products/oak-table']) {
    const built = await (await shop.visit(host(), path)).text()
    for (const currency of ['huf', 'idr', 'eur']) {
      const shown = await (await shop.visit(host(), path, { headers: { cookie: `currency=${currency}` } })).text()
      expect(shown).toBe(pricedByPatterns(built, currency))
      expect(shown).toContain(`<option value="${currency}" selected`)
      seen.push(shown)
    }
  }
  expect(seen.join('')).toContain('10,000')
})

test('the policy of each page names the scripts that stand in it, and no others', async () => {
  const scripts: Record<string, number> = {}
  for (const path of ['/', '/products', '/products/oak-table', '/cart', '/checkout', '/search?q=oak', '/nothing-here']) {
    const answer = await shop.visit(host(), path, { headers: { accept: 'text/html' } })
    const [, sources] = /script-src ([^;]*)/.exec(answer.headers.get('content-security-policy')!)!
    const own = inlineScripts(await answer.text())
    expect([
      path,
      sources!
        .split(' ')
        .filter((source) => source.startsWith("'sha256-"))
        .toSorted(),
    ]).toEqual([path, own.toSorted()])
    scripts[path] = own.length
  }
  expect(scripts).toMatchObject({ '/': 0, '/cart': 1 })
})
