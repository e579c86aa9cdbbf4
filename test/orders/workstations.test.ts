import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { queueFor, type Queue, type Rule } from '../../api/orders/workstations/assignment.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
let variantId: string
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await newShop(app, { plan: 'growth' })
  variantId = await shop.variant({ stock: { quantity: 1_000 } })
})
afterAll(() => app.close())

const NOBODY = '01985d2c-7c00-7a31-8c4e-0242ac120002'
let count = 0
const station = async (more: object = {}) => made(await shop.post('/workstations', { name: `Table ${++count}`, ...more }))
const rules = async (...list: object[]) => made(await shop.call('PUT', '/workstations/rules', { rules: list }))
const order = (more: object = {}) => shop.buy({ items: [{ variantId, quantity: 1 }], ...more })
const recorded = async (more: object = {}) =>
  made(await shop.post('/orders', { customer: { email: 'ada@example.com' }, items: [{ variantId }], paid: true, ...more }))
const at = async ({ id }: { id: string }) => (await shop.order(id)).workstationId
const assign = async ({ id }: { id: string }, workstationId: string | null) => made(await shop.patch(`/orders/${id}`, { workstationId }))
const waitingAt = async ({ id }: { id: string }) => made(await shop.get(`/workstations/${id}`)).waitingCount

describe('workstations', () => {
  test('a name is enough', async () => {
    const { status, body } = await shop.post('/workstations', { name: 'Table by the window' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      name: 'Table by the window',
      type: 'packing',
      active: true,
      position: 0,
      memberIds: [],
      waitingCount: 0,
      createdAt: expect.any(String),
      updatedAt: body.createdAt,
    })
    expect((await shop.get(`/workstations/${body.id}`)).body).toEqual(body)
    expect((await shop.get('/workstations')).body).toEqual({ data: [body] })
  })

  test.each([
    ['name', { name: undefined }],
    ['name', { name: '' }],
    ['name', { name: '   ' }],
    ['name', { name: 'x'.repeat(61) }],
    ['name', { name: null }],
    ['type', { type: 'sorting' }],
    ['type', { type: null }],
    ['active', { active: 'yes' }],
    ['memberIds', { memberIds: NOBODY }],
    ['position', { position: -1 }],
  ])('%s is 400 in %j', async (path, change) => {
    expect(paths(await shop.post('/workstations', { name: 'Table', ...change }))).toEqual([path])
  })

  test('a name of 60 characters is one, and is there once', async () => {
    const name = 'x'.repeat(60)
    const first = await station({ name })
    expect((await shop.post('/workstations', { name })).status).toBe(409)
    const second = await station()
    expect((await shop.patch(`/workstations/${second.id}`, { name })).status).toBe(409)
    expect((await shop.patch(`/workstations/${first.id}`, { name })).status).toBe(200)
  })

  test('are listed in their order, new ones last', async () => {
    const [a, b, c] = [await station(), await station(), await station({ position: 0 })]
    const listed = async () => (await shop.get('/workstations')).body.data.map(({ id }: { id: string }) => id)
    expect(await listed()).toEqual([a.id, c.id, b.id])
    made(await shop.patch(`/workstations/${a.id}`, { position: 9 }))
    expect(await listed()).toEqual([c.id, b.id, a.id])
  })

  test('members are those of the team; who leaves it leaves the workstation', async () => {
    const invitation = made(await shop.post('/team/invitations', { email: 'bob@example.com' }))
    const { id } = made(await shop.post('/team/invitations/accept', { token: invitation.token, name: 'Bob' }))
    const table = await station({ memberIds: [NOBODY, id.toUpperCase(), 'nobody', id] })
    expect(table.memberIds).toEqual([id])
    expect(made(await shop.patch(`/workstations/${table.id}`, { memberIds: [] })).memberIds).toEqual([])
    made(await shop.patch(`/workstations/${table.id}`, { memberIds: [id] }))
    made(await shop.remove(`/team/${id}`))
    expect((await shop.get(`/workstations/${table.id}`)).body.memberIds).toEqual([])
  })

  test('one that is not there is 404', async () => {
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { name: 'x' }],
      ['DELETE', undefined],
    ] as const)
      expect((await shop.call(method, `/workstations/${NOBODY}`, body)).status, method).toBe(404)
  })
})

