import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RenderBudget } from '../../api/builder/shop/rendering/render-budget.ts'
import { Renderer } from '../../api/builder/shop/rendering/renderer.ts'
import { mistakeIn, render } from '../../api/builder/shop/rendering/templates.ts'
import { trouble } from '../../api/builder/shop/trouble.ts'
import { servicesFor } from '../../api/services.ts'
import { shopToken } from '../../api/store/mails/shop-links.ts'
import { Refusal } from '../../api/values/refusal.ts'
import { openShop, type PublishedShop } from './published.ts'

let shop: PublishedShop
let variantId: string
beforeAll(async () => {
  shop = await openShop({ products: 4, more: { enabledCurrencies: ['usd', 'eur'] } })
  const made = await shop.call('POST', '/products', {
    name: 'Oak bowl',
    slug: 'oak-bowl',
    price: 40,
    prices: { eur: 38 },
    stock: { quantity: 50 },
  })
  variantId = made.body.variants[0].id
  // What looks like a template in the store's own texts is none.
  const top = await shop.call('POST', '/categories', { name: 'Bowls [% 50 %] [[ cart.total ]]', slug: 'bowls' })
  const below = await shop.call('POST', '/categories', { name: 'Wooden bowls', slug: 'wooden-bowls', parentId: top.body.id })
  await shop.call('PATCH', '/products/oak-bowl', { categoryId: below.body.id })
  await shop.call('POST', '/products', { name: 'Secret bowl', slug: 'secret-bowl', price: 40, status: 'draft' })
  expect(await shop.publish()).toMatchObject({ status: 'live' })
}, 30_000)
afterAll(() => shop?.close())

