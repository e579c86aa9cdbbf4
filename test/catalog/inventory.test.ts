import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { AN_INSTANT, A_UUID, create, NOBODY, parallel, read, refusal, statuses, twoStores } from './shop.ts'

let app: TestApp
let shop: TestStore
let other: TestStore
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  ;[shop, other] = await twoStores(app)
})
afterAll(() => app.close())

/** The id of a new variant with that much on the shelf. */
async function shelf(quantity: number, body: object = {}, store = shop): Promise<string> {
  return (await create(store, '/products', { name: 'Shirt', price: 10, stock: { quantity }, ...body })).variants[0].id
}
const change = (id: string, body: unknown) => shop.call('PATCH', `/inventory/${id}`, body)
const bulk = (items: unknown) => shop.call('POST', '/inventory/bulk', { items })
const order = (variantId: string, quantity: number) =>
  create(shop, '/orders', { customer: { email: 'ada@example.com' }, items: [{ variantId, quantity }] })

/** All pages of a cursor list. */
async function all(path: string, meanwhile = async () => {}): Promise<any[]> {
  const rows = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { data, nextCursor }: { data: unknown[]; nextCursor: string | null } = await read(
      shop,
      `${path}${path.includes('?') ? '&' : '?'}${cursor && `cursor=${cursor}`}`,
    )
    rows.push(...data)
    cursor = nextCursor
    await meanwhile()
  }
  return rows
}
/** The ledger's sum and the quantity, which must be the same. */
async function ledger(id: string) {
  const rows = await all(`/inventory/${id}/movements?limit=100`)
  return [rows.reduce((sum, { delta }) => sum + delta, 0), (await read(shop, `/variants/${id}`)).stock.quantity]
}

describe('GET /inventory', () => {
  test('{data, nextCursor} of variantId, productId, name, sku, quantity, reserved, available', async () => {
    const {
      id: productId,
      variants: [first, second],
    } = await create(shop, '/products', {
      name: 'Shirt',
      variants: [
        { price: 1, name: 'Shirt', stock: { quantity: 5 } },
        { price: 1, options: { size: 'M' }, sku: 'M', stock: { quantity: 1 } },
      ],
    })
    await order(first.id, 2)
    expect(await read(shop, '/inventory')).toEqual({
      data: [
        { variantId: first.id, productId, name: 'Shirt', sku: null, quantity: 5, reserved: 2, available: 3 },
        { variantId: second.id, productId, name: expect.stringMatching(/Shirt.*M/), sku: 'M', quantity: 1, reserved: 0, available: 1 },
      ],
      nextCursor: null,
    })
    expect((await read(other, '/inventory')).data).toEqual([])
  })

  test('limit (50) and cursor: every row once', async () => {
    await create(shop, '/products', { name: 'P', variants: Array.from({ length: 51 }, (_, i) => ({ price: 1, sku: `S${i}` })) })
    const { data, nextCursor } = await read(shop, '/inventory')
    expect([data.length, typeof nextCursor]).toEqual([50, 'string'])
    expect((await all('/inventory?limit=7')).map(({ sku }) => sku)).toEqual(Array.from({ length: 51 }, (_, i) => `S${i}`))
    const last = await read(shop, '/inventory?limit=51')
    expect([last.data.length, last.nextCursor]).toEqual([51, null])
  })

  test('each stable row is seen once while others come and go', async () => {
    const { id, variants } = await create(shop, '/products', {
      name: 'P',
      variants: Array.from({ length: 20 }, (_, i) => ({ price: 1, sku: `S${i}` })),
    })
    const doomed = variants.filter((_: unknown, i: number) => i % 4 === 1).map((variant: any) => variant.id)
    let n = 0
    const rows = await all('/inventory?limit=3', async () => {
      if (doomed.length) await shop.call('DELETE', `/variants/${doomed.pop()}`)
      if (n++ < 5) await create(shop, `/products/${id}/variants`, { price: 1, sku: `NEW${n}` })
    })
    const skus = rows.map(({ sku }) => sku)
    expect(new Set(skus).size).toBe(skus.length)
    for (let i = 0; i < 20; i++) if (i % 4 !== 1) expect(skus).toContain(`S${i}`)
  })

  test('query: name or sku; lowStock: at or under lowStockThreshold, by what is available', async () => {
    await shop.call('PATCH', '/settings', { lowStockThreshold: 3 })
    await shelf(3, { name: 'Low', sku: 'LOW-1' })
    await shelf(4, { name: 'Enough', sku: 'ENOUGH-1' })
    await shelf(0, { name: 'Untracked', stock: { tracked: false } })
    await order(await shelf(9, { name: 'Held' }), 6)
    const found = async (search: string) => (await read(shop, `/inventory?${search}`)).data.map(({ name }: any) => name)
    expect([
      await found('lowStock=true'),
      await found('lowStock=false'),
      await found('query=enough'),
      await found('query=low-1'),
      await found('query=low&lowStock=false'),
      await found('query='),
      await found('query=%25'),
    ]).toEqual([['Low', 'Held'], ['Enough', 'Untracked'], ['Enough'], ['Low'], [], ['Low', 'Enough', 'Untracked', 'Held'], []])
    for (const text of ['"', '*', 'a OR b', '(', "'"])
      expect((await shop.call('GET', `/inventory?query=${encodeURIComponent(text)}`)).status).toBe(200)
  })

  test.each([
    ['lowStock=1', 'invalid_type lowStock'],
    ['cursor=a&cursor=b', 'custom cursor'],
  ])('?%s is 400 %s', async (search, detail) => {
    expect(refusal(await shop.call('GET', `/inventory?${search}`))).toBe(`400 ${detail}`)
  })

  test('a cursor that nobody gave is no failure', async () => {
    for (const cursor of ['x', '%27', '%00', NOBODY])
      expect([200, 400]).toContain((await shop.call('GET', `/inventory?cursor=${cursor}`)).status)
  })
})