describe('the plan', () => {
  test('of a starter store reads and removes, and changes nothing', async () => {
    const table = await station()
    const starter = await newShop(app, { plan: 'starter' })
    for (const [method, path, body] of [
      ['POST', '/workstations', { name: 'Table' }],
      // The plan is asked before the body.
      ['POST', '/workstations', { name: 7 }],
      ['PATCH', `/workstations/${table.id}`, { name: 'x' }],
      ['PUT', '/workstations/rules', { rules: [] }],
    ] as const) {
      const { status, body: answer } = await starter.call(method, path, body)
      expect([status, answer], `${method} ${path}`).toEqual([
        403,
        expect.objectContaining({ error: 'the plan of this store has no workstations: it takes growth or more', plan: 'starter' }),
      ])
    }
    expect((await starter.get('/workstations')).body).toEqual({ data: [] })
    expect((await starter.get('/workstations/rules')).body).toEqual({ data: [] })
    expect((await starter.remove(`/workstations/${table.id}`)).status).toBe(404)
  })
})

describe('PUT /workstations/rules', () => {
  test('replaces the list in the order sent', async () => {
    const [a, b] = [await station(), await station()]
    const method = await shop.method()
    const answer = await rules(
      { sources: ['wholesale'], shippingIds: [method.toUpperCase()], workstationIds: [a.id, b.id.toUpperCase(), a.id] },
      { workstationIds: [b.id, NOBODY, 'gone'] },
    )
    const data = [
      { position: 0, sources: ['wholesale'], shippingIds: [method], workstationIds: [a.id, b.id] },
      { position: 1, sources: [], shippingIds: [], workstationIds: [b.id] },
    ]
    expect(answer).toEqual({ data, placedOrderCount: 0 })
    expect((await shop.get('/workstations/rules')).body).toEqual({ data })
    expect(await rules()).toEqual({ data: [], placedOrderCount: 0 })
  })

  test.each([
    ['rules', {}],
    ['rules', { rules: null }],
    ['rules.0.workstationIds', { rules: [{}] }],
    ['rules.0.workstationIds', { rules: [{ workstationIds: [] }] }],
    ['rules.0.workstationIds', { rules: [{ workstationIds: [NOBODY] }] }],
    ['rules.0.sources.0', { rules: [{ sources: ['fax'], workstationIds: [NOBODY] }] }],
    ['rules.0.shippingIds.0', { rules: [{ shippingIds: ['courier'], workstationIds: [NOBODY] }] }],
  ])('%s is 400 in %j, and the list stays', async (path, body) => {
    const table = await station()
    await rules({ workstationIds: [table.id] })
    expect(paths(await shop.call('PUT', '/workstations/rules', body))).toEqual([path])
    expect((await shop.get('/workstations/rules')).body.data).toHaveLength(1)
  })

  test('a shipping method that is not in the store is 400 at its place; a workstation of another store is left out', async () => {
    const table = await station()
    const other = await newShop(app, { plan: 'growth' })
    const theirs = made(await other.post('/workstations', { name: 'Theirs' }))
    const put = (...list: object[]) => shop.call('PUT', '/workstations/rules', { rules: list })
    const named = { workstationIds: [table.id] }
    expect(paths(await put(named, { ...named, shippingIds: [await shop.method(), NOBODY] }))).toEqual(['rules.1.shippingIds.1'])
    expect(paths(await put({ workstationIds: [theirs.id] }))).toEqual(['rules.0.workstationIds'])
    expect(made(await put({ workstationIds: [theirs.id, table.id] })).data[0].workstationIds).toEqual([table.id])
  })

  test('a shipping method that has been deleted may stay in its rule, and matches nothing', async () => {
    const table = await station()
    const shippingId = await shop.method()
    const put = (list: object[]) => shop.call('PUT', '/workstations/rules', { rules: list })
    const { data } = made(await put([{ workstationIds: [table.id], shippingIds: [shippingId] }]))
    made(await shop.remove(`/shipping/${shippingId}`))
    expect(made(await put(data)).data).toEqual(data)
    expect((await order()).workstationId).toBeNull()
    made(await put([]))
    expect(paths(await put(data))).toEqual(['rules.0.shippingIds.0'])
  })

  test('places what waits and nobody has decided about, oldest first', async () => {
    const waiting = [await order(), await order(), await order()]
    const [unassigned, packed, pending] = [await order(), await order(), await order({ paymentMethod: 'manual' })]
    await assign(unassigned, null)
    made(await shop.patch(`/orders/${packed.id}`, { packed: true }))
    const [a, b] = [await station(), await station()]
    expect((await rules({ workstationIds: [a.id, b.id] })).placedOrderCount).toBe(3)
    expect(await Promise.all(waiting.map(at))).toEqual([a.id, b.id, a.id])
    expect(await Promise.all([unassigned, packed, pending].map(at))).toEqual([null, null, null])
    expect((await rules({ workstationIds: [b.id] })).placedOrderCount).toBe(0)
    expect(await Promise.all(waiting.map(at))).toEqual([a.id, b.id, a.id])
  })
})

