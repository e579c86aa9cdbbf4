/** Booking slots (document 2): the times in which variants can be booked. */
import { FormatRegistry } from '@sinclair/typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
let variantId: string
beforeAll(async () => {
  // As a server has it: Elysia's own check of dates knows February 30.
  FormatRegistry.Set('date', (text) => /^\d{4}-\d\d-\d\d$/.test(text))
  app = await testApp()
})
beforeEach(async () => {
  app.clock.real()
  shop = await newShop(app)
  variantId = await shop.variant({ bookable: true })
})
afterAll(() => app.close())

const at = (hour: number, day = 5) => `2027-12-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00.000Z`
const slot = (more: object = {}) => ({ productVariantId: variantId, startsAt: at(10), endsAt: at(11), maxCapacity: 10, ...more })
const add = (more: object = {}) => shop.post('/booking-slots', slot(more))
const change = (id: string, body: object) => shop.patch(`/booking-slots/${id}`, body)
const list = async (query = '', options = {}) => made(await shop.get(`/booking-slots${query}`, options))
const starts = async (query: string) => (await list(query)).data.map(({ startsAt }: { startsAt: string }) => startsAt)
const EMPTY = {
  location: null,
  onlineUrl: null,
  instructor: null,
  materials: [],
  requirements: null,
  cancellationHours: null,
  bufferMinutes: null,
  autoConfirm: null,
}