describe('PATCH /inventory/{variantId}', () => {
  test('quantity (set) or adjust (delta), reason', async () => {
    const id = await shelf(5, { sku: 'A' })
    expect((await change(id, { quantity: 8, reason: 'Counted' })).body).toEqual({
      variantId: id,
      productId: A_UUID,
      name: 'Shirt',
      sku: 'A',
      quantity: 8,
      reserved: 0,
      available: 8,
    })
    expect((await change(id, { adjust: -3 })).body.quantity).toBe(5)
    expect((await change(id, { adjust: 0 })).body.quantity).toBe(5)
    expect((await change(id, { quantity: 0, reason: null })).body.quantity).toBe(0)
    expect((await change(id, { quantity: 1_000_000_000 })).body.quantity).toBe(1_000_000_000)
    expect((await read(shop, `/variants/${id}`)).stock).toMatchObject({ quantity: 1_000_000_000, available: 1_000_000_000 })
  })

  test.each([
    ['custom quantity', {}],
    ['custom quantity', { reason: 'x' }],
    ['custom quantity', { quantity: 1, adjust: 1 }],
    ['too_small quantity', { quantity: -1 }],
    ['too_big quantity', { quantity: 1_000_000_001 }],
    ['invalid_type quantity', { quantity: 1.5 }],
    ['invalid_type quantity', { quantity: null }],
    ['invalid_type quantity', { quantity: '5' }],
    ['invalid_type adjust', { adjust: 0.5 }],
    ['too_small adjust', { adjust: -1_000_000_001 }],
    ['too_big adjust', { adjust: 1_000_000_001 }],
    ['invalid_type reason', { adjust: 1, reason: 5 }],
    ['too_big reason', { adjust: 1, reason: 'x'.repeat(201) }],
  ])('400 %s', async (detail, body) => {
    const id = await shelf(5)
    expect(refusal(await change(id, body))).toBe(`400 ${detail}`)
    expect(refusal(await bulk([{ variantId: id, ...body }]))).toBe(`400 ${detail.replace(' ', ' items.0.')}`)
    expect(await ledger(id)).toEqual([5, 5])
  })

  test('409 when it would fall under reserved', async () => {
    const id = await shelf(5)
    await order(id, 3)
    for (const body of [{ quantity: 2 }, { adjust: -3 }, { quantity: 0 }, { adjust: -6 }]) {
      const answer = await change(id, body)
      expect([answer.status, typeof answer.body.error]).toEqual([409, 'string'])
    }
    expect((await change(id, { adjust: -2 })).body).toMatchObject({ quantity: 3, reserved: 3, available: 0 })
    expect((await change(id, { quantity: 3 })).status).toBe(200)
    expect(await ledger(id)).toEqual([3, 3])
  })

  test('never under nothing, whether it is tracked, on backorder or neither', async () => {
    for (const stock of [{ quantity: 1 }, { quantity: 1, tracked: false }, { quantity: 1, backorder: true }]) {
      const id = await shelf(1, { stock })
      expect((await change(id, { adjust: -2 })).status).toBe(409)
      expect((await change(id, { adjust: -1 })).body.quantity).toBe(0)
    }
  })

  test('adjusting never takes a quantity over its limit', async () => {
    const id = await shelf(1_000_000_000)
    expect((await change(id, { adjust: 1 })).status).toBe(409)
    expect(await ledger(id)).toEqual([1_000_000_000, 1_000_000_000])
  })

  test('on backorder, what orders hold may be more than there is', async () => {
    const id = await shelf(5, { stock: { quantity: 5, backorder: true } })
    await order(id, 7)
    expect((await change(id, { quantity: 2 })).body).toMatchObject({ quantity: 2, reserved: 7, available: -5 })
  })

  test('50 parallel adjustments all count, and 20 parallel ones of the last unit take it once', async () => {
    const id = await shelf(0)
    await parallel(50, (i) => change(id, { adjust: i % 2 ? 3 : 1 }))
    expect(await ledger(id)).toEqual([100, 100])
    await change(id, { quantity: 1 })
    expect(statuses(await parallel(20, () => change(id, { adjust: -1 })))).toEqual([200, ...Array(19).fill(409)])
    expect(await ledger(id)).toEqual([0, 0])
  })

  test("a missing, a malformed and another store's id are the same 404", async () => {
    const theirs = await shelf(5, {}, other)
    const answers = [await change(NOBODY, { adjust: 1 }), await change('x', { adjust: 1 }), await change(theirs, { adjust: 1 })]
    for (const answer of answers) expect([answer.status, answer.text]).toEqual([404, answers[0]!.text])
    const reads = await Promise.all([NOBODY, 'x', theirs].map((id) => shop.call('GET', `/inventory/${id}/movements`)))
    for (const answer of reads) expect([answer.status, answer.text]).toEqual([404, reads[0]!.text])
    expect((await read(other, `/variants/${theirs}`)).stock.quantity).toBe(5)
  })
})

