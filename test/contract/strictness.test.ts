/** What was read can be sent back, and nothing that is not known passes in silence (document 8, Strictness). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json, Operation } from './operations.ts'
import { each, nowhere, world } from './world.ts'

const { app, operations, keyed, caller, shop, somewhere } = await world()
beforeAll(async () => {
  // What was never set is null, and has nothing that could be changed.
  await shop.call('PUT', '/loyalty/settings', { pointsPerUnit: 2, pointsExpiryMonths: 6 })
  const [{ id }] = (await shop.call('GET', '/workstations')).body.data
  await shop.call('PUT', '/workstations/rules', { rules: [{ sources: ['admin'], workstationIds: [id] }] })
})
afterAll(() => app.close())

const strictly = { headers: { prefer: 'handling=strict' } }
const readerOf = ({ path }: Operation) => operations.find((other) => other.method === 'GET' && other.path === path)
const withBody = keyed.filter(({ body }) => body)
/** Credentials are never shown, so they can't come back; what is looked up by a secret is no resource to be changed. */
const replacing = withBody.filter(
  (operation) =>
    /^(PATCH|PUT)$/.test(operation.method) && readerOf(operation) && !readerOf(operation)!.needed && !operation.path.startsWith('/addons/'),
)
/** Without what each change moves by itself. */
const still = ({ updatedAt: _, expiresAt: __, ...rest }: Json) => rest

describe('what was read', () => {
  test('can be sent back as it is, and changes nothing', () =>
    each(replacing, async (operation, find) => {
      const path = somewhere(operation)
      const before = await caller.call(readerOf(operation)!, path)
      if (before.status !== 200) return find('there is nothing to read', before)
      const answer = await caller.call(operation, path, before.body, { headers: { prefer: 'handling=strict' } })
      if (answer.status !== 200) return find('refuses what was read', answer)
      if (answer.headers.get('ignored-fields')) find(`ignores ${answer.headers.get('ignored-fields')}`)
      const after = await caller.call(readerOf(operation)!, path)
      if (JSON.stringify(still(after.body)) !== JSON.stringify(still(before.body))) find(`changes:\n  ${before.text}\n  ${after.text}\n`)
    }))

  test('can be sent back with one field changed, which changes that field alone', () =>
    each(replacing, async (operation, find) => {
      const path = somewhere(operation)
      const before = (await caller.call(readerOf(operation)!, path)).body as Json
      const inner = before.loyalty ?? before
      const known = operation.body!.schema.properties as Json
      const name = ['name', 'note', 'subject', 'label', 'code', 'description', 'minRedemption'].find(
        (field) => field in known && field in inner,
      )
      if (!name) return
      const value = typeof inner[name] === 'number' ? inner[name] + 1 : 'Changed-once'
      const changed = before.loyalty ? { loyalty: { ...inner, [name]: value } } : { ...before, [name]: value }
      const answer = await caller.call(operation, path, changed)
      if (answer.status !== 200) return find('refuses one field', answer)
      const after = (await caller.call(readerOf(operation)!, path)).body
      if (JSON.stringify(still(after)) !== JSON.stringify(still(changed))) find(`${JSON.stringify(changed)}\n  ${JSON.stringify(after)}`)
      await caller.call(operation, path, before)
    }))

  test('of a cart, with what was removed since', async () => {
    const place = { label: 'Shop', name: 'Shop', line1: '1 Main St', city: 'Portland', postalCode: '97205', country: 'US' }
    const pickup = (await shop.call('POST', '/pickup-locations', place)).body.id
    const method = (await shop.call('POST', '/shipping', { name: 'Collected', type: 'in_store', price: 0 })).body.id
    const { id } = (await shop.call('POST', '/carts', { pickupLocationId: pickup, shippingMethodId: method })).body
    await shop.call('DELETE', `/pickup-locations/${pickup}`)
    await shop.call('DELETE', `/shipping/${method}`)
    const cart = (await shop.call('GET', `/carts/${id}`)).body
    const answer = await shop.call('PATCH', `/carts/${id}`, { ...cart, note: 'Ring twice' }, strictly)
    expect([answer.status, answer.body.note]).toEqual([200, 'Ring twice'])
  })

  test('of a product, without the prices in currencies that are off', async () => {
    await shop.call('PATCH', '/settings', { enabledCurrencies: ['usd', 'eur'] })
    const { id } = (await shop.call('POST', '/products', { name: 'Priced', price: 3, prices: { eur: 2 } })).body
    await shop.call('PATCH', '/settings', { enabledCurrencies: ['usd'] })
    const off = (await shop.call('GET', `/products/${id}`)).body
    expect((await shop.call('PATCH', `/products/${id}`, { ...off, summary: 'Changed' })).status).toBe(200)
    await shop.call('PATCH', '/settings', { enabledCurrencies: ['usd', 'eur'] })
    expect((await shop.call('GET', `/products/${id}`)).body.prices).toEqual({ eur: 2 })
  })

  test('of a product with one variant and of one with several', async () => {
    const products = [
      { name: 'One', price: 12.5, prices: { eur: 11 }, sku: 'ONE', stock: { quantity: 3 } },
      {
        name: 'Several',
        variants: [
          { name: 'S', price: 10 },
          { name: 'M', price: 12 },
        ],
      },
    ]
    await shop.call('PATCH', '/settings', { enabledCurrencies: ['usd', 'eur'] })
    for (const product of products) {
      const { id } = (await shop.call('POST', '/products', product)).body
      const before = (await shop.call('GET', `/products/${id}`)).body
      const answer = await shop.call('PATCH', `/products/${id}`, { ...before, summary: 'New' })
      expect([answer.status, still(answer.body)]).toEqual([200, { ...still(before), summary: 'New' }])
    }
    const several = (await shop.call('GET', '/products/several')).body
    const refused = await shop.call('PATCH', '/products/several', { ...several, price: 11 })
    expect([refused.status, refused.body.details[0].path]).toEqual([400, ['price']])
  })
})

