import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sql } from 'drizzle-orm'
import { testApp, type TestApp } from '../harness.ts'
import { ADDRESS, made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await newShop(app)
  app.clock.real()
})
afterAll(() => app.close())

const NOBODY = '01985d2c-7c00-7a31-8c4e-0242ac120002'
const patch = (id: string, body: unknown, options?: object) => shop.patch(`/orders/${id}`, body, options)
const list = async (query = '') => made(await shop.get(`/orders${query}`))
const numbers = ({ data }: { data: { orderNumber: string }[] }) => data.map(({ orderNumber }) => Number(orderNumber))
const buyOne = async (order: object = {}, variant: object = {}) =>
  shop.buy({ items: [{ variantId: await shop.variant(variant) }], ...order })

describe('GET /orders', () => {
  test('lists 20 unless told otherwise, newest first, with the count of all', async () => {
    const variantId = await shop.variant()
    for (let i = 0; i < 22; i++) await shop.buy({ items: [{ variantId }] })
    const first = await list()
    expect(numbers(first)).toEqual(Array.from({ length: 20 }, (_, i) => 1022 - i))
    expect(first.meta).toEqual({ count: 22, offset: 0, limit: 20 })
    expect(first.data[0]).toEqual(await shop.order(first.data[0].id))
    expect(await list('?limit=5&offset=20')).toMatchObject({
      data: [{ lookup: 1002 }, { lookup: 1001 }],
      meta: { count: 22, offset: 20, limit: 5 },
    })
    expect(await list('?offset=100')).toEqual({ data: [], meta: { count: 22, offset: 100, limit: 20 } })
  })

  test('orders of one instant keep their order over the pages', async () => {
    app.clock.now = new Date('2026-05-01T00:00:00.000Z')
    const variantId = await shop.variant()
    for (let i = 0; i < 7; i++) await shop.buy({ items: [{ variantId }] })
    const seen = [
      ...numbers(await list('?limit=3')),
      ...numbers(await list('?limit=3&offset=3')),
      ...numbers(await list('?limit=3&offset=6')),
    ]
    expect(seen.toSorted()).toEqual([1001, 1002, 1003, 1004, 1005, 1006, 1007])
  })

  test.each([
    'status=lost',
    'status=',
    'paymentStatus=free',
    'source=web',
    'customerId=ada',
    'from=yesterday',
    'from=2026-02-30T00:00:00Z',
    'to=2026-01-01T00:00:00',
    'minTotalCents=-1',
    'maxTotalCents=1.5',
    'due=maybe',
  ])('?%s is 400', async (query) => {
    expect((await shop.get(`/orders?${query}`)).status).toBe(400)
  })

  test('filters by status, paymentStatus, source, customer and workstation', async () => {
    const variantId = await shop.variant()
    const paid = await shop.buy({ items: [{ variantId }], email: 'a@example.com' })
    await shop.buy({ items: [{ variantId }], email: 'b@example.com', paymentMethod: 'manual' })
    made(await shop.post('/orders', { source: 'wholesale', customer: { email: 'c@example.com' }, items: [{ variantId }], paid: true }))
    for (const [query, seen] of [
      ['status=paid', [1003, 1001]],
      ['status=pending', [1002]],
      ['status=cancelled', []],
      ['paymentStatus=unpaid', [1002]],
      ['paymentStatus=paid', [1003, 1001]],
      ['source=storefront', [1002, 1001]],
      ['source=wholesale', [1003]],
      [`customerId=${paid.customer.id}`, [1001]],
      [`customerId=${NOBODY}`, []],
      ['workstation=unassigned', [1003, 1002, 1001]],
      [`workstation=${NOBODY}`, []],
      ['status=paid&source=storefront', [1001]],
    ] as const) {
      const body = await list(`?${query}`)
      expect([query, numbers(body), body.meta.count]).toEqual([query, seen, seen.length])
    }
  })

  test('filters by total, and by what is still due', async () => {
    const [cheap, dear] = [await shop.variant({ price: 10 }), await shop.variant({ price: 25 })]
    const pending = async (variantId: string) => shop.buy({ items: [{ variantId }], paymentMethod: 'manual' })
    await shop.buy({ items: [{ variantId: cheap }] }) // 1001: paid
    const deposit = await pending(dear) // 1002
    const back = await pending(cheap) // 1003
    const gone = await pending(dear) // 1004
    const refunded = await shop.buy({ items: [{ variantId: dear }] }) // 1005
    made(await shop.post('/orders', { customer: { email: 'c@example.com' }, items: [{ variantId: cheap, unitPrice: 0 }] })) // 1006
    made(await shop.post(`/orders/${deposit.id}/payments`, { amountCents: 2499, method: 'cash' }))
    made(await shop.post(`/orders/${back.id}/payments`, { amountCents: 600, method: 'cash' }))
    made(await shop.post(`/orders/${back.id}/refunds`, { amountCents: 600 }))
    made(await shop.post(`/orders/${back.id}/payments`, { amountCents: 400, method: 'cash' }))
    made(await shop.post(`/orders/${gone.id}/cancel`))
    made(await shop.post(`/orders/${refunded.id}/refunds`, { amountCents: 500 }))
    for (const [query, seen, count] of [
      ['due=true', [1003, 1002]],
      ['due=false', [1006, 1005, 1004, 1001]],
      ['minTotalCents=2500', [1005, 1004, 1002]],
      ['minTotalCents=2501', []],
      ['maxTotalCents=1000', [1006, 1003, 1001]],
      ['maxTotalCents=999&minTotalCents=1', []],
      ['minTotalCents=1000&maxTotalCents=2500&limit=2', [1005, 1004], 5],
      ['minTotalCents=1000&offset=3', [1002, 1001], 5],
      ['due=true&minTotalCents=2000', [1002]],
      ['status=cancelled&minTotalCents=2000', [1004]],
    ] as [string, number[], number?][]) {
      const body = await list(`?${query}`)
      expect([query, numbers(body), body.meta.count]).toEqual([query, seen, count ?? seen.length])
    }
  })

  test('from is inclusive and to is not', async () => {
    const variantId = await shop.variant()
    const [first, second] = ['2026-05-01T10:00:00.000Z', '2026-05-02T10:00:00.000Z']
    for (const at of [first, second]) {
      app.clock.now = new Date(at)
      await shop.buy({ items: [{ variantId }] })
    }
    for (const [query, seen] of [
      [`from=${first}`, [1002, 1001]],
      ['from=2026-05-01T10:00:00.001Z', [1002]],
      [`to=${second}`, [1001]],
      ['to=2026-05-02T10:00:00.001Z', [1002, 1001]],
      [`from=${first}&to=${second}`, [1001]],
      ['from=2026-05-01T12:00:00%2B02:00', [1002, 1001]],
      ['from=2026-05-01T12:00:00.001%2B02:00', [1002]],
    ] as const)
      expect([query, numbers(await list(`?${query}`))]).toEqual([query, seen])
  })

  test('query finds by number, email and name, taking every sign for itself', async () => {
    const variantId = await shop.variant()
    for (const [email, name] of [
      ['ada_l@example.com', 'Ada 100%'],
      ['bob1001@example.com', 'Bob'],
      ['ŁUKASZ@example.com', 'Łukasz'],
    ] as const)
      await shop.buy({ items: [{ variantId }], email, name })
    for (const [query, seen] of [
      ['1003', [1003]],
      ['1001', [1002, 1001]],
      [' 1001 ', [1002, 1001]],
      ['9', []],
      ['ada', [1001]],
      ['ADA_L@EXAMPLE.COM', [1001]],
      ['a_l', [1001]],
      ['%', [1001]],
      ['_', [1001]],
      ['bob', [1002]],
      ['example.com', [1003, 1002, 1001]],
      ['"', []],
      ['łukasz@', [1003]],
      ['ŁUKASZ@EXAMPLE.COM', [1003]],
      ['Łukasz', [1003]],
      ['', [1003, 1002, 1001]],
      ['99999999999999999999', []],
    ] as const)
      expect([query, numbers(await list(`?query=${encodeURIComponent(query)}`))]).toEqual([query, seen])
  })

  test('needs orders:read; a storefront key can not list orders', async () => {
    for (const key of [shop.keys.storefront, await shop.keyWith('order:lookup', 'orders:write', 'customers:read')]) {
      const { status, body } = await shop.get('/orders', { key })
      expect([status, body.error]).toEqual([403, expect.stringContaining('orders:read')])
    }
    expect((await shop.get('/orders', { key: await shop.keyWith('orders:read') })).status).toBe(200)
  })
})