describe('an order that becomes ready to pack', () => {
  test('without rules stays unassigned', async () => {
    await station()
    expect(await at(await order())).toBeNull()
  })

  test('is placed when it is paid, however it is: at checkout, by a recorded payment, by hand, as a recorded order', async () => {
    const table = await station()
    await rules({ workstationIds: [table.id] })
    expect((await order()).workstationId).toBe(table.id)
    const manual = await order({ paymentMethod: 'manual' })
    expect(manual.workstationId).toBeNull()
    made(await shop.post(`/orders/${manual.id}/payments`, { amountCents: manual.totalCents, method: 'cash' }))
    expect(await at(manual)).toBe(table.id)
    const moved = await order({ paymentMethod: 'manual' })
    expect(made(await shop.patch(`/orders/${moved.id}`, { status: 'paid' })).workstationId).toBe(table.id)
    expect((await recorded({ source: 'marketplace_a' })).workstationId).toBe(table.id)
    expect(await waitingAt(table)).toBe(4)
  })

  test('takes the first rule that matches, by channel and shipping method', async () => {
    const [a, b, c] = [await station(), await station(), await station()]
    const [courier, parcel] = [await shop.method(), await shop.method()]
    await rules(
      { sources: ['wholesale', 'marketplace_a'], workstationIds: [a.id] },
      { shippingIds: [courier], workstationIds: [b.id] },
      { sources: ['admin'], workstationIds: [c.id] },
    )
    expect((await recorded({ source: 'wholesale', shippingMethodId: courier })).workstationId).toBe(a.id)
    expect((await recorded({ shippingMethodId: courier })).workstationId).toBe(b.id)
    expect((await recorded({ shippingMethodId: parcel })).workstationId).toBe(c.id)
    expect((await recorded({ source: 'integration_a' })).workstationId).toBeNull()
  })

  test('of several goes where the fewest wait; a rule whose workstations take none is passed over', async () => {
    const [off, picking, a, b] = [
      await station({ active: false }),
      await station({ type: 'picking' }),
      await station({ type: 'both' }),
      await station(),
    ]
    await rules({ workstationIds: [off.id, picking.id] }, { workstationIds: [a.id, b.id] })
    const placed = [await order(), await order(), await order()]
    expect(placed.map(({ workstationId }) => workstationId)).toEqual([a.id, b.id, a.id])
    // What is packed waits no longer.
    for (const { id } of [placed[0], placed[2]]) made(await shop.patch(`/orders/${id}`, { packed: true }))
    expect([await waitingAt(a), await waitingAt(b)]).toEqual([0, 1])
    expect((await order()).workstationId).toBe(a.id)
  })

  test('over a counter is never placed', async () => {
    const table = await station()
    await rules({ sources: ['counter'], workstationIds: [table.id] }, { workstationIds: [table.id] })
    const sale = await recorded({ source: 'counter' })
    expect(sale.workstationId).toBeNull()
    expect((await rules({ workstationIds: [table.id] })).placedOrderCount).toBe(0)
  })

  test('is ready again when it is unpacked', async () => {
    const bare = await order()
    made(await shop.patch(`/orders/${bare.id}`, { packed: true }))
    const table = await station()
    await rules({ workstationIds: [table.id] })
    expect(await at(bare)).toBeNull()
    expect(made(await shop.patch(`/orders/${bare.id}`, { packed: false })).workstationId).toBe(table.id)
  })
})

