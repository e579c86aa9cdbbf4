import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await newShop(app)
})
afterAll(() => app.close())

const NOBODY = '01985d2c-7c00-7a31-8c4e-0242ac120002'
const DEFAULTS = { pointsPerUnit: 1, redemptionRate: 100, minRedemption: 100, maxRedeemPercent: 50, pointsExpiryMonths: null }
const put = (body: object) => shop.call('PUT', '/loyalty/settings', body)

describe('settings', () => {
  test('are null before they are set, and have defaults then', async () => {
    expect((await shop.get('/loyalty/settings')).body).toEqual({ loyalty: null })
    const { status, body } = await put({})
    expect([status, body]).toEqual([200, { loyalty: DEFAULTS }])
    expect((await shop.get('/loyalty/settings')).body).toEqual({ loyalty: DEFAULTS })
  })

  test('are replaced as a whole: what is left out has its default again', async () => {
    const all = { pointsPerUnit: 2.5, redemptionRate: 50, minRedemption: 10, maxRedeemPercent: 100, pointsExpiryMonths: 12 }
    expect(made(await put(all)).loyalty).toEqual(all)
    expect(made(await put({ pointsPerUnit: 3 })).loyalty).toEqual({ ...DEFAULTS, pointsPerUnit: 3 })
  })

  test.each([
    ['pointsPerUnit', 0],
    ['pointsPerUnit', -1],
    ['pointsPerUnit', '1'],
    ['pointsPerUnit', null],
    ['redemptionRate', 0],
    ['minRedemption', 0],
    ['maxRedeemPercent', 0],
    ['maxRedeemPercent', 0.5],
    ['maxRedeemPercent', 100.1],
    ['pointsPerUnit', 1_000_001],
    ['pointsPerUnit', 1e-7],
    ['redemptionRate', 0.1234567],
    ['minRedemption', 1.0000001],
    ['maxRedeemPercent', 99.99996],
    ['pointsExpiryMonths', 0],
    ['pointsExpiryMonths', 1.5],
  ])('%s is 400 as %j, and nothing changes', async (field, value) => {
    made(await put({ pointsPerUnit: 7 }))
    expect(paths(await put({ [field]: value }))).toEqual([field])
    expect((await shop.get('/loyalty/settings')).body.loyalty.pointsPerUnit).toBe(7)
  })

  test.each([1, 100])('maxRedeemPercent may be %s', async (maxRedeemPercent) => {
    expect(made(await put({ maxRedeemPercent })).loyalty.maxRedeemPercent).toBe(maxRedeemPercent)
  })
})

const silver = { name: 'Silver', threshold: 500, multiplier: 1.5, color: '#C0c0c0' }
const addTier = async (more: object = {}) => made(await shop.post('/loyalty/tiers', { ...silver, ...more }))