describe('GET /orders/{id}', () => {
  test('order:lookup alone sees no access code, no workstation and nothing personal', async () => {
    const method = await shop.method()
    const order = await buyOne(
      {
        email: 'secret.buyer@example.com',
        name: 'Secret Buyer',
        phone: '+48 600 100 200',
        note: 'secret note',
        shippingMethodId: method,
        shippingAddress: { ...ADDRESS, name: 'Secret Buyer', line1: 'Secret street' },
        billingAddress: { ...ADDRESS, company: 'Secret Inc' },
      },
      { shippable: true },
    )
    for (const key of [await shop.keyWith('order:lookup'), shop.keys.storefront]) {
      const { status, body, text } = await shop.get(`/orders/${order.id}`, { key })
      expect(status).toBe(200)
      expect(Object.keys(body)).not.toContain('accessCode')
      expect(Object.keys(body)).not.toContain('workstationId')
      expect(body).toMatchObject({
        id: order.id,
        orderNumber: '1001',
        status: 'paid',
        totalCents: order.totalCents,
        lines: order.lines,
        customer: null,
        shippingAddress: null,
        billingAddress: null,
        note: null,
      })
      for (const word of ['ecret', '+48', ADDRESS.city, ADDRESS.postalCode, order.accessCode]) expect(text).not.toContain(word)
    }
    const full = await shop.get(`/orders/${order.id}`, { key: await shop.keyWith('orders:read') })
    expect(full.body).toMatchObject({ accessCode: order.accessCode, workstationId: null, customer: { email: 'secret.buyer@example.com' } })
  })

  test('where a buyer collects a parcel is personal too', async () => {
    const { id } = await shop.cart([{ variantId: await shop.variant() }])
    await shop.patch(`/carts/${id}`, { pickupPoint: { id: 'GDA01M', phone: '+48 600' } })
    const { order } = made(await shop.checkOut(id))
    expect((await shop.get(`/orders/${order.id}`, { key: shop.keys.storefront })).body.shipping.pickupPoint).toBeNull()
    expect((await shop.order(order.id)).shipping.pickupPoint).toEqual({ id: 'GDA01M', phone: '+48 600' })
  })

  test('a key with neither orders:read nor order:lookup is 403', async () => {
    const { status, body } = await shop.get(`/orders/${NOBODY}`, { key: await shop.keyWith('orders:write', 'customers:read') })
    expect([status, body.error]).toEqual([403, expect.stringContaining('orders:read or order:lookup')])
  })

  test('an order number in place of an id is a 404 that says how to find it', async () => {
    for (const path of ['/orders/1001', '/orders/1001/refunds', '/orders/1001/shipments']) {
      const { status, body } = await shop.get(path)
      expect([status, body]).toMatchObject([404, { error: 'order not found', hint: expect.stringContaining('/orders?query=1001') }])
    }
    expect((await shop.get('/orders/01985d2c-7c00-7a31-8c4e-0242ac120002')).body.hint).toBeUndefined()
  })

  test('an order of another store is the same 404 as one that is missing', async () => {
    const other = await newShop(app)
    const foreign = (await other.buy({ items: [{ variantId: await other.variant() }] })).id
    for (const id of [foreign, NOBODY, '1001', 'x']) {
      for (const answer of [
        await shop.get(`/orders/${id}`),
        await patch(id, { note: 'x' }),
        await shop.post(`/orders/${id}/payments`, { amountCents: 1, method: 'cash' }),
        await shop.post(`/orders/${id}/cancel`),
        await shop.post(`/orders/${id}/refunds`, { amountCents: 1 }),
        await shop.get(`/orders/${id}/refunds`),
        await shop.post(`/orders/${id}/shipments`),
        await shop.get(`/orders/${id}/shipments`),
      ])
        expect([answer.status, answer.body]).toEqual([404, expect.objectContaining({ error: 'order not found' })])
    }
  })

  test('an id is found in upper case too', async () => {
    const { id } = await buyOne()
    expect((await shop.get(`/orders/${id.toUpperCase()}`)).body.id).toBe(id)
  })
})