const host = () => `shop.localhost:${shop.api.port}`
/** Sends a form to the gateway, as the browser of a visitor does. */
async function post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}, at = host()) {
  const response = await shop.visit(at, `/_shop/${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })
  const cookies = response.headers.getSetCookie()
  return { response, cookies, cookie: cookies.map((cookie) => cookie.split(';')[0]).join('; '), location: response.headers.get('location') }
}
const add = (headers: Record<string, string> = {}) => post('cart/items', { variantId, quantity: '1', from: '/products/oak-bowl' }, headers)

describe('the gateway', () => {
  test('reads what the storefront may, and nothing of anybody', async () => {
    const read = async (path: string) => (await shop.visit(host(), `/_shop/${path}`)).status
    for (const path of ['me', 'products?limit=1', 'products/oak-bowl', 'search?q=oak', 'categories', 'shipping', 'forms/token'])
      expect([path, await read(path)]).toEqual([path, 200])
    for (const path of [
      'products/secret-bowl',
      'orders',
      'customers',
      'carts/01a20000-0000-7000-8000-000000000000',
      'wishlists/x',
      'tickets/x?email=a@b.c',
      'api-keys',
      'settings',
      '../orders',
      'products/../orders',
      'products%2F..%2Forders',
      'products/..',
      'products/%2e%2e/orders',
      'products/.%2E/carts',
      'products%2F%2e%2e%2Forders',
      'products/%252e%252e/orders',
      'products%252F..%252Forders',
      'products/%25252e%25252e/orders',
    ])
      expect([path, await read(path)]).toEqual([path, 404])
    const answer = await (await shop.visit(host(), '/_shop/me')).json()
    expect(answer).toMatchObject({ key: { scopes: ['storefront:read', 'storefront:write', 'cart:write', 'order:lookup'] } })
  })

  test('keeps the cart in a cookie of this host that scripts can not read and nobody can guess', async () => {
    const { response, cookies, cookie, location } = await add()
    expect([response.status, location]).toEqual([303, '/cart'])
    const cart = cookies.find((text) => text.startsWith('cart='))!
    expect(cart).toMatch(/; Path=\/; Max-Age=\d+; SameSite=Lax; HttpOnly$/)
    expect(cart).not.toContain('Domain')
    const page = await shop.visit(host(), '/cart', { headers: { cookie } })
    expect(await page.text()).toContain('Oak bowl')
    expect(page.headers.get('cache-control')).toBe('private, no-store')
    const { body } = await shop.call('GET', '/products/oak-bowl')
    for (const wrong of ['', 'x', body.id, `${/cart=([^;]+)/.exec(cookie)![1]!.slice(0, -4)}AAAA`])
      expect(await (await shop.visit(host(), '/cart', { headers: { cookie: `cart=${wrong}` } })).text()).toContain('Your cart is empty')
  })

  test('a cookie of one store opens nothing in another', async () => {
    const other = await shop.another('second', { products: 2 })
    await shop.call('POST', '/publish', undefined, other.keys.admin)
    while ((await shop.visit('second.localhost', '/')).status !== 200) await Bun.sleep(100)
    const { cookie } = await add()
    expect(await (await shop.visit('second.localhost', '/cart', { headers: { cookie } })).text()).toContain('Your cart is empty')
    expect((await shop.visit('second.localhost', '/products/oak-bowl')).status).toBe(404)
    expect((await shop.visit('second.localhost', '/_shop/products/oak-bowl')).status).toBe(404)
    const mine = await shop.visit(host(), '/')
    expect((await shop.visit('second.localhost', '/', { headers: { 'if-none-match': mine.headers.get('etag')! } })).status).toBe(200)
  }, 20_000)

  test.each([
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 303],
    [{}, 303],
  ] as [Record<string, string>, number][])('a form that comes with %j is answered %d', async (headers, status) => {
    expect((await add(headers)).response.status).toBe(status)
  })

  test('forms of the same host are taken, of another port or scheme not', async () => {
    expect((await add({ origin: `http://${host()}` })).response.status).toBe(303)
    for (const origin of [
      'http://shop.localhost:1',
      'http://shop.localhost',
      `https://${host()}`,
      `ftp://${host()}`,
      `http://x@${host()}.`,
    ])
      expect([origin, (await add({ origin })).response.status]).toEqual([origin, 403])
  })

  test.each(['..', '.', '%2e%2e', '%252e%252e', '../carts', '..%2Fcarts'])(
    '%s in a field leads to no other path of the API',
    async (part) => {
      const asked = async (path: string, fields: Record<string, string>) => {
        const { response } = await post(path, fields, { accept: 'application/json' })
        return [path, response.status, (await response.json()).error]
      }
      const sent = { author: 'Eve', email: 'eve@example.com', content: 'What a bowl', rating: '5', from: '/' }
      for (const path of ['reviews', 'comments']) {
        const [, status, error] = await asked(path, { ...sent, about: part })
        expect([path, status]).toEqual([path, 404])
        // Not "no endpoint at …": that was of another path than the one that was meant.
        expect(error).not.toContain('endpoint')
      }
      expect((await asked('wishlist', { variantId: part }))[1]).toBe(404)
      expect((await asked('ticket/checkin', { token: part }))[1]).toBe(404)
      expect((await asked('tickets', { code: part, email: 'eve@example.com' }))[1]).toBe(404)
    },
  )

  test('a Host with percent escapes is refused: it is another name than a proxy has seen', async () => {
    const ask = (name: string, path: string) =>
      new Promise<number>((resolve, reject) => {
        const socket = connect(shop.api.port, '127.0.0.1', () =>
          socket.write(`GET ${path} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`),
        )
        let text = ''
        socket.on('data', (data) => (text += data))
        socket.on('error', reject)
        socket.on('close', () => resolve(Number(text.split(' ')[1])))
      })
    expect([await ask(host(), '/'), await ask(host(), '/')]).toEqual([200, 200])
    for (const path of ['/', '/cart', '/_shop/me', '/api/v1/products', '/internal/tls?domain=shop.localhost'])
      for (const name of [`sh%6Fp.localhost:${shop.api.port}`, `%73hop.localhost:${shop.api.port}`, '%6Cocalhost', '127.0.0.%31'])
        expect([name, path, await ask(name, path)]).toEqual([name, path, 400])
  })

  test.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    '/%09/evil.example\n',
    'javascript:alert(1)',
    '\t//evil.example',
    '///evil.example',
    '/a/../..//evil.example',
  ])('sends nobody to %j', async (from) => {
    for (const path of ['currency', 'newsletter']) {
      const { location } = await post(path, { currency: 'eur', email: 'ada@example.com', from })
      const to = new URL(location ?? '/', `http://${host()}`)
      expect(to.host).toBe(host())
      const back = to.searchParams.get('back')
      if (back) expect(new URL(back, `http://${host()}`).host).toBe(host())
    }
    const page = await (await shop.visit(host(), `/thanks?for=contact&back=${encodeURIComponent(from)}`)).text()
    expect(page).not.toContain('evil.example')
    expect(page).not.toContain('javascript:')
  })

  test('what is no form, or too large a one, is refused without being read to its end', async () => {
    const large = await shop.visit(host(), '/_shop/contact', {
      method: 'POST',
      body: 'a='.padEnd(100_000, 'x'),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(large.status).toBe(415)
    expect(
      (await shop.visit(host(), '/_shop/contact', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })).status,
    ).toBe(415)
    expect((await shop.visit(host(), '/_shop/nothing', { method: 'POST', body: '' })).status).toBe(404)
    expect((await shop.visit(host(), '/_shop/contact', { method: 'DELETE' })).status).toBe(405)
  })

  test('tells scripts in JSON, and people on a page, what can not be done', async () => {
    const many = { variantId, quantity: '900', from: '/products/oak-bowl' }
    const script = await post('cart/items', many, { accept: 'application/json' })
    expect([script.response.status, await script.response.json()]).toEqual([
      409,
      { error: expect.any(String), code: 'sold_out', errors: {} },
    ])
    const person = await post('cart/items', many)
    expect(person.response.status).toBe(409)
    expect(await person.response.text()).toContain('That is sold out')
  })

  test('what visitors write is text, wherever it is shown', async () => {
    const { cookie } = await add()
    const evil = '"><script>alert(1)</script>[[ cart.total ]][% for %]'
    const page = await post('checkout/address', { email: evil, name: evil, line1: evil, country: 'US', from: '/checkout' }, { cookie })
    const html = await page.response.text()
    expect(html).not.toContain('<script>alert')
    expect(html).toContain('[[ cart.total ]]')
    const search = await (await shop.visit(host(), `/search?q=${encodeURIComponent(evil)}`)).text()
    expect(search).not.toContain('<script>alert')
  })

  test('an order is shown to who has its link, and found by number and address alone', async () => {
    const { cookie } = await add()
    await post(
      'checkout/address',
      { email: 'ada@example.com', name: 'Ada', line1: 'A 1', city: 'P', postalCode: '1', country: 'US', from: '/checkout' },
      { cookie },
    )
    const page = await (await shop.visit(host(), '/checkout', { headers: { cookie } })).text()
    expect(page.replace(/<[^>]+>\s*/g, ' ')).toContain('Standard')
    const [, method] = /name="shippingMethodId" value="([^"]+)"[^>]*checked/.exec(page)!
    const [, total] = /name="expectedTotalCents" value="(\d+)"/.exec(page)!
    const placed = await post(
      'checkout',
      { shippingMethodId: method!, expectedTotalCents: total!, paymentMethod: 'test', from: '/checkout' },
      { cookie },
    )
    expect(placed.location).toMatch(/^\/order\/[\w-]{40,}\?new=1$/)
    const shown = await shop.visit(host(), placed.location!)
    expect(await shown.text()).toContain('Thank you')
    expect(shown.headers.get('cache-control')).toBe('private, no-store')
    expect((await shop.visit(host(), `${placed.location!.split('?')[0]!.slice(0, -3)}abc`)).status).toBe(404)
    const { body } = await shop.call('GET', '/orders?limit=1')
    const [order] = body.data
    const found = await post('order', { number: `#${order.orderNumber}`, email: 'ADA@example.com', from: '/order' })
    expect(found.response.status).toBe(303)
    const [wrong, none] = [
      await post('order', { number: order.orderNumber, email: 'eve@example.com' }),
      await post('order', { number: '999999', email: 'ada@example.com' }),
    ]
    expect([wrong.response.status, none.response.status]).toEqual([404, 404])
    expect((await wrong.response.text()).replace(/value="[^"]*"/g, '')).toBe((await none.response.text()).replace(/value="[^"]*"/g, ''))
  })

  test('what is collected says where, and points of no carrier are named by their buyer', async () => {
    const about = {
      label: 'Kiln',
      name: 'The kiln',
      line1: 'Kiln Yard 3',
      city: 'Portland',
      postalCode: '97205',
      country: 'US',
      phone: '+1 503 555 0100',
    }
    const { body: place } = await shop.call('POST', '/pickup-locations', about)
    const buyAt = async (method: RegExp, more: (id: string) => Record<string, string>) => {
      const { cookie } = await add()
      const fields = { email: 'ada@example.com', name: 'Ada', line1: 'A 1', city: 'P', postalCode: '1', country: 'US', from: '/checkout' }
      await post('checkout/address', fields, { cookie })
      const page = await (await shop.visit(host(), '/checkout', { headers: { cookie } })).text()
      const id = method.exec(page)![1]!
      await post('checkout/shipping', { shippingMethodId: id, from: '/checkout' }, { cookie })
      const [, total] = /name="expectedTotalCents" value="(\d+)"/.exec(
        await (await shop.visit(host(), '/checkout', { headers: { cookie } })).text(),
      )!
      const order = { shippingMethodId: id, expectedTotalCents: total!, paymentMethod: 'test', from: '/checkout', ...more(id) }
      const placed = await post('checkout', order, { cookie })
      expect(placed.response.status).toBe(303)
      return (await shop.visit(host(), placed.location!)).text()
    }
    const collected = await buyAt(/value="([^"]+)"[^>]*>\s*<span>Collect in store/, (id) => ({ [`place-${id}`]: place.id }))
    expect(collected).toContain('Collect in store, The kiln')
    expect(await buyAt(/value="([^"]+)"[^>]*>\s*<span>Pickup point/, (id) => ({ [`point-${id}`]: 'Kiosk 7' }))).toContain(
      'Pickup point, Kiosk 7',
    )
  })

  test('points are for who has shown that the address is theirs, and nobody learns of others’', async () => {
    const { cookie } = await add()
    const fields = { email: 'ada@example.com', name: 'Mallory', line1: 'A 1', city: 'P', postalCode: '1', country: 'US', from: '/checkout' }
    await post('checkout/address', fields, { cookie })
    const asked = await post('cart/points', { points: '999999', from: '/cart' }, { cookie, accept: 'application/json' })
    expect([asked.response.status, (await asked.response.json()).error]).toEqual([
      403,
      'open the shop by the link in one of our mails first',
    ])
    expect(await (await shop.visit(host(), '/cart', { headers: { cookie } })).text()).not.toContain('name="points"')
  })

  test('points that were chosen for one’s own address do not follow the cart to another', async () => {
    expect((await shop.call('PUT', '/loyalty/settings', {})).status).toBe(200)
    const [mine, other] = ['mine@example.com', 'other@example.com']
    for (const email of [mine, other]) {
      const { body } = await shop.call('POST', '/orders', { customer: { email }, items: [{ variantId, quantity: 1 }], paid: true })
      expect(
        (await shop.call('POST', `/loyalty/members/${body.customer.id}/adjustments`, { points: 5_000, reason: 'A present' })).status,
      ).toBeLessThan(300)
    }
    const { body } = await shop.call('GET', '/orders?limit=1')
    const link = await shop.registry(async (registry) => {
      const { secrets } = await servicesFor(shop.config, { registry, baseUrl: shop.api.url, port: shop.api.port })
      return shopToken(secrets, shop.store.id, 'order', { id: body.data[0].id, email: mine, mailed: true })
    })
    const reader = (await shop.visit(host(), `/order/${link}`)).headers.getSetCookie().find((cookie) => cookie.startsWith('reader='))!
    expect(reader).toContain('HttpOnly')
    const cookie = `${(await add()).cookie}; ${reader.split(';')[0]}`
    const fields = { name: 'Ada', line1: 'A 1', city: 'P', postalCode: '1', country: 'US', from: '/checkout' }
    await post('checkout/address', { ...fields, email: mine }, { cookie })
    const cart = async () => (await shop.visit(host(), '/cart', { headers: { cookie } })).text()
    expect(await cart()).toMatch(/You have 50\d\d\./)
    expect((await post('cart/points', { points: '1000', from: '/cart' }, { cookie })).response.status).toBe(303)
    expect(await cart()).toContain('name="points" value="1000"')
    await post('checkout/address', { ...fields, email: other }, { cookie })
    const checkout = await (await shop.visit(host(), '/checkout', { headers: { cookie } })).text()
    const [, method] = /name="shippingMethodId" value="([^"]+)"[^>]*checked/.exec(checkout)!
    const [, total] = /name="expectedTotalCents" value="(\d+)"/.exec(checkout)!
    const order = { shippingMethodId: method!, expectedTotalCents: total!, paymentMethod: 'test', from: '/checkout' }
    expect((await post('checkout', order, { cookie })).response.status).toBe(303)
    const { body: placed } = await shop.call('GET', '/orders?limit=1')
    expect(placed.data[0]).toMatchObject({ customer: { email: other }, loyalty: { pointsRedeemed: 0 } })
  })

  test('wrong guesses at orders are limited for right and wrong alike', async () => {
    const guessed = (i: number) => post('order', { number: String(i), email: 'eve@example.com' }, { accept: 'application/json' })
    const began = performance.now()
    const answers = await Promise.all(Array.from({ length: 240 }, (_, i) => guessed(i)))
    const looked = answers.filter(({ response }) => response.status === 404).length
    // One more comes back every three seconds.
    expect(looked).toBeLessThanOrEqual(20 + Math.floor((performance.now() - began) / 3_000))
    expect(answers.filter(({ response }) => response.status === 429).length).toBe(240 - looked)
    const { body } = await shop.call('GET', '/orders?limit=1')
    expect((await post('order', { number: body.data[0].orderNumber, email: body.data[0].customer.email })).response.status).toBe(429)
  })
})