test('a key that may not read a resource is not told which values of it are right', async () => {
  const covered: string[] = []
  await each(replacing, async (operation, find) => {
    const reader = readerOf(operation)!
    const scope = operation.scopes.find((name) => !reader.scopes.includes(name))
    if (!scope || !reader.scopes.length) return
    const key = await shop.keyWith(scope)
    const path = somewhere(operation)
    const before = (await caller.call(reader, path)).body as Json
    // Refused whatever it says: nothing of the resource is in the answer, and nothing changes.
    const guess = async (body: Json) => {
      const { status, headers } = await shop.call(operation.method, path, body, { key, headers: { 'if-match': '"another"' } })
      return [status, headers.get('ignored-fields')]
    }
    const own = new Set(Object.keys(operation.body!.schema.properties as Json))
    for (const name of Object.keys(before).filter((field) => !own.has(field))) {
      const [right, wrong] = [await guess(before), await guess({ ...before, [name]: 'a wrong guess' })]
      if (right[0] === 412) covered.push(operation.id)
      if (right[1] !== wrong[1]) find(`tells whether ${name} is ${JSON.stringify(before[name])}`)
    }
  })
  expect(covered.length).toBeGreaterThan(0)
})

describe('names that answers show', () => {
  test.each(['coupons', 'promotions'])('restrict %s, too', async (path) => {
    const { id } = (await shop.call('POST', '/products', { name: 'Restricted', price: 1 })).body
    const made = (more: object) =>
      shop.call('POST', `/${path}`, { code: crypto.randomUUID().slice(0, 8), name: 'Off', type: 'percentage', value: 10, ...more })
    expect((await made({ productIds: [id] })).body.productIds).toEqual([id])
    expect((await made({ productIds: [id], products: [id] })).status).toBe(201)
    const { status, body } = await made({ productIds: [id], products: [] })
    expect([status, body.details[0]]).toEqual([
      400,
      { code: 'custom', message: 'differs from products, which is the same field', path: ['productIds'] },
    ])
  })

  test('hold the products of a bundle, too', async () => {
    const { variants } = (await shop.call('POST', '/products', { name: 'Bundled', price: 1 })).body
    const variantId = variants[0].id as string
    const made = await shop.call('POST', '/bundles', { name: 'Of one', products: [{ variantId, quantity: 2 }] }, strictly)
    expect([made.status, made.body.products[0].quantity]).toEqual([201, 2])
    const products = [{ ...made.body.products[0], quantity: 5 }]
    const changed = await shop.call('PATCH', `/bundles/${made.body.id}`, { ...made.body, products }, strictly)
    expect([changed.status, changed.body.products[0].quantity]).toEqual([200, 5])
    expect((await shop.call('PATCH', `/bundles/${made.body.id}`, { products, variants: [] })).status).toBe(400)
  })

  test('wrap the loyalty settings, too', async () => {
    const put = (body: object) => shop.call('PUT', '/loyalty/settings', body)
    expect((await put({ loyalty: { minRedemption: 7 } })).body.loyalty.minRedemption).toBe(7)
    expect((await put({ loyalty: { minRedemption: 7 }, minRedemption: 8 })).status).toBe(400)
    expect((await put({ loyalty: null })).status).toBe(400)
    expect((await shop.call('GET', '/loyalty/settings')).body.loyalty.minRedemption).toBe(7)
  })

  test('an order that is sent back is not assigned by hand, and makes no move', async () => {
    const { data } = (await shop.call('GET', '/orders')).body
    const { id, status, workstationId } = data[0]
    const answer = await shop.call('PATCH', `/orders/${id}`, { ...data[0], note: 'By the door' })
    expect([answer.status, answer.body.status, answer.body.note]).toEqual([200, status, 'By the door'])
    expect((await shop.call('PATCH', `/orders/${id}`, { status, workstationId })).status).toBe(200)
    expect((await shop.call('PATCH', `/orders/${id}`, { status })).status).toBe(409)
  })
})