/** Document 3, Orders: where a status may go. */
const TABLE = {
  pending: ['paid', 'cancelled'],
  paid: ['processing', 'shipped', 'completed', 'cancelled', 'refunded'],
  processing: ['shipped', 'completed', 'cancelled', 'refunded'],
  shipped: ['delivered', 'completed', 'refunded'],
  delivered: ['completed', 'refunded'],
  completed: ['refunded'],
  cancelled: [],
  refunded: [],
} as const
type Status = keyof typeof TABLE
const STATUSES = Object.keys(TABLE) as Status[]
/** How an order gets to a status. */
const WAY: Record<Status, Status[]> = {
  pending: [],
  paid: ['paid'],
  processing: ['paid', 'processing'],
  shipped: ['paid', 'shipped'],
  delivered: ['paid', 'shipped', 'delivered'],
  completed: ['paid', 'completed'],
  cancelled: ['cancelled'],
  refunded: ['paid', 'refunded'],
}

describe('moves of status', () => {
  const orderThatIs = async (status: Status, variantId: string) => {
    const { id } = await shop.buy({ items: [{ variantId, quantity: 2 }], paymentMethod: 'manual' })
    for (const step of WAY[status]) expect((await patch(id, { status: step })).body.status).toBe(step)
    return id
  }

  test.each(
    STATUSES.flatMap((from) =>
      STATUSES.map((to) => [from, (TABLE[from] as readonly Status[]).includes(to) ? 'to' : 'never to', to] as const),
    ),
  )('%s %s %s', async (from, allowed, to) => {
    const variantId = await shop.variant({ stock: { quantity: 10 } })
    const id = await orderThatIs(from, variantId)
    const before = await shop.order(id)
    const [stock, events] = [await shop.stock(variantId), await shop.events()]
    const { status, body } = await patch(id, { status: to })
    if (allowed === 'to') {
      expect([status, body.status]).toEqual([200, to])
      expect(await shop.order(id)).toEqual(body)
    } else {
      expect([status, body.error]).toEqual([409, expect.any(String)])
      expect([await shop.order(id), await shop.stock(variantId), await shop.events()]).toEqual([before, stock, events])
    }
  })

  test('a status that there is not is 400', async () => {
    const { id } = await buyOne()
    for (const status of ['lost', '', null, 5]) expect(paths(await patch(id, { status }))).toEqual(['status'])
  })

  test.each([
    ['paid', 10, 2],
    ['processing', 10, 2],
    ['shipped', 8, 0],
    ['delivered', 8, 0],
    ['completed', 8, 0],
    ['cancelled', 10, 0],
    ['refunded', 10, 0],
  ] as const)('%s: %i on the shelf, %i of them held', async (status, quantity, reserved) => {
    const variantId = await shop.variant({ stock: { quantity: 10 } })
    await orderThatIs(status, variantId)
    expect(await shop.stock(variantId)).toEqual({ quantity, reserved, available: quantity - reserved })
    expect((await shop.ledger(variantId)).reduce((a, b) => a + b, 0)).toBe(quantity)
  })

  test('paid marks the payment of all that is due', async () => {
    const { id } = await buyOne({ paymentMethod: 'manual' })
    app.clock.now = new Date('2030-01-01T00:00:00.000Z')
    expect((await patch(id, { status: 'paid' })).body).toMatchObject({
      status: 'paid',
      paymentStatus: 'paid',
      paidCents: 1000,
      paidAt: '2030-01-01T00:00:00.000Z',
    })
  })

  test('each event is told once', async () => {
    const { id } = await buyOne({ paymentMethod: 'manual' })
    for (const status of ['paid', 'shipped', 'delivered', 'completed', 'refunded']) await patch(id, { status })
    expect(await shop.events()).toEqual(['customer.created', 'order.created', 'order.paid', 'order.shipped', 'order.refunded'])
  })

  test('of 10 cancellations at once one takes effect', async () => {
    const variantId = await shop.variant({ stock: { quantity: 10 } })
    const { id } = await shop.buy({ items: [{ variantId, quantity: 4 }] })
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? shop.post(`/orders/${id}/cancel`) : patch(id, { status: 'cancelled' }))),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)])
    expect(await shop.stock(variantId)).toEqual({ quantity: 10, reserved: 0, available: 10 })
    expect((await shop.events()).filter((event) => event === 'order.cancelled')).toHaveLength(1)
  })
})