describe('lists', () => {
  test('a category has what is in those below it, filtered or not; other queries are the page’s own', async () => {
    const page = await (await shop.visit(host(), '/categories/bowls')).text()
    expect(page).toContain('Oak bowl')
    const sorted = await shop.visit(host(), '/categories/bowls?sort=price')
    expect(await sorted.text()).toContain('Oak bowl')
    expect((await shop.visit(host(), '/categories/bowls?utm_source=mail')).headers.get('etag')).toBe(
      (await shop.visit(host(), '/categories/bowls')).headers.get('etag'),
    )
    expect(await (await shop.visit(host(), '/cart')).text()).toContain('Bowls [\u2060% 50 %] [\u2060[ cart.total ]]')
  })

  test('the host of one deployment is for no search engine, and names the store’s own host', async () => {
    const { body } = await shop.call('GET', '/publish/shop.localhost')
    const one = await shop.visit(`${body.id}.localhost`, '/products')
    expect(one.headers.get('x-robots-tag')).toBe('noindex')
    expect(await one.text()).toContain(`<link rel="canonical" href="http://${host()}/products">`)
    expect((await shop.visit(host(), '/products')).headers.get('x-robots-tag')).toBeNull()
  })
})

describe('hosts', () => {
  test('the names of the API and of the content site are no store’s, whatever its slug', async () => {
    const { Hosts } = await import('../../api/builder/shop/hosts.ts')
    const { Shelf } = await import('../../api/hosting/shelf.ts')
    const { Storefronts } = await import('../../api/outside/storefronts.ts')
    const place = {
      ...{
        listensOn: null,
        dataDir: shop.config.dataDir,
        s3: null,
        domain: 'shops.example',
        ip: '192.0.2.1',
        buildTimeoutMs: 1,
        buildsTrusted: false,
        stripeKey: null,
      },
      ...{ apiUrl: 'https://shop.shops.example', contentUrl: 'https://www.shops.example/docs' },
    }
    await shop.registry(async (registry) => {
      const at = (name: string, apiUrl = place.apiUrl) =>
        new Hosts(registry, new Storefronts({ ...place, apiUrl }), new Shelf(1_000_000), false).find(name)
      expect(await at('shop.shops.example')).toBeNull()
      expect(await at('www.shops.example')).toBeNull()
      expect(await at('shop.shops.example', 'https://api.shops.example')).toMatchObject({ name: 'shop.shops.example' })
    })
  })

  test.each([
    'nope.localhost',
    'a.shop.localhost',
    'shop.localhost.evil.example',
    'SHOP.localhost..',
    '.localhost',
    'xn--shop.localhost',
    'dpl_nothing.localhost',
    '..%2f.localhost',
  ])('%s serves no store, and says nothing of any', async (name) => {
    for (const path of ['/', '/products', '/cart', '/_shop/me']) {
      const answer = await shop.visit(name, path).catch(() => null)
      if (!answer) continue
      expect([answer.status === 404 || answer.status === 400, path]).toEqual([true, path])
      expect(await answer.text()).not.toMatch(/Shop shop|oak/i)
    }
  })

  test.each([
    '/..%2f..%2fcontrol.db',
    '/%2e%2e/control.db',
    '/manifest.json',
    '/products.html.br',
    '/cart.html.gz',
    '/..\\control.db',
    '/static/../../control.db',
    '/%00',
    '/__proto__',
    '/constructor',
  ])('%s leads out of nothing', async (path) => {
    const answer = await shop.visit(host(), path)
    expect([400, 404, 308]).toContain(answer.status)
  })
})