describe('a slot', () => {
  test('is made as a draft, with what the document says of it', async () => {
    const answer = await add({ startsAt: '2027-12-05T11:00:00+01:00', endsAt: '2027-12-05T12:30:00+01:00', timezone: 'europe/warsaw' })
    const { productId } = made(await shop.get(`/variants/${variantId}`))
    const { name, slug } = made(await shop.get(`/products/${productId}`))
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      productVariantId: variantId,
      product: { id: productId, name, slug },
      startsAt: at(10),
      endsAt: '2027-12-05T11:30:00.000Z',
      timezone: 'Europe/Warsaw',
      maxCapacity: 10,
      bookedCount: 0,
      spotsRemaining: 10,
      status: 'draft',
      settings: EMPTY,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(made(await shop.get(`/booking-slots/${answer.body.id}`))).toEqual(answer.body)
    expect(made(await add({ startsAt: at(12), endsAt: at(13) })).timezone).toBe('UTC')
  })

  test.each([
    ['productVariantId', { productVariantId: undefined }],
    ['productVariantId', { productVariantId: 'x' }],
    ['startsAt', { startsAt: undefined }],
    ['startsAt', { startsAt: '2027-12-05T10:00:00' }],
    ['startsAt', { startsAt: '2027-02-30T10:00:00Z' }],
    ['endsAt', { endsAt: undefined }],
    ['endsAt', { endsAt: at(10) }],
    ['endsAt', { endsAt: at(9) }],
    ['endsAt', { startsAt: '9999-12-31T22:00:00Z', endsAt: '9999-12-31T23:00:00-05:00' }],
    ['timezone', { timezone: 'Mars/Olympus' }],
    ['timezone', { timezone: '+02:00' }],
    ['maxCapacity', { maxCapacity: undefined }],
    ['maxCapacity', { maxCapacity: 0 }],
    ['maxCapacity', { maxCapacity: 100_001 }],
    ['maxCapacity', { maxCapacity: 1.5 }],
    ['status', { status: 'full' }],
    ['settings.location', { settings: { location: 'x'.repeat(301) } }],
    ['settings.onlineUrl', { settings: { onlineUrl: 'javascript:alert(1)' } }],
    ['settings.instructor', { settings: { instructor: 'x'.repeat(201) } }],
    ['settings.materials', { settings: { materials: Array(51).fill('x') } }],
    ['settings.materials.0', { settings: { materials: ['x'.repeat(201)] } }],
    ['settings.requirements', { settings: { requirements: 'x'.repeat(2001) } }],
    ['settings.cancellationHours', { settings: { cancellationHours: -1 } }],
    ['settings.bufferMinutes', { settings: { bufferMinutes: 10_081 } }],
    ['settings.autoConfirm', { settings: { autoConfirm: 'yes' } }],
  ])('is 400 at %s for %o', async (path, more) => {
    expect(paths(await add(more))).toEqual([path])
    expect((await list()).meta.count).toBe(0)
  })

  test('takes each limit as it is', async () => {
    const settings = {
      location: 'x'.repeat(300),
      onlineUrl: 'https://example.com/room',
      instructor: 'x'.repeat(200),
      materials: Array(50).fill('x'.repeat(200)),
      requirements: 'x'.repeat(2000),
      cancellationHours: 0.5,
      bufferMinutes: 10_080,
      autoConfirm: false,
    }
    expect(made(await add({ maxCapacity: 100_000, settings }))).toMatchObject({ maxCapacity: 100_000, settings })
  })

  test('is 404 for a variant of another store, and 400 for the ticket of an event', async () => {
    const other = await newShop(app)
    for (const productVariantId of [crypto.randomUUID(), await other.variant()])
      expect(await add({ productVariantId })).toMatchObject({ status: 404, body: { error: 'variant not found' } })
    const { event } = made(await shop.post('/events', { name: 'Workshop', price: '1' }))
    const [ticket] = made(await shop.get(`/products/${event.id}`)).variants
    expect(paths(await add({ productVariantId: ticket.id }))).toEqual(['productVariantId'])
  })

  test('is 409 at a time that the variant has a slot already, unless that was cancelled', async () => {
    const first = made(await add())
    expect(await add({ startsAt: '2027-12-05T11:00:00+01:00', endsAt: at(15) })).toMatchObject({
      status: 409,
      body: { startsAt: at(10), conflictsWith: at(10) },
    })
    expect((await add({ productVariantId: await shop.variant() })).status).toBe(201)
    expect((await add({ startsAt: at(10, 6), endsAt: at(11, 6) })).status).toBe(201)
    made(await change(first.id, { status: 'cancelled' }))
    const second = made(await add())
    expect((await change(first.id, { status: 'published' })).status).toBe(409)
    expect((await change(second.id, { startsAt: at(10, 6), endsAt: at(12, 6) })).status).toBe(409)
    expect(made(await change(second.id, { startsAt: at(10), maxCapacity: 3 }))).toMatchObject({ startsAt: at(10), maxCapacity: 3 })
  })

  test('keeps the gap after it free; without a gap slots may overlap', async () => {
    made(await add())
    made(await add({ startsAt: '2027-12-05T10:30:00Z', endsAt: at(12) }))
    made(await add({ startsAt: at(14), endsAt: at(15), settings: { bufferMinutes: 30 } }))
    for (const startsAt of ['2027-12-05T14:30:00Z', '2027-12-05T15:29:59Z'])
      expect(await add({ startsAt, endsAt: at(17) })).toMatchObject({ status: 409, body: { conflictsWith: at(14) } })
    made(await add({ startsAt: '2027-12-05T15:30:00Z', endsAt: at(16) }))
    // One that ends so soon before the next begins.
    expect((await add({ startsAt: at(8), endsAt: at(9), settings: { bufferMinutes: 61 } })).status).toBe(409)
    const early = made(await add({ startsAt: at(8), endsAt: at(9), settings: { bufferMinutes: 60 } }))
    await shop.settings({ booking: { bufferMinutes: 15 } })
    expect((await add({ startsAt: at(16), endsAt: at(17) })).status).toBe(409)
    made(await add({ startsAt: '2027-12-05T16:15:00Z', endsAt: at(17) }))
    // What stands in the way of another one already may still be changed in everything else.
    made(await change(early.id, { settings: { instructor: 'Maria' } }))
    expect((await change(early.id, { settings: { bufferMinutes: 90 } })).status).toBe(409)
  })

  test('is changed field by field: what is left out stays, null clears a setting', async () => {
    const settings = { ...EMPTY, location: 'Hall', materials: ['Pen'], cancellationHours: 2, autoConfirm: false }
    const { id, createdAt } = made(await add({ timezone: 'Asia/Kolkata', status: 'published', settings }))
    expect(made(await change(id, { settings: { location: null, instructor: 'Maria' } }))).toMatchObject({
      ...{ startsAt: at(10), endsAt: at(11), timezone: 'Asia/Kolkata', maxCapacity: 10, status: 'published', createdAt },
      settings: { ...settings, location: null, instructor: 'Maria' },
    })
    expect(made(await change(id, { settings: { materials: null, autoConfirm: null, cancellationHours: null } })).settings).toEqual({
      ...EMPTY,
      instructor: 'Maria',
    })
    expect(paths(await change(id, { endsAt: at(10) }))).toEqual(['endsAt'])
    expect(paths(await change(id, { startsAt: at(12) }))).toEqual(['endsAt'])
    expect(paths(await change(id, { maxCapacity: null }))).toEqual(['maxCapacity'])
    const another = await shop.variant()
    expect(made(await change(id, { productVariantId: another }))).toMatchObject({ productVariantId: another })
    expect((await change(id, { productVariantId: crypto.randomUUID() })).status).toBe(404)
    const other = await newShop(app)
    for (const send of [other.get, other.remove, (path: string) => other.patch(path, {})])
      expect((await send(`/booking-slots/${id}`)).status).toBe(404)
  })

  test('is deleted with 204 and nothing to say', async () => {
    const { id } = made(await add())
    expect(await shop.remove(`/booking-slots/${id}`)).toMatchObject({ status: 204, text: '' })
    expect((await shop.get(`/booking-slots/${id}`)).status).toBe(404)
    expect((await shop.remove(`/booking-slots/${id}`)).status).toBe(404)
  })

  test('goes with its product', async () => {
    const { id, product } = made(await add())
    made(await shop.remove(`/products/${product.id}`))
    expect((await shop.get(`/booking-slots/${id}`)).status).toBe(404)
  })

  test('of a tool that is off is nowhere', async () => {
    const { id } = made(await add())
    await shop.settings({ tools: { bookings: false } })
    expect((await shop.get('/booking-slots')).status).toBe(404)
    expect((await add()).status).toBe(404)
    expect((await shop.post('/booking-slots/repeat', {})).status).toBe(404)
    for (const path of ['', '/bookings']) expect((await shop.get(`/booking-slots/${id}${path}`)).status).toBe(404)
    expect((await shop.post('/bookings/cancel', {})).status).toBe(404)
  })
})