describe('POST /inventory/bulk', () => {
  test('items of the same; 200 with the levels', async () => {
    const [a, b] = [await shelf(5), await shelf(5)]
    const { status, body } = await bulk([
      { variantId: a, quantity: 9, reason: 'Counted' },
      { variantId: b, adjust: -2 },
    ])
    expect([status, body.data.map(({ variantId, quantity }: any) => [variantId, quantity])]).toEqual([
      200,
      [
        [a, 9],
        [b, 3],
      ],
    ])
  })

  test('one variant twice: one after the other', async () => {
    const a = await shelf(5)
    expect(
      (
        await bulk([
          { variantId: a, quantity: 2 },
          { variantId: a, adjust: 3 },
        ])
      ).body.data,
    ).toMatchObject([{ variantId: a, quantity: 5 }])
    expect(await ledger(a)).toEqual([5, 5])
  })

  test('1-500 items', async () => {
    const id = await shelf(0)
    const items = (n: number) => Array.from({ length: n }, () => ({ variantId: id, adjust: 1 }))
    expect(refusal(await bulk([]))).toBe('400 too_small items')
    expect(refusal(await bulk(items(501)))).toBe('400 too_big items')
    expect((await bulk(items(500))).body.data).toMatchObject([{ quantity: 500 }])
    expect(await ledger(id)).toEqual([500, 500])
    expect(refusal(await shop.call('POST', '/inventory/bulk', {}))).toBe('400 required items')
    expect(refusal(await bulk([{ adjust: 1 }]))).toBe('400 required items.0.variantId')
  })

  test('all or nothing: whatever is refused, nothing of it stays', async () => {
    const [a, b] = [await shelf(5), await shelf(5)]
    await order(b, 3)
    const theirs = await shelf(5, {}, other)
    for (const [bad, expected] of [
      [{ variantId: NOBODY, adjust: 1 }, '400 custom items.1.variantId'],
      [{ variantId: theirs, adjust: 1 }, '400 custom items.1.variantId'],
      [{ variantId: b, adjust: -3 }, '409'],
      [{ variantId: b, quantity: 1 }, '409'],
      [{ variantId: b }, '400 custom items.1.quantity'],
    ] as const)
      expect(refusal(await bulk([{ variantId: a, quantity: 9 }, bad]))).toBe(expected)
    const [missing, foreign] = [await bulk([{ variantId: NOBODY, adjust: 1 }]), await bulk([{ variantId: theirs, adjust: 1 }])]
    expect(foreign.text).toBe(missing.text)
    expect([await ledger(a), await ledger(b)]).toEqual([
      [5, 5],
      [5, 5],
    ])
    expect((await all(`/inventory/${a}/movements`)).length).toBe(1)
  })

  test('parallel bulks in opposite order neither block nor lose anything', async () => {
    const ids = [await shelf(0), await shelf(0)]
    const answers = await parallel(20, (i) => bulk((i % 2 ? ids : ids.toReversed()).map((variantId) => ({ variantId, adjust: 1 }))))
    expect(statuses(answers)).toEqual(Array(20).fill(200))
    for (const id of ids) expect(await ledger(id)).toEqual([20, 20])
  })
})