describe('a page that can not be shown', () => {
  test.each([
    [429, 'de-AT', 'text/html', 'Das war zu oft'],
    [429, 'fr', '*/*', 'That was too often'],
    [503, 'en', 'text/html', 'Back in a moment'],
  ])('%s is said in %s', async (status, language, accept, words) => {
    const request = new Request('http://shop.localhost/cart', { headers: { accept } })
    const answer = trouble(request, language, new Refusal(status, 'wait', {}, { 'retry-after': '3' }))
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('cache-control')]).toEqual([status, '3', 'no-store'])
    expect(await answer.text()).toContain(`<h1>${words}</h1>`)
    const asked = trouble(new Request(request, { headers: { accept: 'application/json' } }), language, new Refusal(status, 'wait'))
    expect(await asked.json()).toEqual({ error: 'wait' })
  })

  test('has no filters that evaluate texts, which know no limits', () => {
    const text =
      '[% assign r = (1..4000) %][% assign e = "y == 0" %][% assign f = "r | has_exp: \'y\', e" %][[ r | has_exp: "x", f ]][[ r | find_exp: "x", f ]]'
    const started = performance.now()
    render('hang', () => text, {})
    expect(performance.now() - started).toBeLessThan(500)
  })

  test('has a length and a number of marks that end', () => {
    const much = () => `[% for i in (1..4000) %]${'x'.repeat(2_000)}[% endfor %]`
    expect(() => render('much', much, {})).toThrow('more than 4000000 characters')
    expect(mistakeIn('[[ a ]]'.repeat(10_001))).toContain('more than 10000 marks')
    expect(mistakeIn('[[ a ]]'.repeat(10_000))).toBe(null)
  })

  test('is shown where the machine was busy with something else: what it takes itself is what counts', () => {
    const page = (take: (ms: number) => void) => ({
      get late() {
        take(150)
        return 'shown'
      },
    })
    expect(render('late', () => '[[ page.late ]][[ page.late ]]', { page: page((ms) => Bun.sleepSync(ms)) })).toBe('shownshown')
    const used = () => process.threadCpuUsage().user / 1_000
    // Of the processor's time: on a machine that others use, too, as much of anybody's clock is less work.
    const busy = (ms: number) => {
      for (const end = used() + ms; used() < end;);
    }
    expect(() => render('late', () => '', { page: page(busy) })).toThrow('render limit exceeded')
    // One that takes all that it can get, just below the limit too, is not given more.
    let steps = 0
    const step = {
      get ms() {
        steps++
        busy(1)
        return ''
      },
    }
    expect(() => render('endless', () => '[% for i in (1..9999) %][[ step.ms ]][% endfor %]', { step })).toThrow('render limit exceeded')
    expect(steps).toBeLessThan(200)
  })

  test('of a store whose pages take long waits, and comes back; other stores do not', () => {
    let now = 0
    const budget = new RenderBudget(() => now)
    const render = (store: string, ms: number) => {
      budget.require(store)
      now += ms
      budget.note(store, ms)
    }
    expect(() => {
      for (let page = 0; page < 60; page++) render('slow', 100)
    }).toThrow('take too long')
    render('other', 3)
    now += 1_000
    render('slow', 3)
    // A page of a few milliseconds never waits, however many there are one after the other.
    for (let page = 0; page < 2_000; page++) {
      render('busy', 3)
      now += 3
    }
  })

  test('takes nobody’s time but that of its store: pages of others are made in between, and no request waits', async () => {
    const renderer = new Renderer()
    const slow = () => '[% for i in (1..9999) %][% for j in (1..9999) %][% endfor %][% endfor %]'
    const ended: string[] = []
    let longest = 0
    let last = performance.now()
    const watching = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 1)
    const page = (store: string, text: () => string) =>
      renderer.render(store, { key: `${store} page`, text, view: { name: store } }).then(
        (html) => ended.push(html),
        (error) => ended.push((error as Error).message.split(',')[0]!),
      )
    await page('first', () => 'Shop [[ name ]]')
    longest = 0
    await Promise.all([...Array.from({ length: 5 }, () => page('slow', slow)), page('other', () => 'Shop [[ name ]]')])
    clearInterval(watching)
    // After the one that was being made, and one whose turn it was.
    expect(ended.indexOf('Shop other')).toBeLessThanOrEqual(3)
    expect(ended.filter((text) => text.includes('limit exceeded'))).toHaveLength(5)
    // Each takes 100 ms of its thread.
    expect(longest).toBeLessThan(80)
    const refused = await Promise.all(Array.from({ length: 20 }, () => page('slow', slow))).then(() =>
      ended.filter((text) => text.includes('take too long')),
    )
    expect(refused.length + ended.filter((text) => text.includes('limit exceeded')).length).toBe(25)
    await expect(
      Promise.all(Array.from({ length: 110 }, () => renderer.render('many', { key: 'many', text: () => 'x', view: {} }))),
    ).rejects.toThrow('too many pages')
  })

  test('since its template takes too much is an error of its own, and others go on', async () => {
    const source = join(shop.config.dataDir, 'builder', shop.store.id, 'src/pages/[...lang]/cart.astro')
    const before = readFileSync(source, 'utf8')
    const endless = "{'[% unless cart.empty %][% for i in (1..9999999) %]x[% endfor %][% endunless %]'}"
    writeFileSync(source, before.replace('<Notice ', `<Fragment set:html=${endless} /><Notice `))
    try {
      expect(await shop.publish()).toMatchObject({ status: 'live' })
    } finally {
      writeFileSync(source, before)
    }
    const { cookie } = await add()
    const started = performance.now()
    const broken = await shop.visit(host(), '/cart', { headers: { cookie, accept: 'text/html' } })
    expect(performance.now() - started).toBeLessThan(2_000)
    expect([broken.status, broken.headers.get('content-type')]).toEqual([500, 'text/html; charset=utf-8'])
    expect(await broken.text()).toContain('This page could not be shown')
    expect((await shop.visit(host(), '/cart')).status).toBe(200)
  }, 20_000)
})