describe('a list', () => {
  test('has those that start first first, in a window of instants, to the millisecond', async () => {
    for (const hour of [12, 10, 14]) made(await add({ startsAt: at(hour), endsAt: at(hour + 1) }))
    expect(await starts('')).toEqual([at(10), at(12), at(14)])
    expect(await starts(`?startDate=${at(12)}`)).toEqual([at(12), at(14)])
    expect(await starts(`?endDate=${at(12)}`)).toEqual([at(10), at(12)])
    expect(await starts('?startDate=2027-12-05T12:00:00.001Z')).toEqual([at(14)])
    expect(await starts(`?startDate=${encodeURIComponent('2027-12-05T13:00:00+01:00')}&endDate=${at(12)}`)).toEqual([at(12)])
    expect(await starts('?limit=1&offset=1')).toEqual([at(12)])
    expect((await list('?limit=1')).meta).toEqual({ count: 3 })
    expect(await starts('?endDate=9999-12-31')).toEqual([at(10), at(12), at(14)])
    for (const query of [
      'startDate=2027-02-30',
      'endDate=0000-01-01',
      'startDate=x',
      'endDate=2027-12-05T10:00:00',
      'limit=0',
      'limit=201',
      'status=gone',
      'productVariantId=x',
    ])
      expect(paths(await shop.get(`/booking-slots?${query}`))).toEqual([query.split('=')[0]])
  })

  test('reads a day as it is where each slot is', async () => {
    const days: [string, string, string][] = [
      // Half an hour into the day, and before its end; the nights in which the clocks change, too.
      ['Europe/Warsaw', '2026-03-28T23:30:00.000Z', '2026-03-29'],
      ['Europe/Warsaw', '2026-03-29T21:30:00.000Z', '2026-03-29'],
      ['Europe/Warsaw', '2026-03-29T22:30:00.000Z', '2026-03-30'],
      ['America/New_York', '2026-03-29T04:30:00.000Z', '2026-03-29'],
      ['America/New_York', '2026-03-30T03:30:00.000Z', '2026-03-29'],
      ['Asia/Kolkata', '2026-03-28T18:30:00.000Z', '2026-03-29'],
      ['Asia/Kolkata', '2026-03-29T18:29:00.000Z', '2026-03-29'],
      ['Australia/Lord_Howe', '2026-03-28T13:00:00.000Z', '2026-03-29'],
      ['Australia/Lord_Howe', '2026-03-29T12:59:00.000Z', '2026-03-29'],
      ['Pacific/Kiritimati', '2026-03-28T10:00:00.000Z', '2026-03-29'],
      ['Pacific/Pago_Pago', '2026-03-30T10:59:00.000Z', '2026-03-29'],
    ]
    for (const [timezone, startsAt] of days)
      made(await add({ timezone, startsAt, endsAt: new Date(Date.parse(startsAt) + 60_000).toISOString() }))
    const within = (day: string) => days.filter(([, , own]) => own === day).map(([, startsAt]) => startsAt)
    expect(await starts('?startDate=2026-03-29&endDate=2026-03-29')).toEqual(within('2026-03-29').sort())
    expect(await starts('?startDate=2026-03-30')).toEqual(within('2026-03-30'))
    expect(await starts('?endDate=2026-03-28')).toEqual([])
    // Another zone is another day.
    const [{ id }] = (await list('?startDate=2026-03-30')).data
    made(await change(id, { timezone: 'UTC' }))
    expect((await list('?startDate=2026-03-29&endDate=2026-03-29')).meta.count).toBe(days.length)
  })

  test('shows visitors what is published of what is for sale, and no link to the room', async () => {
    const settings = { onlineUrl: 'https://example.com/room', location: 'Online' }
    const open = made(await add({ status: 'published', settings }))
    const draft = made(await add({ startsAt: at(12), endsAt: at(13) }))
    const hidden = await shop.variant({ bookable: true }, { status: 'draft' })
    const unseen = made(await add({ productVariantId: hidden, status: 'published' }))
    const visitor = { key: shop.keys.storefront }
    expect(await list('', visitor)).toMatchObject({
      data: [{ id: open.id, settings: { onlineUrl: null, location: 'Online' } }],
      meta: { count: 1 },
    })
    expect((await list()).meta.count).toBe(3)
    expect(made(await shop.get(`/booking-slots/${open.id}`, visitor)).settings.onlineUrl).toBeNull()
    expect(made(await shop.get(`/booking-slots/${open.id}`)).settings).toMatchObject(settings)
    for (const { id } of [draft, unseen]) expect((await shop.get(`/booking-slots/${id}`, visitor)).status).toBe(404)
  })

  test('speaks the language that is asked for', async () => {
    await shop.settings({ enabledLanguages: { 'pl-PL': true } })
    const { product } = made(await add())
    made(await shop.call('PUT', `/products/${product.id}/translations/pl-PL`, { name: 'Strzyżenie' }))
    expect((await list('?lang=pl-PL')).data[0].product.name).toBe('Strzyżenie')
  })

  test('is by status as it reads now: full and completed come by themselves', async () => {
    const one = made(await add({ maxCapacity: 1, status: 'published' }))
    const two = made(await add({ startsAt: at(12), endsAt: at(13), status: 'published' }))
    made(await add({ startsAt: at(14), endsAt: at(15) }))
    made(await add({ startsAt: at(16), endsAt: at(17), status: 'cancelled' }))
    const seen = async () =>
      Object.fromEntries(
        await Promise.all(
          ['draft', 'published', 'full', 'cancelled', 'completed'].map(async (status) => [status, await starts(`?status=${status}`)]),
        ),
      )
    const order = await shop.buy({ items: [{ variantId, bookingSlotId: one.id }] })
    expect(await seen()).toEqual({ draft: [at(14)], published: [at(12)], full: [at(10)], cancelled: [at(16)], completed: [] })
    expect(made(await shop.get(`/booking-slots/${one.id}`))).toMatchObject({ status: 'full', spotsRemaining: 0, bookedCount: 1 })
    made(await shop.post(`/orders/${order.id}/cancel`))
    expect(await seen()).toMatchObject({ published: [at(10), at(12)], full: [] })
    app.clock.now = new Date(at(13))
    expect(await seen()).toEqual({ draft: [at(14)], published: [], full: [], cancelled: [at(16)], completed: [at(10), at(12)] })
    // What is moved to a later time is open again.
    expect(made(await change(two.id, { startsAt: at(18), endsAt: at(19) })).status).toBe('published')
    expect(made(await change(two.id, { status: 'completed' })).status).toBe('completed')
    expect((await seen()).completed).toEqual([at(10), at(18)])
  })
})