describe('by hand', () => {
  test('an order is queued at a workstation, and no rule moves it', async () => {
    const [a, b] = [await station(), await station()]
    await rules({ workstationIds: [a.id] })
    const placed = await order()
    expect((await assign(placed, b.id.toUpperCase())).workstationId).toBe(b.id)
    await rules({ workstationIds: [a.id] })
    expect(await at(placed)).toBe(b.id)
    const early = await order({ paymentMethod: 'manual' })
    await assign(early, b.id)
    made(await shop.patch(`/orders/${early.id}`, { status: 'paid' }))
    expect(await at(early)).toBe(b.id)
    expect([await waitingAt(a), await waitingAt(b)]).toEqual([0, 2])
  })

  test('null unassigns it, and it stays so', async () => {
    const table = await station()
    await rules({ workstationIds: [table.id] })
    const placed = await order()
    expect((await assign(placed, null)).workstationId).toBeNull()
    expect((await rules({ workstationIds: [table.id] })).placedOrderCount).toBe(0)
    expect(await at(placed)).toBeNull()
  })

  test('a workstation that is not in the store is 400, one that takes no orders 409', async () => {
    const placed = await order()
    const other = await newShop(app, { plan: 'growth' })
    const theirs = made(await other.post('/workstations', { name: 'Theirs' }))
    for (const workstationId of [NOBODY, theirs.id])
      expect(paths(await shop.patch(`/orders/${placed.id}`, { workstationId }))).toEqual(['workstationId'])
    for (const closed of [await station({ active: false }), await station({ type: 'picking' })])
      expect((await shop.patch(`/orders/${placed.id}`, { workstationId: closed.id })).status).toBe(409)
    expect(await at(placed)).toBeNull()
  })

  test('orders are listed by workstation', async () => {
    const table = await station()
    const [there, nowhere] = [await order(), await order()]
    await assign(there, table.id)
    const ids = async (workstation: string) =>
      (await shop.get(`/orders?workstation=${workstation}`)).body.data.map(({ id }: { id: string }) => id)
    expect([await ids(table.id), await ids('unassigned'), await ids(NOBODY)]).toEqual([[there.id], [nowhere.id], []])
    expect(paths(await shop.get('/orders?workstation=table'))).toEqual(['workstation'])
  })
})

describe('a workstation that takes orders no longer', () => {
  test.each([{ active: false }, { type: 'picking' }])(
    'gives its waiting orders back when it is %j: the rules place again what they placed',
    async (change) => {
      const [a, b] = [await station(), await station()]
      await rules({ workstationIds: [a.id] }, { workstationIds: [b.id] })
      const [placed, packed, byHand] = [await order(), await order(), await order()]
      made(await shop.patch(`/orders/${packed.id}`, { packed: true }))
      await assign(byHand, a.id)
      const { status, body } = await shop.patch(`/workstations/${a.id}`, change)
      expect([status, body.releasedOrderCount, body.waitingCount]).toEqual([200, 2, 0])
      // What was assigned by hand goes to no other by itself; what is packed stays where that was done.
      expect(await Promise.all([placed, byHand, packed].map(at))).toEqual([b.id, null, a.id])
      expect((await rules({ workstationIds: [a.id] }, { workstationIds: [b.id] })).placedOrderCount).toBe(0)
      expect(await at(byHand)).toBeNull()
      // It takes orders again, and what waits elsewhere stays there.
      expect(made(await shop.patch(`/workstations/${a.id}`, { active: true, type: 'both' })).releasedOrderCount).toBe(0)
      expect(await at(placed)).toBe(b.id)
      expect((await order()).workstationId).toBe(a.id)
    },
  )

  test('is removed with all its orders unassigned, and from every rule', async () => {
    const [a, b] = [await station(), await station()]
    await rules({ sources: ['storefront'], workstationIds: [a.id] }, { workstationIds: [a.id, b.id] })
    const [placed, packed, byHand] = [await order(), await order(), await order()]
    made(await shop.patch(`/orders/${packed.id}`, { packed: true }))
    await assign(byHand, a.id)
    const { status, body } = await shop.remove(`/workstations/${a.id}`)
    expect([status, body]).toEqual([200, { id: a.id, deleted: true, releasedOrderCount: 2 }])
    expect(await Promise.all([placed, packed, byHand].map(at))).toEqual([null, null, null])
    expect((await shop.get('/workstations/rules')).body.data).toEqual([
      { position: 0, sources: [], shippingIds: [], workstationIds: [b.id] },
    ])
    expect((await shop.get(`/workstations/${a.id}`)).status).toBe(404)
    expect((await rules({ workstationIds: [b.id] })).placedOrderCount).toBe(2)
  })
})