describe('what only answers have', () => {
  test('is named when it comes back as something else, and refused on request', async () => {
    const { body } = await shop.call('POST', '/products', { name: 'Shown', price: 3 })
    const changed = { ...body, variants: [{ ...body.variants[0], price: 77 }], rating: { average: 5, count: 9 } }
    const loose = await shop.call('PATCH', `/products/${body.id}`, changed)
    expect([loose.status, loose.headers.get('ignored-fields'), loose.body.variants[0].price]).toEqual([200, 'variants, rating', 3])
    const strict = await shop.call('PATCH', `/products/${body.id}`, { ...changed, updatedAt: loose.body.updatedAt }, strictly)
    expect([strict.status, strict.body.details.map(({ keys }: any) => keys[0])]).toEqual([400, ['variants', 'rating']])
    const settings = await shop.call('PATCH', '/settings', { currency: 'chf', stock: 1 })
    expect(settings.headers.get('ignored-fields')).toBe('stock, currency')
  })

  test('is named by what makes something of it', async () => {
    const { headers, status } = await shop.call('POST', '/coupons', {
      ...{ code: 'READ', type: 'fixed', value: 1, id: crypto.randomUUID(), timesRedeemed: 7, minProductCount: null },
    })
    expect([status, headers.get('ignored-fields')]).toEqual([201, 'id, timesRedeemed'])
  })
})