describe('PATCH /orders/{id}', () => {
  test('changes note and packed, and nothing else', async () => {
    const before = await buyOne()
    app.clock.now = new Date('2030-01-01T00:00:00.000Z')
    const { body } = await patch(before.id, { note: 'fragile', packed: true })
    expect(body).toEqual({ ...before, note: 'fragile', packedAt: '2030-01-01T00:00:00.000Z', updatedAt: '2030-01-01T00:00:00.000Z' })
    app.clock.now = new Date('2030-01-02T00:00:00.000Z')
    expect((await patch(before.id, { packed: true })).body.packedAt).toBe('2030-01-01T00:00:00.000Z')
    expect((await patch(before.id, { packed: false, note: null })).body).toMatchObject({ packedAt: null, note: null })
    expect((await patch(before.id, {})).body).toMatchObject({ packedAt: null, note: null, status: 'paid' })
  })

  test('a status and a note go together, or not at all', async () => {
    const { id } = await buyOne()
    expect((await patch(id, { status: 'processing', note: 'now' })).body).toMatchObject({ status: 'processing', note: 'now' })
    expect((await patch(id, { status: 'delivered', note: 'never' })).status).toBe(409)
    expect((await shop.order(id)).note).toBe('now')
  })

  test.each([
    ['packed', { packed: 'yes' }],
    ['packed', { packed: null }],
    ['note', { note: 5 }],
    ['note', { note: 'x'.repeat(2001) }],
    ['workstationId', { workstationId: 'desk' }],
    ['workstationId', { workstationId: NOBODY }],
  ])('%s is 400 in %j', async (path, body) => {
    const { id } = await buyOne()
    expect(paths(await patch(id, body))).toEqual([path])
  })

  test('workstationId null unassigns', async () => {
    const { id } = await buyOne()
    expect((await patch(id, { workstationId: null })).body.workstationId).toBeNull()
  })

  test('what is not of the merchant to change is ignored', async () => {
    const before = await buyOne()
    const { body } = await patch(before.id, {
      totalCents: 1,
      paymentStatus: 'unpaid',
      orderNumber: '1',
      customer: { email: 'x@y.example' },
      accessCode: 'x',
    })
    expect({ ...body, updatedAt: '' }).toEqual({ ...before, updatedAt: '' })
  })

  test('needs orders:write', async () => {
    const { id } = await buyOne()
    const key = await shop.keyWith('orders:read', 'order:lookup', 'cart:write')
    for (const answer of [
      await patch(id, { note: 'x' }, { key }),
      await shop.post(`/orders/${id}/cancel`, {}, { key }),
      await shop.post(`/orders/${id}/payments`, {}, { key }),
      await shop.post(`/orders/${id}/refunds`, {}, { key }),
      await shop.post(`/orders/${id}/shipments`, {}, { key }),
      await shop.post('/orders', {}, { key }),
    ])
      expect([answer.status, answer.body.error]).toEqual([403, expect.stringContaining('orders:write')])
  })

  test('a change based on an old ETag is 412', async () => {
    const { id } = await buyOne()
    const etag = (await shop.get(`/orders/${id}`)).headers.get('etag')!
    const answers = await Promise.all(['processing', 'shipped'].map((status) => patch(id, { status }, { headers: { 'if-match': etag } })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412])
  })
})