describe('at once', () => {
  test('a hundred orders over three workstations are spread evenly, each placed once', async () => {
    const tables = [await station(), await station(), await station()]
    await rules({ workstationIds: tables.map(({ id }) => id) })
    await Promise.all(Array.from({ length: 100 }, () => recorded()))
    expect(await Promise.all(tables.map(waitingAt))).toEqual([34, 33, 33])
    expect((await shop.get('/orders?workstation=unassigned')).body.meta.count).toBe(0)
  })

  test('a workstation that closes while orders come keeps none of them', async () => {
    const [a, b] = [await station(), await station()]
    await rules({ workstationIds: [a.id] }, { workstationIds: [b.id] })
    await Promise.all([
      ...Array.from({ length: 20 }, () => recorded()),
      shop.patch(`/workstations/${a.id}`, { active: false }),
      ...Array.from({ length: 20 }, () => recorded()),
    ])
    expect([await waitingAt(a), await waitingAt(b)]).toEqual([0, 40])
  })

  test('rules that are set while a workstation goes name none that is gone, and none is left without', async () => {
    for (let i = 0; i < 10; i++) {
      const [a, b] = [await station(), await station()]
      await Promise.all([
        shop.call('PUT', '/workstations/rules', { rules: [{ workstationIds: [a.id] }, { workstationIds: [a.id, b.id] }] }),
        shop.remove(`/workstations/${a.id}`),
      ])
      for (const { workstationIds } of (await shop.get('/workstations/rules')).body.data) expect(workstationIds).toEqual([b.id])
      made(await shop.remove(`/workstations/${b.id}`))
      await rules()
    }
  })
})

describe('the pure rule', () => {
  const queue = (id: string, more: Partial<Queue> = {}): Queue => ({ id, waiting: 0, position: 0, createdAt: '2026-01-01', ...more })
  const any: Rule = { sources: [], shippingIds: [], workstationIds: ['a', 'b', 'c'] }
  test.each<[what: string, queues: Queue[], id: string | null]>([
    ['the fewest waiting', [queue('a', { waiting: 2 }), queue('b', { waiting: 1 }), queue('c', { waiting: 2 })], 'b'],
    ['a tie goes to the lower position', [queue('a', { position: 2 }), queue('b', { position: 1 })], 'b'],
    ['then to the older', [queue('a', { createdAt: '2026-02-01' }), queue('b')], 'b'],
    ['nobody takes orders', [], null],
  ])('%s', (_, queues, id) => {
    const found = queueFor({ source: 'storefront', shippingMethodId: null }, [any], new Map(queues.map((entry) => [entry.id, entry])))
    expect(found?.id ?? null).toBe(id)
  })

  test('a rule about shipping methods matches no order without one', () => {
    const queues = new Map([['a', queue('a')]])
    expect(queueFor({ source: 'storefront', shippingMethodId: null }, [{ ...any, shippingIds: ['x'] }], queues)).toBeNull()
    expect(queueFor({ source: 'storefront', shippingMethodId: 'x' }, [{ ...any, shippingIds: ['x'] }], queues)?.id).toBe('a')
  })
})