describe('a rule', () => {
  const repeat = (rrule: string, more: object = {}) => shop.post('/booking-slots/repeat', { ...slot(more), rrule })
  const times = async (rrule: string, more: object) =>
    made(await repeat(rrule, more)).data.map(({ startsAt }: any) => startsAt.slice(0, 16))

  test('makes slots at the same time of the day, as long as the first one', async () => {
    const { data, meta } = made(
      await repeat('FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20280105', {
        timezone: 'Europe/Warsaw',
        status: 'published',
        settings: { instructor: 'Maria' },
      }),
    )
    // From Sunday, December 5; the last day counts.
    expect(data.map(({ startsAt }: any) => startsAt)).toEqual(
      ['06', '08', '13', '15', '20', '22', '27', '29']
        .map((day) => `2027-12-${day}T10:00:00.000Z`)
        .concat('2028-01-03T10:00:00.000Z', '2028-01-05T10:00:00.000Z'),
    )
    expect(meta).toEqual({ count: 10 })
    for (const each of data) {
      expect(Date.parse(each.endsAt) - Date.parse(each.startsAt)).toBe(3_600_000)
      expect(each).toMatchObject({ status: 'published', timezone: 'Europe/Warsaw', settings: { instructor: 'Maria' }, bookedCount: 0 })
    }
    expect((await list()).meta.count).toBe(10)
  })

  test.each([
    // The hour from two to three is not there on the 29th: neither is that slot (RFC 5545, 3.3.10).
    ['Europe/Warsaw', '2026-03-28T01:30', ['2026-03-28T01:30', '2026-03-30T00:30']],
    ['Europe/Warsaw', '2026-03-28T09:00', ['2026-03-28T09:00', '2026-03-29T08:00', '2026-03-30T08:00']],
    // The hour from two to three is there twice on October 25: the first of them is meant.
    ['Europe/Warsaw', '2026-10-24T00:30', ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30']],
    ['America/New_York', '2026-03-07T07:30', ['2026-03-07T07:30', '2026-03-09T06:30']],
    ['America/New_York', '2026-10-31T05:30', ['2026-10-31T05:30', '2026-11-01T05:30', '2026-11-02T06:30']],
    ['Asia/Kolkata', '2026-03-28T04:30', ['2026-03-28T04:30', '2026-03-29T04:30', '2026-03-30T04:30']],
    // Half an hour forward on October 4, from two; half an hour back on April 5, to half past one.
    ['Australia/Lord_Howe', '2026-10-02T15:45', ['2026-10-02T15:45', '2026-10-04T15:15']],
    ['Australia/Lord_Howe', '2026-10-03T13:00', ['2026-10-03T13:00', '2026-10-04T12:30', '2026-10-05T12:30']],
    ['Australia/Lord_Howe', '2026-04-03T14:45', ['2026-04-03T14:45', '2026-04-04T14:45', '2026-04-05T15:15']],
  ])('in %s from %sZ daily keeps the time of the day where the clocks change', async (timezone, start, expected) => {
    const startsAt = `${start}:00Z`
    const endsAt = new Date(Date.parse(startsAt) + 5_400_000).toISOString()
    const days = Temporal.Instant.from(startsAt).toZonedDateTimeISO(timezone).toPlainDate().add({ days: 2 }).toString().replaceAll('-', '')
    expect(await times(`FREQ=DAILY;UNTIL=${days}`, { timezone, startsAt, endsAt })).toEqual(expected)
    for (const each of (await list()).data) expect(Date.parse(each.endsAt) - Date.parse(each.startsAt)).toBe(5_400_000)
  })

  test('goes as far as 366 slots', async () => {
    expect(made(await repeat('FREQ=DAILY;COUNT=366')).meta.count).toBe(366)
    expect(paths(await repeat('FREQ=DAILY;COUNT=367', { startsAt: at(12), endsAt: at(13) }))).toEqual(['rrule'])
    expect(paths(await repeat('FREQ=DAILY;UNTIL=99991231', { startsAt: at(12), endsAt: at(13) }))).toEqual(['rrule'])
    const late = { startsAt: '9999-12-30T10:00:00Z', endsAt: '9999-12-30T11:00:00Z' }
    expect(paths(await repeat('FREQ=DAILY;COUNT=3', late))).toEqual(['rrule'])
    expect(made(await repeat('FREQ=DAILY;COUNT=2', late)).meta.count).toBe(2)
  })

  test.each([
    'x',
    '',
    'FREQ=DAILY',
    'COUNT=3',
    'FREQ=MONTHLY;COUNT=3',
    'FREQ=SECONDLY;COUNT=3',
    'FREQ=DAILY;COUNT=3;UNTIL=20280101',
    'FREQ=DAILY;COUNT=3;COUNT=4',
    'FREQ=DAILY;COUNT=0',
    'FREQ=DAILY;INTERVAL=0;COUNT=3',
    'FREQ=DAILY;COUNT=3;',
    'FREQ=DAILYCOUNT=3',
    'FREQ=WEEKLY;BYDAY=2MO;COUNT=3',
    'FREQ=DAILY;BYHOUR=9;COUNT=3',
    'FREQ=DAILY;UNTIL=20281399',
    'FREQ=DAILY;UNTIL=20200101',
    'DTSTART:20270101T000000Z\nRRULE:FREQ=DAILY;COUNT=2',
  ])('such as %j is 400, and makes nothing', async (rrule) => {
    expect(paths(await repeat(rrule))).toEqual(['rrule'])
    expect((await list()).meta.count).toBe(0)
  })

  test('makes all or none', async () => {
    made(await add({ startsAt: at(10, 8), endsAt: at(11, 8) }))
    expect(await repeat('FREQ=DAILY;COUNT=10')).toMatchObject({ status: 409, body: { startsAt: at(10, 8) } })
    expect((await list()).meta.count).toBe(1)
    // Nor may they be in each other's way.
    const long = { endsAt: at(11, 6), settings: { bufferMinutes: 1 } }
    expect(await repeat('FREQ=DAILY;COUNT=2', { productVariantId: await shop.variant(), ...long })).toMatchObject({ status: 409 })
    expect((await repeat('FREQ=DAILY;COUNT=2', { productVariantId: crypto.randomUUID() })).status).toBe(404)
    expect(paths(await repeat('FREQ=DAILY;COUNT=2', { endsAt: at(9) }))).toEqual(['endsAt'])
  })
})