describe('what is not known', () => {
  test('is named in Ignored-Fields by every operation that takes a body or a query', () =>
    each(keyed, async (operation, find) => {
      if (operation.form && !operation.body) return
      const body = operation.body ? { ...operation.body.example, nonsense: 1 } : undefined
      const path = nowhere(operation)
      const answer = await caller.call(operation, `${path}?${operation.needed}&senseless=1`, body)
      const strict = operation.body?.schema.additionalProperties === false
      const expected = ['?senseless', ...(body && !strict ? ['nonsense'] : [])].join(', ')
      // What is refused before it is read names nothing.
      if (answer.status === 404 && !answer.headers.has('ignored-fields') && operation.params.length === 0) return
      if (answer.status < 300 && answer.headers.get('ignored-fields') !== expected)
        find(`names ${answer.headers.get('ignored-fields')} instead of ${expected}`, answer)
    }))

  test('is refused on request, with the nearest known name', () =>
    each(keyed, async (operation, find) => {
      if (operation.form && !operation.body) return
      const headers = { prefer: 'respond-async, handling=strict' }
      const answer = await caller.call(operation, `${nowhere(operation)}?${operation.needed}&senseless=1`, operation.body?.example, {
        headers,
      })
      const tooEarly = answer.status === 404
      if (!tooEarly && (answer.status !== 400 || answer.body.details[0].code !== 'unrecognized_keys')) find('takes it', answer)
      if (!tooEarly && answer.headers.get('preference-applied') !== 'handling=strict') find('does not say that it was strict', answer)
    }))

  test('has its path, however deep it is', async () => {
    const product = { name: 'Deep', variants: [{ name: 'S', price: 1, stok: 1, stock: { quantitty: 2 } }], pric: 2, weird: { a: 1 } }
    const loose = await shop.call('POST', '/products?x=1&x=2&ünï,=3', product)
    expect([loose.status, loose.headers.get('ignored-fields')]).toEqual([
      201,
      '?x, ?%C3%BCn%C3%AF%2C, variants.0.stock.quantitty, variants.0.stok, pric, weird',
    ])
    const { status, body } = await shop.call('POST', '/products', product, strictly)
    expect([status, body.details]).toEqual([
      400,
      [
        {
          code: 'unrecognized_keys',
          message: 'unknown field quantitty: did you mean quantity?',
          path: ['variants', '0', 'stock'],
          keys: ['quantitty'],
        },
        { code: 'unrecognized_keys', message: 'unknown field stok: did you mean stock?', path: ['variants', '0'], keys: ['stok'] },
        { code: 'unrecognized_keys', message: 'unknown field pric: did you mean price?', path: [], keys: ['pric'] },
        { code: 'unrecognized_keys', message: 'unknown field weird', path: [], keys: ['weird'] },
      ],
    ])
  })

  test('names at most 20, each of them short', async () => {
    const body = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${'n'.repeat(5_000)}${n}`, n]))
    const { headers } = await shop.call('POST', '/carts', body)
    const named = headers.get('ignored-fields')!.split(', ')
    expect([named.length, named.at(-1)]).toEqual([10, '...'])
    const wide = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${'漢'.repeat(99)}${n}`, n]))
    expect((await shop.call('POST', '/carts', wide)).headers.get('ignored-fields')!.length).toBeLessThan(1_100)
    const few = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`field${n}`, n]))
    expect((await shop.call('POST', '/carts', few)).headers.get('ignored-fields')!.split(', ')).toHaveLength(20)
  })

  test('is named where no body is asked for', async () => {
    const { id } = (await shop.call('POST', '/brands', { name: 'Short-lived' })).body
    const strict = await shop.call('DELETE', `/brands/${id}`, { force: true }, strictly)
    expect([strict.status, strict.body.details[0].keys]).toEqual([400, ['force']])
    const loose = await shop.call('DELETE', `/brands/${id}`, { force: true })
    expect([loose.status, loose.headers.get('ignored-fields')]).toEqual([200, 'force'])
  })

  test('names parameters that are nearly right', async () => {
    const { status, body } = await shop.call('GET', '/customers?query=x', undefined, strictly)
    expect([status, body.details[0].keys]).toEqual([400, ['query']])
    const orders = await shop.call('GET', '/orders?minTotal=50', undefined, strictly)
    expect([orders.status, orders.body.error]).toEqual([400, 'unknown parameter minTotal: did you mean minTotalCents?'])
    expect((await shop.call('GET', '/orders?minTotal=50')).headers.get('ignored-fields')).toBe('?minTotal')
  })

  test('refuses also what is unchanged for who asks', async () => {
    const { headers } = await shop.call('GET', '/products?nonsense=1')
    const again = { 'if-none-match': headers.get('etag')! }
    expect((await shop.call('GET', '/products?nonsense=1', undefined, { headers: again })).status).toBe(304)
    expect((await shop.call('GET', '/products?nonsense=1', undefined, { headers: { ...again, ...strictly.headers } })).status).toBe(400)
  })
})

test('no answer was what none may be', () => caller.verify())