describe('tiers', () => {
  test('are added with their fields', async () => {
    const { status, body } = await shop.post('/loyalty/tiers', silver)
    expect(status).toBe(201)
    expect(body).toEqual({ id: expect.any(String), ...silver, sortOrder: 0, createdAt: expect.any(String), updatedAt: body.createdAt })
    expect((await shop.get(`/loyalty/tiers/${body.id}`)).body).toEqual(body)
  })

  test.each(Object.keys(silver))('%s is required', async (field) => {
    expect(paths(await shop.post('/loyalty/tiers', { ...silver, [field]: undefined }))).toEqual([field])
  })

  test.each([
    ['name', ''],
    ['threshold', -1],
    ['threshold', 1.5],
    ['multiplier', 0],
    ['multiplier', '2'],
    ['multiplier', 1.0000001],
    ['color', 'silver'],
    ['color', '#fff'],
    ['color', '#C0C0C0C0'],
    ['sortOrder', -1],
    ['sortOrder', 0.5],
    ['sortOrder', null],
  ])('%s is 400 as %j, in POST and in PATCH', async (field, value) => {
    expect(paths(await shop.post('/loyalty/tiers', { ...silver, [field]: value }))).toEqual([field])
    const { id } = await addTier()
    expect(paths(await shop.patch(`/loyalty/tiers/${id}`, { [field]: value }))).toEqual([field])
  })

  test('PATCH changes what it names', async () => {
    const tier = await addTier({ sortOrder: 3 })
    app.clock.now = new Date(app.clock.now.getTime() + 1_000)
    expect(made(await shop.patch(`/loyalty/tiers/${tier.id}`, { threshold: 0 }))).toEqual({
      ...tier,
      threshold: 0,
      updatedAt: app.clock.now.toISOString(),
    })
    for (const answer of [await shop.get(`/loyalty/tiers/${NOBODY}`), await shop.patch(`/loyalty/tiers/${NOBODY}`, {})])
      expect(answer.status).toBe(404)
  })

  test('are listed by sortOrder, then threshold', async () => {
    const [c, b, a] = [await addTier({ sortOrder: 1 }), await addTier({ threshold: 900 }), await addTier({ threshold: 100 })]
    const { data, meta } = (await shop.get('/loyalty/tiers')).body
    expect([data.map(({ id }: { id: string }) => id), meta]).toEqual([[a.id, b.id, c.id], { count: 3 }])
    const some = (await shop.get('/loyalty/tiers?limit=1&offset=1')).body
    expect([some.data.map(({ id }: { id: string }) => id), some.meta]).toEqual([[b.id], { count: 3 }])
  })

  test('the last one stays, though two are removed at once', async () => {
    const [a, b] = [await addTier(), await addTier()]
    const answers = await Promise.all([a, b].map(({ id }) => shop.remove(`/loyalty/tiers/${id}`)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(answers.find(({ status }) => status === 200)!.body).toEqual({ ok: true, deleted: 1 })
    expect(answers.find(({ status }) => status === 409)!.body).toEqual(
      expect.objectContaining({ error: 'the last loyalty tier can not be deleted' }),
    )
    expect((await shop.get('/loyalty/tiers')).body.meta.count).toBe(1)
  })
})

const double = { name: 'Double points', earnMultiplier: 2, scope: 'ALL_PRODUCTS' }
const addCampaign = async (more: object = {}) => made(await shop.post('/loyalty/campaigns', { ...double, ...more }))
const product = async () => made(await shop.post('/products', { name: 'Thing', price: 1 })).id
const START = '2026-05-01T00:00:00.000Z'
const END = '2026-06-01T00:00:00.000Z'

describe('campaigns', () => {
  test('need a name, a multiplier and a scope', async () => {
    const { status, body } = await shop.post('/loyalty/campaigns', double)
    expect(status).toBe(201)
    const rest = { scopeIds: [], startsAt: null, endsAt: null, active: true }
    expect(body).toEqual({ id: expect.any(String), ...double, ...rest, createdAt: expect.any(String), updatedAt: body.createdAt })
    expect((await shop.get(`/loyalty/campaigns/${body.id}`)).body).toEqual(body)
    for (const field of Object.keys(double))
      expect(paths(await shop.post('/loyalty/campaigns', { ...double, [field]: undefined }))).toEqual([field])
  })

  test('keep every field; instants are UTC', async () => {
    const body = {
      ...double,
      scope: 'PRODUCT_IDS',
      scopeIds: [await product()],
      startsAt: '2026-05-01T02:00:00+02:00',
      endsAt: END,
      active: false,
    }
    expect(await addCampaign(body)).toMatchObject({ ...body, startsAt: START })
  })

  test.each([
    ['name', { name: '' }],
    ['earnMultiplier', { earnMultiplier: 0 }],
    ['earnMultiplier', { earnMultiplier: 1e-7 }],
    ['scope', { scope: 'BRAND_IDS' }],
    ['scopeIds', { scope: 'PRODUCT_IDS' }],
    ['scopeIds', { scope: 'CATEGORY_IDS', scopeIds: [] }],
    ['scopeIds.0', { scope: 'COLLECTION_IDS', scopeIds: ['summer'] }],
    ['scopeIds.0', { scope: 'COLLECTION_IDS', scopeIds: [NOBODY] }],
    ['startsAt', { startsAt: 'tomorrow' }],
    ['endsAt', { startsAt: START, endsAt: START }],
    ['endsAt', { startsAt: END, endsAt: START }],
    ['active', { active: null }],
  ])('%s is 400 in %j', async (path, change) => {
    expect(paths(await shop.post('/loyalty/campaigns', { ...double, ...change }))).toEqual([path])
  })

  test('what belongs to another scope, or to another store, is 400; with ALL_PRODUCTS ids are empty', async () => {
    const other = await newShop(app)
    const theirs = made(await other.post('/products', { name: 'Thing', price: 1 })).id
    for (const change of [
      { scope: 'PRODUCT_IDS', scopeIds: [theirs] },
      { scope: 'CATEGORY_IDS', scopeIds: [await product()] },
    ])
      expect(paths(await shop.post('/loyalty/campaigns', { ...double, ...change }))).toEqual(['scopeIds.0'])
    expect((await addCampaign({ scopeIds: [await product()] })).scopeIds).toEqual([])
  })

  test('PATCH changes what it names', async () => {
    const campaign = await addCampaign({ active: false, startsAt: START })
    app.clock.now = new Date(app.clock.now.getTime() + 1_000)
    const changed = { ...campaign, name: 'Triple', updatedAt: app.clock.now.toISOString() }
    expect(made(await shop.patch(`/loyalty/campaigns/${campaign.id}`, { name: 'Triple' }))).toEqual(changed)
    expect(paths(await shop.patch(`/loyalty/campaigns/${campaign.id}`, { endsAt: START }))).toEqual(['endsAt'])
    expect(made(await shop.patch(`/loyalty/campaigns/${campaign.id}`, { startsAt: null, endsAt: START }))).toMatchObject({
      startsAt: null,
      endsAt: START,
    })
    expect((await shop.patch(`/loyalty/campaigns/${NOBODY}`, {})).status).toBe(404)
  })

  test('a scope that changes needs its ids; ALL_PRODUCTS empties them', async () => {
    const [first, second] = [await product(), await product()]
    const { id } = await addCampaign()
    const change = (body: object) => shop.patch(`/loyalty/campaigns/${id}`, body)
    expect(paths(await change({ scope: 'PRODUCT_IDS' }))).toEqual(['scopeIds'])
    expect(made(await change({ scope: 'PRODUCT_IDS', scopeIds: [first] })).scopeIds).toEqual([first])
    expect(made(await change({ scope: 'PRODUCT_IDS' })).scopeIds).toEqual([first])
    expect(made(await change({ scopeIds: [second] })).scopeIds).toEqual([second])
    expect(paths(await change({ scope: 'CATEGORY_IDS' }))).toEqual(['scopeIds'])
    expect(paths(await change({ scopeIds: [] }))).toEqual(['scopeIds'])
    // What is removed stays in the list, and never widens it.
    made(await shop.remove(`/products/${second}`))
    expect(made(await change({ scopeIds: [second, first] })).scopeIds).toEqual([second, first])
    expect(made(await change({ scope: 'ALL_PRODUCTS' }))).toMatchObject({ scope: 'ALL_PRODUCTS', scopeIds: [] })
  })

  test('are listed newest first; activeOnly leaves out those that are switched off', async () => {
    const [a, b, c] = [await addCampaign(), await addCampaign({ active: false }), await addCampaign()]
    const listed = async (query: string) => {
      const { data, meta } = (await shop.get(`/loyalty/campaigns${query}`)).body
      return [data.map(({ id }: { id: string }) => id), meta]
    }
    expect(await listed('')).toEqual([[c.id, b.id, a.id], { count: 3, offset: 0, limit: 50 }])
    expect(await listed('?activeOnly=true&limit=1')).toEqual([[c.id], { count: 2, offset: 0, limit: 1 }])
    expect(await listed('?activeOnly=false&offset=2')).toEqual([[a.id], { count: 3, offset: 2, limit: 50 }])
    expect((await shop.get('/loyalty/campaigns?activeOnly=maybe')).status).toBe(400)
  })

  test('DELETE removes one', async () => {
    const { id } = await addCampaign()
    expect(made(await shop.remove(`/loyalty/campaigns/${id}`))).toEqual({ ok: true, deleted: 1 })
    expect((await shop.remove(`/loyalty/campaigns/${id}`)).status).toBe(404)
  })
})

test('a store that has turned loyalty off has none of it: 404, before the body is read', async () => {
  const { id } = await addTier()
  await shop.settings({ tools: { loyalty: false } })
  for (const [method, path, body] of [
    ['GET', '/loyalty/settings', undefined],
    ['PUT', '/loyalty/settings', { pointsPerUnit: -1 }],
    ['GET', '/loyalty/tiers', undefined],
    ['POST', '/loyalty/tiers', {}],
    ['DELETE', `/loyalty/tiers/${id}`, undefined],
    ['GET', '/loyalty/campaigns?limit=0', undefined],
    ['POST', '/loyalty/campaigns', {}],
  ] as const) {
    const { status, body: answer } = await shop.call(method, path, body)
    expect([status, answer], `${method} ${path}`).toEqual([404, expect.objectContaining({ error: 'loyalty is turned off in this store' })])
  }
  await shop.settings({ tools: { loyalty: true } })
  expect((await shop.get(`/loyalty/tiers/${id}`)).status).toBe(200)
})

describe('members', () => {
  const customer = async (email = 'ada@example.com') =>
    (await shop.buy({ items: [{ variantId: await shop.variant(), quantity: 1 }], email })).customer.id
  const adjust = (customerId: string, points: unknown, reason: unknown = 'A present') =>
    shop.post(`/loyalty/members/${customerId}/adjustments`, { points, reason })

  test('every customer is one, without points with a balance of 0', async () => {
    const customerId = await customer()
    const { ledger: none, ...nothing } = made(await shop.get(`/loyalty/members/${customerId}`))
    expect([nothing, none]).toEqual([expect.objectContaining({ customerId, balance: 0, lifetimePoints: 0, tier: null }), []])
    expect((await shop.get('/loyalty/members')).body).toMatchObject({ data: [nothing], meta: { count: 1 } })
    expect((await shop.get(`/loyalty/members/${NOBODY}`)).status).toBe(404)
    const { status, body } = await adjust(customerId.toUpperCase(), 50)
    const createdAt = app.clock.now.toISOString()
    const member = { customerId, email: 'ada@example.com', name: null, balance: 50, lifetimePoints: 50, tier: null, createdAt }
    const ledger = [{ points: 50, reason: 'A present', orderId: null, expiresAt: null, createdAt }]
    expect([status, body]).toEqual([201, { ...member, ledger }])
    expect((await shop.get(`/loyalty/members/${customerId}`)).body).toEqual(body)
    expect((await shop.get('/loyalty/members')).body).toEqual({ data: [member], meta: { count: 1, offset: 0, limit: 50 } })
  })

  test('what is taken does not count for the tier, and never goes below zero', async () => {
    const customerId = await customer()
    made(await adjust(customerId, 100))
    expect(made(await adjust(customerId, -30, 'A mistake'))).toMatchObject({ balance: 70, lifetimePoints: 100 })
    const refused = await adjust(customerId, -71)
    expect([refused.status, refused.body]).toEqual([
      409,
      expect.objectContaining({ error: 'the member has fewer points than that', balance: 70 }),
    ])
    const { ledger, balance } = (await shop.get(`/loyalty/members/${customerId}`)).body
    expect(ledger.map(({ points }: { points: number }) => points)).toEqual([-30, 100])
    expect(balance).toBe(70)
    // Somebody who never had points has none to take.
    const other = await customer('bob@example.com')
    expect((await adjust(other, -1)).status).toBe(409)
    expect(made(await shop.get(`/loyalty/members/${other}`))).toMatchObject({ balance: 0, ledger: [] })
  })

  test('are in the highest tier whose threshold is under their lifetime points', async () => {
    const customerId = await customer()
    const [basic, gold] = [await addTier({ threshold: 0 }), await addTier({ threshold: 100, sortOrder: 0 })]
    await addTier({ threshold: 500 })
    const tierAt = async (points: number) => made(await adjust(customerId, points)).tier
    expect(await tierAt(100)).toEqual(basic)
    expect(await tierAt(1)).toEqual(gold)
    expect(await tierAt(-101)).toEqual(gold)
    expect((await shop.get('/loyalty/members')).body.data[0].tier).toEqual(gold)
  })

  test.each([
    ['points', 0, 'x'],
    ['points', 1.5, 'x'],
    ['points', '5', 'x'],
    ['points', undefined, 'x'],
    ['points', 1_000_000_001, 'x'],
    ['reason', 5, 5],
    ['reason', 5, 'x'.repeat(201)],
    ['reason', 5, 'two\nlines'],
  ])('%s is 400 for %j because of %j', async (path, points, reason) => {
    expect(paths(await adjust(await customer(), points, reason))).toEqual([path])
  })

  test.each([undefined, null, '', ' '])('need no reason: %j', async (reason) => {
    const answer = await shop.post(`/loyalty/members/${await customer()}/adjustments`, { points: 5, reason })
    expect(made(answer).ledger[0].reason).toBe('adjustment')
  })

  test('nobody is a member who is no customer of the store', async () => {
    const other = await newShop(app)
    const variantId = await other.variant()
    const theirs = (await other.buy({ items: [{ variantId, quantity: 1 }] })).customer.id
    for (const id of [NOBODY, theirs]) expect((await adjust(id, 5)).status).toBe(404)
  })

  test('are paged; a ledger shows its newest fifty', async () => {
    const ids = []
    for (const name of ['a', 'b', 'c']) ids.push(await customer(`${name}@example.com`))
    for (const id of ids) made(await adjust(id, 1))
    const { data, meta } = (await shop.get('/loyalty/members?limit=2&offset=1')).body
    expect([data.map(({ customerId }: { customerId: string }) => customerId), meta]).toEqual([
      [ids[1], ids[0]],
      { count: 3, offset: 1, limit: 2 },
    ])
    for (let i = 2; i <= 60; i++) made(await adjust(ids[0]!, i))
    const { ledger, balance } = (await shop.get(`/loyalty/members/${ids[0]}`)).body
    expect([ledger.length, ledger[0].points, ledger.at(-1).points, balance]).toEqual([50, 60, 11, 1830])
  })

  test('of ten who take all points at once one does; the ledger adds up to the balance', async () => {
    const customerId = await customer()
    made(await adjust(customerId, 100))
    const answers = await Promise.all(Array.from({ length: 10 }, () => adjust(customerId, -100)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(409)])
    const { balance, ledger } = (await shop.get(`/loyalty/members/${customerId}`)).body
    expect(balance).toBe(0)
    expect(ledger.reduce((sum: number, { points }: { points: number }) => sum + points, 0)).toBe(balance)
  })
})