test('behind a proxy with https, a shop is built, sells, and keeps its cookies to https', async () => {
  const secure = await openShop({
    products: 2,
    more: { enabledCurrencies: ['usd', 'eur'] },
    env: { BASE_URL: 'https://api.shop.example:8443', STORES_DOMAIN: 'shops.example:8443', TRUST_PROXY: '127.0.0.1' },
  })
  try {
    expect(await secure.publish()).toMatchObject({ status: 'live' })
    const at = 'shop.shops.example:8443'
    const home = await secure.visit(at, '/')
    expect(home.headers.get('strict-transport-security')).toContain('max-age')
    expect(await home.text()).toContain(`<link rel="canonical" href="https://${at}/">`)
    const { body } = await secure.call('GET', '/products?limit=1')
    const added = await secure.visit(at, '/_shop/cart/items', {
      method: 'POST',
      body: new URLSearchParams({ variantId: body.data[0].variants[0].id, quantity: '1' }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: `https://${at}`, 'x-forwarded-proto': 'https' },
    })
    expect([added.status, added.headers.get('location')]).toEqual([303, '/cart'])
    const cookies = added.headers.getSetCookie()
    expect(cookies.every((cookie) => cookie.startsWith('__Host-') && cookie.endsWith('; Secure'))).toBe(true)
    const cookie = cookies.map((one) => one.split(';')[0]).join('; ')
    expect(await (await secure.visit(at, '/cart', { headers: { cookie } })).text()).toContain(body.data[0].name)
    expect((await secure.visit(at, '/search?q=a')).status).toBe(200)
    // By https a form is of https, and a cookie one that no other host can have set.
    const { status } = await secure.visit(at, '/_shop/cart/items', {
      method: 'POST',
      body: new URLSearchParams({ variantId: body.data[0].variants[0].id, quantity: '1' }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: `http://${at}` },
    })
    expect(status).toBe(403)
    const inEuros = async (named: string) =>
      (await (await secure.visit(at, '/products', { headers: { cookie: named } })).text()).includes('value="eur" selected')
    expect([await inEuros('currency=eur'), await inEuros('__Host-currency=eur'), await inEuros('x__Host-currency=eur')]).toEqual([
      false,
      true,
      false,
    ])
    expect((await secure.visit(at, '/_shop/me', { method: 'HEAD' })).status).toBe(200)
  } finally {
    await secure.close()
  }
}, 30_000)