describe('POST /orders', () => {
  const order = (body: object) => shop.post('/orders', { customer: { email: 'ada@example.com' }, ...body })

  test("customer and items are enough: the order is the admin's and pending", async () => {
    const variantId = await shop.variant({ price: 12.5, sku: 'A' }, { name: 'Thing' })
    const { status, body } = await order({ items: [{ variantId }] })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      orderNumber: '1001',
      source: 'admin',
      status: 'pending',
      paymentStatus: 'unpaid',
      paidCents: 0,
      customer: { email: 'ada@example.com', name: null },
      currency: 'usd',
      totalCents: 1250,
      shipping: null,
      note: null,
      lines: [{ variantId, name: 'Thing', sku: 'A', quantity: 1, unitPriceCents: 1250, totalCents: 1250 }],
    })
    expect(await shop.stock(variantId)).toMatchObject({ reserved: 1 })
    expect(await shop.order(body.id)).toEqual(body)
  })

  test('keeps everything that is said', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur'] })
    const [variantId, shippingMethodId] = [
      await shop.variant({ price: 10, prices: { eur: 9 }, shippable: true }),
      await shop.method({ price: 5, currencyPrices: { eur: { price: 4 } } }),
    ]
    const { body } = await order({
      source: 'marketplace_a',
      customer: { email: 'ADA@Example.com', name: 'Ada', phone: '+48 1' },
      items: [
        { variantId, quantity: 3, unitPrice: 8.99 },
        { variantId, quantity: 1 },
      ],
      currency: 'EUR',
      shippingAddress: ADDRESS,
      billingAddress: { ...ADDRESS, company: 'Acme' },
      shippingMethodId,
      paid: true,
      note: 'A-17',
    })
    expect(body).toMatchObject({
      source: 'marketplace_a',
      status: 'paid',
      paymentStatus: 'paid',
      customer: { email: 'ada@example.com', name: 'Ada' },
      currency: 'eur',
      shippingCents: 400,
      totalCents: 2697 + 900 + 400,
      paidCents: 3997,
      shipping: { methodId: shippingMethodId },
      lines: [
        { quantity: 3, unitPriceCents: 899 },
        { quantity: 1, unitPriceCents: 900 },
      ],
      shippingAddress: { city: 'Gdańsk' },
      billingAddress: { company: 'Acme' },
      note: 'A-17',
      paidAt: body.createdAt,
    })
    expect((await shop.get(`/customers/${body.customer.id}`)).body).toMatchObject({ phone: '+48 1' })
    expect(await shop.events()).toEqual(['customer.created', 'order.created', 'order.paid'])
  })

  test.each(['storefront', 'integration_a', 'marketplace_a', 'locker_marketplace', 'wholesale', 'admin', 'counter'])(
    'the source may be %s',
    async (source) => {
      expect(made(await order({ source, items: [{ variantId: await shop.variant() }] })).source).toBe(source)
    },
  )

  test.each([
    ['customer', { customer: undefined }],
    ['customer.email', { customer: {} }],
    ['customer.email', { customer: { email: 'x' } }],
    ['customer.email', { customer: { email: null } }],
    ['customer.email', { customer: { email: 'nobody' } }],
    ['items', { items: undefined }],
    ['items', { items: [] }],
    ['items.0.variantId', { items: [{}] }],
    ['items.0.variantId', { items: [{ variantId: NOBODY }] }],
    ['items.0.quantity', { quantity: 0 }],
    ['items.0.quantity', { quantity: 1.5 }],
    ['items.0.unitPrice', { unitPrice: -1 }],
    ['items.0.unitPrice', { unitPrice: 1.001 }],
    ['items.0.unitPrice', { unitPrice: '1' }],
    ['source', { source: 'web' }],
    ['source', { source: null }],
    ['currency', { currency: 'eur' }],
    ['shippingMethodId', { shippingMethodId: NOBODY }],
    ['shippingAddress.country', { shippingAddress: { country: 'POL' } }],
    ['paid', { paid: 'yes' }],
  ])('%s is 400 in %j', async (path, { quantity, unitPrice, ...change }: any) => {
    const answer = await order({ items: [{ variantId: await shop.variant(), quantity, unitPrice }], ...change })
    expect(paths(answer)).toEqual([path])
    expect(await shop.traces()).toMatchObject({ orders: 0, customers: 0, reserved: 0, number: 0 })
  })

  test('more than there is in stock is 409, also over two items, and leaves nothing', async () => {
    const variantId = await shop.variant({ stock: { quantity: 5 } })
    const before = await shop.traces()
    expect(
      (
        await order({
          items: [
            { variantId, quantity: 3 },
            { variantId, quantity: 3 },
          ],
        })
      ).status,
    ).toBe(409)
    expect(await shop.traces()).toEqual(before)
    expect(
      (
        await order({
          items: [
            { variantId, quantity: 3 },
            { variantId, quantity: 2 },
          ],
        })
      ).status,
    ).toBe(201)
  })

  test('a variant without a price in the currency needs one in the order', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur'] })
    const variantId = await shop.variant()
    expect((await order({ currency: 'eur', items: [{ variantId }] })).status).toBe(409)
    expect(made(await order({ currency: 'eur', items: [{ variantId, unitPrice: 3 }] })).totalCents).toBe(300)
  })

  test('a shipping method without a price in the currency is 409', async () => {
    await shop.settings({ enabledCurrencies: ['usd', 'eur'] })
    const [items, shippingMethodId] = [[{ variantId: await shop.variant({ prices: { eur: 9 } }) }], await shop.method()]
    expect((await order({ currency: 'eur', items, shippingMethodId })).status).toBe(409)
    expect((await order({ items, shippingMethodId })).status).toBe(201)
  })

  test('what was agreed elsewhere stands: no promotion changes it, and what is hidden can be in it', async () => {
    await shop.promotion({ value: 50 })
    expect(made(await order({ items: [{ variantId: await shop.variant({}, { status: 'hidden' }) }] })).totalCents).toBe(1000)
  })

  test('goes to the customer of that address, whatever its case', async () => {
    const first = await buyOne({ email: 'Ada@Example.com', name: 'Ada' })
    const second = made(await order({ customer: { email: 'ADA@EXAMPLE.COM' }, items: [{ variantId: await shop.variant() }] }))
    expect(second.customer.id).toBe(first.customer.id)
  })

  test('shares the numbers of checkouts, without a gap, 30 of both at once', async () => {
    const variantId = await shop.variant()
    const carts = []
    for (let i = 0; i < 15; i++) carts.push((await shop.cart([{ variantId }])).id)
    const answers = await Promise.all([
      ...carts.map((id) => shop.checkOut(id)),
      ...Array.from({ length: 15 }, () => order({ items: [{ variantId }] })),
    ])
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(201))
    expect((await shop.rows(sql`select lookup from orders order by lookup`)).flat()).toEqual(Array.from({ length: 30 }, (_, i) => 1001 + i))
  })
})

