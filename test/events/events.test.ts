/** Events (document 2): products with a date, a place and a capacity, and the seats that are sold of them. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { ADDRESS, made, newShop, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  app.clock.real()
  shop = await newShop(app)
})
afterAll(() => app.close())

const WORKSHOP = {
  name: 'Mending workshop',
  price: '25.00',
  startsAt: '2027-12-05T10:00:00-08:00',
  location: 'Burnside Hall',
  capacity: 12,
}
const event = async (more: object = {}) => made(await shop.post('/events', { ...WORKSHOP, ...more })).event
const read = async (id: string, key?: string) => shop.get(`/events/${id}`, key ? { key } : {})
const ticketOf = async (id: string): Promise<string> => made(await shop.get(`/products/${id}`)).variants[0].id
const buy = async (id: string, quantity: number, more: object = {}) =>
  shop.buy({ items: [{ variantId: await ticketOf(id), quantity }], ...more })
const roster = async (id: string, query = '') => made(await shop.get(`/events/${id}/checkins${query}`))

describe('POST /events', () => {
  test('makes a product with one ticket that is not shipped', async () => {
    const answer = await shop.post('/events', {
      ...WORKSHOP,
      description: 'Bring a sock.',
      collectionNames: ['Workshops'],
      guest: 'Ada',
      guestLabel: 'Host',
    })
    expect(answer.status).toBe(201)
    const { id, collectionIds } = answer.body.event
    expect(answer.body).toEqual({
      message: 'the event was made',
      event: {
        id: expect.any(String),
        slug: 'mending-workshop',
        name: 'Mending workshop',
        status: 'published',
        startsAt: '2027-12-05T18:00:00.000Z',
        location: 'Burnside Hall',
        capacity: 12,
        images: [],
        collectionIds: [expect.any(String)],
      },
    })
    expect((await read(id)).body.event).toEqual({
      id,
      name: 'Mending workshop',
      slug: 'mending-workshop',
      summary: 'Bring a sock.',
      status: 'published',
      images: [],
      event: {
        enabled: true,
        startsAt: '2027-12-05T18:00:00.000Z',
        location: 'Burnside Hall',
        capacity: 12,
        guestLabel: 'Host',
        guest: 'Ada',
      },
      ticketsSold: 0,
      groups: [{ id: collectionIds[0], name: 'Workshops', slug: 'workshops' }],
    })
    const product = made(await shop.get('/products/mending-workshop'))
    expect(product.event).toEqual((await read(id)).body.event.event)
    expect(product.variants).toHaveLength(1)
    expect(product.variants[0]).toMatchObject({ name: 'Ticket', price: 25, shippable: false, stock: { tracked: true, quantity: 12 } })
    expect(made(await shop.get('/collections/workshops')).kind).toBe('event-group')
  })

  test('is left out of lists of products unless they are asked for', async () => {
    const { id } = await event()
    expect(made(await shop.get('/products')).data).toEqual([])
    const { data } = made(await shop.get('/products?includeEvents=true'))
    expect(data.map((row: { id: string; event: { capacity: number } }) => [row.id, row.event.capacity])).toEqual([[id, 12]])
  })

  test('takes a group by name that is there, and refuses a collection that is none', async () => {
    const first = await event({ collectionNames: ['Workshops', 'Evenings'] })
    const second = await event({ collectionNames: ['Workshops'], collectionIds: [first.collectionIds[0]] })
    expect(second.collectionIds).toEqual([first.collectionIds[0]])
    const plain = made(await shop.post('/collections', { name: 'Summer' }))
    const third = await event({ collectionNames: ['Summer'] })
    const fourth = await event({ collectionNames: ['summer'] })
    expect(fourth.collectionIds).toEqual(third.collectionIds)
    expect(third.collectionIds).not.toContain(plain.id)
    const refused = await shop.post('/events', { ...WORKSHOP, collectionIds: [plain.id] })
    expect([refused.status, refused.body.details[0].path]).toEqual([400, ['collectionIds', '0']])
  })

  test.each([
    [{ price: '25,00' }, 'price'],
    [{ price: '25.123' }, 'price'],
    [{ capacity: 0 }, 'capacity'],
    [{ startsAt: '2027-12-05' }, 'startsAt'],
    [{ slug: 'No Slug' }, 'slug'],
    [{ name: ' ' }, 'name'],
    [{ status: 'hidden' }, 'status'],
  ])('%j is refused, and nothing is made', async (more, field) => {
    const { status, body } = await shop.post('/events', { ...WORKSHOP, ...more })
    expect([status, body.details?.[0].path[0]]).toEqual([400, field])
    expect(await shop.rows(sql`select count(*) from products`)).toEqual([[0]])
  })

  test('a slug that is taken is 409; a name that is gets the next', async () => {
    await event({ slug: 'mending' })
    expect((await shop.post('/events', { ...WORKSHOP, slug: 'mending' })).status).toBe(409)
    expect([(await event()).slug, (await event()).slug]).toEqual(['mending-workshop', 'mending-workshop-2'])
  })
})

describe('GET /events', () => {
  test('by date, those without one last, in pages', async () => {
    const names = ['Late', 'Undated', 'Early']
    const dates = ['2028-01-01T00:00:00Z', null, '2027-01-01T00:00:00Z']
    for (const [i, name] of names.entries()) await event({ name, startsAt: dates[i] })
    const { data, total } = made(await shop.get('/events'))
    expect([data.map(({ name }: { name: string }) => name), total]).toEqual([['Early', 'Late', 'Undated'], 3])
    const second = made(await shop.get('/events?limit=1&offset=1'))
    expect([second.data.map(({ name }: { name: string }) => name), second.total]).toEqual([['Late'], 3])
    expect(data[0]).not.toHaveProperty('summary')
  })

  test('a storefront sees no draft, and nobody sees another store or a plain product', async () => {
    const draft = await event({ status: 'draft' })
    const { storefront } = shop.keys
    expect((await shop.get('/events', { key: storefront })).body).toEqual({ data: [], total: 0 })
    expect((await read(draft.id, storefront)).status).toBe(404)
    expect((await read(draft.id)).status).toBe(200)
    const other = await newShop(app)
    expect((await other.get(`/events/${draft.id}`)).status).toBe(404)
    const product = made(await shop.post('/products', { name: 'Mug', price: 1 }))
    expect((await read(product.id)).status).toBe(404)
  })

  test('404 when the tool is off', async () => {
    const { id } = await event()
    await shop.settings({ tools: { events: false } })
    for (const path of ['/events', `/events/${id}`, `/events/${id}/attendees`, `/events/${id}/checkins`, `/events/${id}/directory`])
      expect((await shop.get(path)).status).toBe(404)
  })

  test('speaks the languages of the store', async () => {
    await shop.settings({ enabledLanguages: { 'en-US': true, 'pl-PL': true } })
    const { id } = await event()
    made(await shop.call('PUT', `/products/${id}/translations/pl-PL`, { name: 'Warsztaty' }))
    expect(made(await shop.get(`/events/${id}?lang=pl-PL`)).event.name).toBe('Warsztaty')
    expect(made(await shop.get('/events?lang=pl-PL')).data[0].name).toBe('Warsztaty')
  })
})

describe('PATCH /events/{idOrSlug}', () => {
  test('changes what is sent; null clears', async () => {
    const { id } = await event({ description: 'Old', collectionNames: ['Workshops'] })
    const answer = await shop.patch(`/events/${id}`, {
      ...{ name: 'Darning', startsAt: null, location: null, description: null, status: 'draft' },
      collectionNames: ['Evenings'],
    })
    expect([answer.status, answer.body]).toEqual([200, { message: 'the event was changed', event: { id } }])
    const { event: now } = (await read(id)).body
    expect(now).toMatchObject({ name: 'Darning', summary: null, status: 'draft', event: { startsAt: null, location: null, capacity: 12 } })
    expect(now.groups.map(({ name }: { name: string }) => name)).toEqual(['Evenings'])
    expect(made(await shop.get('/search?q=darning')).data).toHaveLength(1)
  })

  test('leaves collections that are no groups alone', async () => {
    const { id } = await event()
    const plain = made(await shop.post('/collections', { name: 'Gifts', productIds: [id] }))
    await shop.patch(`/events/${id}`, { collectionNames: ['Workshops'] })
    expect(made(await shop.get(`/products/${id}`)).collectionIds).toContain(plain.id)
  })
})

describe('the capacity', () => {
  test('is the stock of the ticket, in both directions', async () => {
    const { id } = await event()
    const variantId = await ticketOf(id)
    await shop.patch(`/inventory/${variantId}`, { quantity: 20 })
    expect((await read(id)).body.event.event.capacity).toBe(20)
    await shop.patch(`/events/${id}`, { capacity: 15 })
    expect(await shop.stock(variantId)).toMatchObject({ quantity: 15, available: 15 })
  })

  test('can not fall under what is sold; what is sold stays sold when the order is done', async () => {
    const { id } = await event({ capacity: 3 })
    const order = await buy(id, 2)
    made(await shop.patch(`/orders/${order.id}`, { status: 'completed' }))
    expect(await shop.stock(await ticketOf(id))).toMatchObject({ quantity: 3, reserved: 2, available: 1 })
    const refused = await shop.patch(`/events/${id}`, { capacity: 1 })
    expect([refused.status, refused.body.sold]).toEqual([409, 2])
    expect((await shop.patch(`/inventory/${await ticketOf(id)}`, { quantity: 1 })).status).toBe(409)
    expect((await shop.patch(`/events/${id}`, { capacity: 2 })).status).toBe(200)
    const full = await shop.post('/carts', { items: [{ variantId: await ticketOf(id) }] })
    expect([full.status, full.body.available]).toEqual([409, 0])
  })

  test('null is no limit; with a limit again what was sold meanwhile counts', async () => {
    const { id } = await event({ capacity: null })
    expect((await read(id)).body.event.event.capacity).toBe(null)
    const order = await buy(id, 30)
    expect(await shop.patch(`/events/${id}`, { capacity: 29 })).toMatchObject({ status: 409, body: { sold: 30 } })
    expect((await shop.patch(`/events/${id}`, { capacity: 30 })).status).toBe(200)
    expect(await shop.stock(await ticketOf(id))).toMatchObject({ quantity: 30, reserved: 30, available: 0 })
    await shop.post(`/orders/${order.id}/refunds`, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] })
    expect(await shop.stock(await ticketOf(id))).toMatchObject({ quantity: 30, reserved: 29, available: 1 })
  })

  test('is not sold beyond by 30 buyers at once', async () => {
    const { id } = await event({ capacity: 10 })
    const variantId = await ticketOf(id)
    const carts = await Promise.all(Array.from({ length: 30 }, () => shop.cart([{ variantId }])))
    const answers = await Promise.all(carts.map(({ id: cart }) => shop.checkOut(cart, { paymentMethod: 'test', paymentToken: 'ok' })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(20)
    expect(await roster(id)).toMatchObject({ total: 10 })
    expect((await read(id)).body.event.ticketsSold).toBe(10)
  })

  test('a ticket stays a ticket', async () => {
    const { id } = await event()
    const variantId = await ticketOf(id)
    for (const patch of [{ shippable: true }, { bookable: true }, { stock: { backorder: true } }])
      expect((await shop.patch(`/variants/${variantId}`, patch)).status).toBe(400)
    expect((await shop.post(`/products/${id}/variants`, { price: 1 })).status).toBe(409)
    expect((await shop.remove(`/variants/${variantId}`)).status).toBe(409)
  })
})

describe('seats', () => {
  test('one for each unit, each with a token of its own that nothing in the database tells', async () => {
    const { id } = await event()
    await buy(id, 3, { email: 'ada@example.com', name: 'Ada Lovelace' })
    const { attendees, total, checkedIn, event: of } = await roster(id)
    expect([total, checkedIn, of]).toEqual([3, 0, { name: 'Mending workshop', slug: 'mending-workshop' }])
    const tokens = attendees.map(({ token }: { token: string }) => token)
    expect(new Set(tokens).size).toBe(3)
    for (const token of tokens) expect(token).toMatch(/^[\w-]{44}$/)
    expect(attendees[0]).toEqual({
      token: tokens[0],
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      orderStatus: 'paid',
      checkedInAt: null,
      checkedInBy: null,
    })
    const stored = JSON.stringify(await shop.rows(sql`select * from seats`))
    for (const token of tokens) expect(stored).not.toContain(token)
    expect((await shop.get(`/events/${id}/checkins`)).headers.get('cache-control')).toBe('no-store')
  })

  test('an unpaid order has seats, which are no tickets sold yet', async () => {
    const { id } = await event()
    const order = await buy(id, 2, { paymentMethod: 'manual' })
    expect([(await roster(id)).attendees[0].orderStatus, (await read(id)).body.event.ticketsSold]).toEqual(['pending', 0])
    expect(made(await shop.get(`/events/${id}/attendees`))).toEqual({ attendees: [], totalTickets: 0 })
    made(await shop.patch(`/orders/${order.id}`, { status: 'paid' }))
    expect((await read(id)).body.event.ticketsSold).toBe(2)
  })

  test.each(['cancelled', 'refunded'])('of an order that is %s are free again', async (status) => {
    const { id } = await event({ capacity: 2 })
    const order = await buy(id, 2)
    made(await shop.patch(`/orders/${order.id}`, { status }))
    expect(await roster(id)).toMatchObject({ total: 0, attendees: [] })
    expect((await read(id)).body.event.ticketsSold).toBe(0)
    await buy(id, 2)
    expect((await roster(id)).total).toBe(2)
  })

  test('a part that is refunded takes as many of them', async () => {
    const { id } = await event({ capacity: 3 })
    const order = await buy(id, 3)
    made(await shop.post(`/orders/${order.id}/refunds`, { lines: [{ lineId: order.lines[0].id, quantity: 2 }] }))
    expect([(await roster(id)).total, (await read(id)).body.event.ticketsSold]).toEqual([1, 1])
    expect(await shop.stock(await ticketOf(id))).toMatchObject({ available: 2 })
  })

  test('goods in the same order are shipped, the seats stay', async () => {
    const { id } = await event()
    const mug = await shop.variant({ shippable: true })
    const shippingMethodId = await shop.method()
    const order = await shop.buy({
      items: [{ variantId: mug }, { variantId: await ticketOf(id), quantity: 2 }],
      shippingMethodId,
      shippingAddress: ADDRESS,
    })
    made(await shop.post(`/orders/${order.id}/shipments`, {}))
    expect(made(await shop.get(`/orders/${order.id}`)).status).toBe('shipped')
    expect([(await roster(id)).total, await shop.stock(await ticketOf(id))]).toMatchObject([2, { quantity: 12, reserved: 2 }])
  })

  test('buyers are listed once, with how many they bought', async () => {
    const { id } = await event()
    await buy(id, 2, { email: 'bob@example.com', name: 'Bob' })
    await buy(id, 1, { email: 'ada@example.com', name: 'Ada' })
    await buy(id, 3, { email: 'bob@example.com', name: 'Bob' })
    const bob = { name: 'Bob', email: 'bob@example.com', quantity: 5 }
    const ada = { name: 'Ada', email: 'ada@example.com', quantity: 1 }
    expect(made(await shop.get(`/events/${id}/attendees`))).toEqual({ attendees: [ada, bob], totalTickets: 6 })
    expect(made(await shop.get(`/events/${id}/attendees?limit=1&offset=1`))).toEqual({ attendees: [bob], totalTickets: 6 })
  })

  test('a roster has pages, and is searched by name and address', async () => {
    const { id } = await event()
    await buy(id, 2, { email: 'bob@example.com', name: 'Łukasz' })
    await buy(id, 1, { email: 'ada@example.com', name: 'Ada' })
    const names = async (query: string) => (await roster(id, query)).attendees.map(({ name }: { name: string }) => name)
    expect(await names('')).toEqual(['Ada', 'Łukasz', 'Łukasz'])
    expect(await names('?limit=2&offset=1')).toEqual(['Łukasz', 'Łukasz'])
    expect(await names('?query=luk')).toEqual(['Łukasz', 'Łukasz'])
    expect(await names('?query=ADA@')).toEqual(['Ada'])
    expect(await names('?query=%25')).toEqual([])
  })

  test('the directory shows those who opted in with a profile, and no address', async () => {
    const { id } = await event()
    await buy(id, 2)
    expect(made(await shop.get(`/events/${id}/directory`))).toEqual({ attendees: [] })
    await shop.change(
      sql`update seats set listed = 1, name = 'Grace', bio = 'Compilers', social_profile_url = 'https://linkedin.com/in/grace' where position = 0`,
    )
    const { body } = await shop.get(`/events/${id}/directory`, { key: shop.keys.storefront })
    expect(body).toEqual({
      attendees: [{ name: 'Grace', bio: 'Compilers', socialProfileUrl: 'https://linkedin.com/in/grace', photoUrl: null }],
    })
  })

  test('a storefront key may not read who comes', async () => {
    const { id } = await event()
    for (const path of ['attendees', 'checkins'])
      expect((await shop.get(`/events/${id}/${path}`, { key: shop.keys.storefront })).status).toBe(403)
  })
})