describe('GET /inventory/{variantId}/movements', () => {
  test('the ledger: id, variantId, delta, reason, orderId, keyId, createdAt; newest first', async () => {
    const id = await shelf(5)
    const { key } = await read(shop, '/me')
    await change(id, { adjust: 2, reason: 'Delivery <b>' })
    await change(id, { quantity: 4 })
    const { data, nextCursor } = await read(shop, `/inventory/${id}/movements`)
    const row = (delta: number, reason: unknown) => ({
      id: A_UUID,
      variantId: id,
      delta,
      reason,
      orderId: null,
      keyId: key.id,
      createdAt: AN_INSTANT,
    })
    expect([data, nextCursor]).toEqual([[row(-3, null), row(2, 'Delivery <b>'), row(5, expect.any(String))], null])
  })

  test('a change of nothing is no movement', async () => {
    const id = await shelf(0)
    await change(id, { adjust: 0 })
    await change(id, { quantity: 0 })
    expect((await read(shop, `/inventory/${id}/movements`)).data).toEqual([])
  })

  test('limit (50) and cursor: every movement once', async () => {
    const id = await shelf(1)
    await bulk(Array.from({ length: 60 }, (_, i) => ({ variantId: id, adjust: i + 1 })))
    const first = await read(shop, `/inventory/${id}/movements`)
    expect([first.data.length, typeof first.nextCursor]).toEqual([50, 'string'])
    expect((await all(`/inventory/${id}/movements?limit=7`)).map(({ delta }) => delta)).toEqual([
      ...Array.from({ length: 60 }, (_, i) => 60 - i),
      1,
    ])
  })

  test('its sum is the quantity, through orders, shipments, cancellations and refunds', async () => {
    const id = await shelf(10, { sku: 'A' })
    const orders: any[] = []
    for (const quantity of [1, 2, 3])
      orders.push(
        await create(shop, '/orders', { customer: { email: 'ada@example.com' }, items: [{ variantId: id, quantity }], paid: true }),
      )
    expect(await ledger(id)).toEqual([10, 10])
    expect(
      (await shop.call('POST', `/orders/${orders[0].id}/shipments`, { lines: [{ lineId: orders[0].lines[0].id, quantity: 1 }] })).status,
    ).toBe(201)
    expect((await shop.call('POST', `/orders/${orders[1].id}/cancel`, { reason: 'x' })).status).toBe(200)
    expect((await shop.call('PATCH', `/orders/${orders[2].id}`, { status: 'shipped' })).status).toBe(200)
    expect(
      (await shop.call('POST', `/orders/${orders[2].id}/refunds`, { lines: [{ lineId: orders[2].lines[0].id, quantity: 2 }] })).status,
    ).toBe(201)
    await change(id, { adjust: 4 })
    const [sum, quantity] = await ledger(id)
    expect([sum, quantity]).toEqual([12, 12])
    expect(
      (await all(`/inventory/${id}/movements`))
        .filter(({ orderId }) => orderId !== null)
        .map(({ orderId, delta }) => [orders.findIndex((one) => one.id === orderId), delta]),
    ).toEqual([
      [2, 2],
      [2, -3],
      [0, -1],
    ])
  })
})

test('all of the inventory needs catalog:write', async () => {
  const id = await shelf(5)
  const [writer, reader] = [await shop.keyWith('catalog:write'), await shop.keyWith('storefront:read')]
  for (const [method, path, body] of [
    ['GET', '/inventory', undefined],
    ['GET', `/inventory/${id}/movements`, undefined],
    ['PATCH', `/inventory/${id}`, { adjust: 1 }],
    ['POST', '/inventory/bulk', { items: [{ variantId: id, adjust: 1 }] }],
  ] as const) {
    for (const key of [reader, shop.keys.storefront]) {
      const answer = await shop.call(method, path, body, { key })
      expect([answer.status, answer.body.error, answer.body.hint]).toEqual([
        403,
        expect.stringContaining('catalog:write'),
        expect.any(String),
      ])
    }
    expect((await shop.call(method, path, body, { key: writer })).status).toBe(200)
  }
})