describe('POST /orders/{id}/payments', () => {
  const pay = (id: string, body: unknown) => shop.post(`/orders/${id}/payments`, body)

  test('marks the order paid when its total is reached, and not before', async () => {
    const { id } = await buyOne({ paymentMethod: 'manual' })
    const first = await pay(id, { amountCents: 400, method: 'cash' })
    expect([first.status, first.body]).toEqual([
      201,
      {
        id: expect.any(String),
        orderId: id,
        method: 'cash',
        status: 'succeeded',
        amountCents: 400,
        currency: 'usd',
        reference: null,
        createdAt: expect.any(String),
      },
    ])
    expect(await shop.order(id)).toMatchObject({ status: 'pending', paymentStatus: 'unpaid', paidCents: 400, paidAt: null })
    expect((await pay(id, { amountCents: 600, method: 'transfer', reference: 'TX-1' })).body).toMatchObject({
      reference: 'TX-1',
      amountCents: 600,
    })
    expect(await shop.order(id)).toMatchObject({ status: 'paid', paymentStatus: 'paid', paidCents: 1000, paidAt: expect.any(String) })
    expect((await shop.events()).filter((event) => event === 'order.paid')).toHaveLength(1)
  })

  test('more than is due is 409', async () => {
    const { id } = await buyOne({ paymentMethod: 'manual' })
    await pay(id, { amountCents: 400, method: 'cash' })
    const { status, body } = await pay(id, { amountCents: 601, method: 'cash' })
    expect([status, body.dueCents]).toEqual([409, 600])
    expect((await shop.order(id)).paidCents).toBe(400)
  })

  test('an order that is paid or over takes none', async () => {
    const paid = await buyOne()
    const cancelled = await buyOne({ paymentMethod: 'manual' })
    await shop.post(`/orders/${cancelled.id}/cancel`)
    for (const { id } of [paid, cancelled]) expect((await pay(id, { amountCents: 1, method: 'cash' })).status).toBe(409)
  })

  test.each([
    ['amountCents', {}],
    ['amountCents', { amountCents: 0 }],
    ['amountCents', { amountCents: -1 }],
    ['amountCents', { amountCents: 1.5 }],
    ['amountCents', { amountCents: '1' }],
    ['method', { method: undefined }],
    ['method', { method: '' }],
    ['method', { method: null }],
    ['reference', { reference: 5 }],
  ])('%s is 400 in %j', async (path, change) => {
    const { id } = await buyOne({ paymentMethod: 'manual' })
    const body = path === 'amountCents' ? { method: 'cash', ...change } : { amountCents: 1, method: 'cash', ...change }
    expect(paths(await pay(id, body))).toEqual([path])
  })

  test('of 10 full payments at once one is taken', async () => {
    const { id } = await buyOne({ paymentMethod: 'manual' })
    const answers = await Promise.all(Array.from({ length: 10 }, () => pay(id, { amountCents: 1000, method: 'cash' })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect((await shop.order(id)).paidCents).toBe(1000)
  })
})

describe('POST /orders/{id}/cancel', () => {
  test('gives stock and coupon uses back', async () => {
    await shop.coupon({ code: 'ONCE', maxUses: 1 })
    const variantId = await shop.variant({ stock: { quantity: 3 } })
    const { id } = await shop.buy({ items: [{ variantId, quantity: 3 }], coupons: ['ONCE'] })
    const { status, body } = await shop.post(`/orders/${id}/cancel`, { reason: 'changed my mind' })
    expect([status, body.status, body.cancelReason]).toEqual([200, 'cancelled', 'changed my mind'])
    expect(await shop.stock(variantId)).toEqual({ quantity: 3, reserved: 0, available: 3 })
    expect((await shop.get('/coupons/ONCE')).body.timesRedeemed).toBe(0)
    await shop.buy({ items: [{ variantId, quantity: 3 }], coupons: ['ONCE'] })
  })

  test('once: a second one is 409 and gives nothing more back', async () => {
    await shop.coupon({ code: 'TWICE', maxUses: 2 })
    const variantId = await shop.variant({ stock: { quantity: 3 } })
    const { id } = await shop.buy({ items: [{ variantId }], coupons: ['TWICE'] })
    await shop.buy({ items: [{ variantId }], coupons: ['TWICE'] })
    await shop.post(`/orders/${id}/cancel`)
    for (const answer of [await shop.post(`/orders/${id}/cancel`), await patch(id, { status: 'cancelled' })])
      expect(answer.status).toBe(409)
    expect(await shop.stock(variantId)).toEqual({ quantity: 3, reserved: 1, available: 2 })
    expect((await shop.get('/coupons/TWICE')).body.timesRedeemed).toBe(1)
  })

  test('needs no body, and null is no reason', async () => {
    const [a, b] = [await buyOne(), await buyOne()]
    expect((await shop.call('POST', `/orders/${a.id}/cancel`)).body.cancelReason).toBeNull()
    expect((await shop.post(`/orders/${b.id}/cancel`, { reason: null })).body.cancelReason).toBeNull()
  })

  test('what has shipped, even in part, is 409', async () => {
    const variantId = await shop.variant({ shippable: true })
    const order = await shop.buy({ items: [{ variantId, quantity: 2 }], shippingMethodId: await shop.method(), shippingAddress: ADDRESS })
    await shop.post(`/orders/${order.id}/shipments`, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] })
    expect((await shop.post(`/orders/${order.id}/cancel`)).status).toBe(409)
    expect(await shop.stock(variantId)).toEqual({ quantity: 99, reserved: 1, available: 98 })
  })

  test('a product can be removed once its order is over', async () => {
    const {
      id,
      lines: [line],
    } = await buyOne()
    expect((await shop.remove(`/products/${line.productId}`)).status).toBe(409)
    await shop.post(`/orders/${id}/cancel`)
    expect((await shop.remove(`/products/${line.productId}`)).status).toBe(200)
    expect((await shop.order(id)).lines).toEqual([line])
  })
})

describe('filters that are no plain columns', () => {
  test('query finds names whatever the case, in every alphabet, with or without their marks', async () => {
    const items = [{ variantId: await shop.variant() }]
    made(await shop.post('/orders', { customer: { email: 'l@example.com', name: 'Łukasz Żak' }, items }))
    for (const query of ['Łukasz', 'łukasz', 'żAK', 'lukasz zak'])
      expect(made(await shop.get(`/orders?query=${encodeURIComponent(query)}`)).meta.count, query).toBe(1)
    expect(made(await shop.get('/orders?query=%25')).meta.count).toBe(0)
  })

  test('workstation is an id or unassigned; currency is one of ISO 4217', async () => {
    const order = await shop.buy({ items: [{ variantId: await shop.variant() }] })
    for (const query of ['workstation=zz', 'workstation=', 'currency=zzz', 'currency=x'])
      expect((await shop.get(`/orders?${query}`)).status, query).toBe(400)
    const ids = async (query: string) => made(await shop.get(`/orders?${query}`)).data.map(({ id }: { id: string }) => id)
    expect(await ids('workstation=unassigned')).toEqual([order.id])
    expect(await ids('currency=USD')).toEqual([order.id])
    expect(await ids('currency=eur')).toEqual([])
  })
})
