/** Tickets (document 2): buyers and guests name who comes, and the door lets each in once. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { animation, blankPng, form, picture, png } from '../content/pictures.ts'
import { createLog } from '../../api/server/log.ts'
import { testApp, type TestApp } from '../harness.ts'
import { ADDRESS, made, newShop, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
let event: { id: string; slug: string }
let order: any
let tokens: string[]
const written: string[] = []
beforeAll(async () => {
  const out = { write: (line: string) => (written.push(line), true) }
  app = await testApp({ log: createLog('info', out as never) })
})
beforeEach(async () => {
  app.clock.real()
  shop = await newShop(app)
  event = made(
    await shop.post('/events', {
      name: 'Workshop',
      price: '25',
      startsAt: '2027-12-05T10:00:00Z',
      location: 'Hall',
      guest: 'Ada',
      guestLabel: 'Host',
    }),
  ).event
  order = await buy(2)
  tokens = (await bundle()).lines[0].seats.map(({ token }: { token: string }) => token)
})
afterAll(() => app.close())

const EMAIL = 'grace@example.com'
const ticket = async () => made(await shop.get(`/products/${event.id}`)).variants[0].id
const buy = async (quantity: number, more: object = {}) =>
  shop.buy({ items: [{ variantId: await ticket(), quantity }], email: EMAIL, name: 'Grace Hopper', ...more })
const lookUp = (code: string, email: string, options = {}) => shop.get(`/tickets/${code}?email=${encodeURIComponent(email)}`, options)
const bundle = async () => made(await lookUp(order.accessCode, EMAIL))
const name = (seats: object[], email = EMAIL, code = order.accessCode) => shop.patch(`/tickets/${code}`, { email, seats })
const seat = (token: string) => shop.get(`/tickets/attendee/${token}`)
const profile = (token: string, body: object) => shop.patch(`/tickets/attendee/${token}`, body)
const upload = (token: string, data: FormData) => shop.call('POST', `/tickets/attendee/${token}/photo`, undefined, { raw: data })
const checkIn = (token: string, body?: object) => shop.post(`/tickets/attendee/${token}/checkin`, body)
const roster = async () => made(await shop.get(`/events/${event.id}/checkins`))

describe('a buyer', () => {
  test('sees the seats of an order by its access code and address', async () => {
    const answer = await lookUp(order.accessCode, ' GRACE@example.com ')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(made(answer)).toEqual({
      code: order.accessCode,
      order: { id: order.id, lookup: order.lookup, createdAt: order.createdAt, status: 'paid', currency: 'usd', totalGross: 5000 },
      buyerEmail: EMAIL,
      lines: [
        {
          lineItemId: order.lines[0].id,
          product: { id: event.id, name: 'Workshop', slug: 'workshop', image: null },
          event: { startsAt: '2027-12-05T10:00:00.000Z', location: 'Hall', guestLabel: 'Host', guest: 'Ada' },
          seats: tokens.map((token) => ({ token, name: null, email: null })),
        },
      ],
    })
    expect((await lookUp(order.accessCode, EMAIL, { key: shop.keys.storefront })).status).toBe(200)
  })

  test('gets the same 404 for all that is wrong, and 400 without an address', async () => {
    const plain = await shop.buy({ items: [{ variantId: await shop.variant() }], email: EMAIL })
    const other = await newShop(app)
    const wrong = [
      await lookUp('unknown-code', EMAIL),
      await lookUp(order.accessCode, 'ada@example.com'),
      await lookUp(plain.accessCode, EMAIL),
      await other.get(`/tickets/${order.accessCode}?email=${EMAIL}`),
    ]
    expect(wrong.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    expect(new Set(wrong.map(({ text }) => text)).size).toBe(1)
    const names = ({ headers }: { headers: Headers }) => [...headers.keys()].filter((header) => header !== 'content-length').join()
    expect(new Set(wrong.map(names)).size).toBe(1)
    expect((await shop.get(`/tickets/${order.accessCode}`)).status).toBe(400)
  })

  test('names guests; empty clears, what is left out stays, and foreign tokens are ignored', async () => {
    const answer = await name([
      { token: tokens[0], name: 'Ada', email: 'ada@example.com' },
      { token: 'x'.repeat(24), name: 'Nobody' },
    ])
    expect(answer.status).toBe(200)
    expect(answer.body.lines[0].seats[0]).toEqual({ token: tokens[0], name: 'Ada', email: 'ada@example.com' })
    await name([{ token: tokens[0], email: null }])
    expect((await bundle()).lines[0].seats[0]).toMatchObject({ name: 'Ada', email: null })
    await name([{ token: tokens[0], name: '' }])
    expect((await bundle()).lines[0].seats[0]).toMatchObject({ name: null })
    const strange = await buy(1, { email: 'other@example.com' })
    await name([{ token: tokens[0], name: 'Stolen' }], 'other@example.com', strange.accessCode)
    expect((await bundle()).lines[0].seats[0]).toMatchObject({ name: null })
  })

  test.each([
    [[], ['seats']],
    [[{ token: 'short' }], ['seats', '0', 'token']],
    [[{ token: 'x'.repeat(24), email: 'nobody' }], ['seats', '0', 'email']],
    [[{ token: 'x'.repeat(24), name: 'x'.repeat(201) }], ['seats', '0', 'name']],
    [Array.from({ length: 201 }, () => ({ token: 'x'.repeat(24) })), ['seats']],
  ])('%# is refused by the name of its field', async (seats, path) => {
    const { status, body } = await name(seats)
    expect([status, body.details[0].path]).toEqual([400, path])
  })
})

describe('a guest', () => {
  test('sees one seat, and nothing of the order but its status', async () => {
    const answer = await seat(tokens[0]!)
    expect(made(answer)).toEqual({
      token: tokens[0],
      attendee: { name: null, email: null, bio: null, socialProfileUrl: null, listed: false, photoUrl: null },
      product: { name: 'Workshop', slug: 'workshop', image: null },
      event: { startsAt: '2027-12-05T10:00:00.000Z', location: 'Hall', guestLabel: 'Host', guest: 'Ada' },
      orderStatus: 'paid',
    })
    expect(answer.text).not.toContain(order.accessCode)
    expect(answer.text).not.toContain(tokens[1])
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('a token with one letter changed, of another store, or of the sandbox opens nothing', async () => {
    const last = tokens[0]!.at(-2)
    const changed = `${tokens[0]!.slice(0, -2)}${last === 'A' ? 'B' : 'A'}${tokens[0]!.at(-1)}`
    expect((await seat(changed)).status).toBe(404)
    const other = await newShop(app)
    for (const options of [{ key: other.keys.admin }, { key: shop.keys.staging }])
      expect((await shop.get(`/tickets/attendee/${tokens[0]}`, options)).status).toBe(404)
  })

  test('replaces the profile; the photo stays when it is left out', async () => {
    const whole = {
      name: 'Grace',
      email: 'g@example.com',
      bio: 'Compilers',
      socialProfileUrl: 'https://www.linkedin.com/in/grace',
      listed: true,
    }
    expect(made(await profile(tokens[0]!, whole)).attendee).toEqual({ ...whole, photoUrl: null })
    const { photoUrl } = made(await upload(tokens[0]!, form(await png())))
    expect(made(await profile(tokens[0]!, { ...whole, photoUrl })).attendee.photoUrl).toBe(photoUrl)
    expect(made(await profile(tokens[0]!, { name: 'Grace' })).attendee).toEqual({
      ...{ name: 'Grace', email: null, bio: null, socialProfileUrl: null, listed: false, photoUrl },
    })
    const back = made(await seat(tokens[0]!))
    expect(made(await profile(tokens[0]!, back)).attendee).toEqual(back.attendee)
    expect(made(await profile(tokens[0]!, { photoUrl: '' })).attendee).toMatchObject({ name: null, photoUrl: null })
  })

  test('is in the directory with a profile URL alone', async () => {
    expect(made(await profile(tokens[0]!, { name: 'Grace', listed: true })).attendee.listed).toBe(false)
    await profile(tokens[0]!, {
      name: 'Grace',
      socialProfileUrl: 'https://linkedin.com/company/navy',
      listed: true,
      email: 'g@example.com',
    })
    const { attendees } = made(await shop.get(`/events/${event.id}/directory`))
    expect(attendees).toEqual([{ name: 'Grace', bio: null, socialProfileUrl: 'https://linkedin.com/company/navy', photoUrl: null }])
    await shop.patch(`/orders/${order.id}`, { status: 'cancelled' })
    expect(made(await shop.get(`/events/${event.id}/directory`)).attendees).toEqual([])
  })

  test.each([
    'http://linkedin.com/in/x',
    'https://linkedin.com.evil.example/in/x',
    'https://evil.example/in/x',
    'https://linkedin.com@evil.example/in/x',
    'https://linkedin.com:444/in/x',
    'https://linkedin.com/feed',
    'https://linkedin.com/in/',
    'javascript:alert(1)',
  ])('%s is no profile', async (socialProfileUrl) => {
    const { status, body } = await profile(tokens[0]!, { socialProfileUrl })
    expect([status, body.details[0].path]).toEqual([400, ['socialProfileUrl']])
  })

  test('shows no photo but one of its own', async () => {
    const mine = made(await upload(tokens[0]!, form(await png()))).photoUrl
    const library = made(await shop.call('POST', '/media', undefined, { raw: form(await png()) }))
    for (const photoUrl of ['https://evil.example/x.png', library.url, `${mine}?x`])
      expect((await profile(tokens[0]!, { photoUrl })).status).toBe(400)
    expect((await profile(tokens[1]!, { photoUrl: mine })).status).toBe(400)
    expect((await profile(tokens[0]!, { photoUrl: mine })).status).toBe(200)
  })

  const found = async (url: string) =>
    (await app.app.fetch(new Request(url.replace('https://api.shop.example', 'http://localhost')))).status
  const uploaded = async () => made(await upload(tokens[0]!, form(await png()))).photoUrl as string

  test('keeps three photos that it does not show, however many are uploaded', async () => {
    const shown = await uploaded()
    await profile(tokens[0]!, { photoUrl: shown })
    const more: string[] = []
    for (let i = 0; i < 5; i++) more.push(await uploaded())
    expect(await shop.rows(sql`select count(*) from media`)).toEqual([[4]])
    await expect.poll(() => Promise.all([shown, ...more].map(found))).toEqual([200, 404, 404, 200, 200, 200])
    expect((await profile(tokens[0]!, { photoUrl: more[0] })).status).toBe(400)
    expect((await profile(tokens[0]!, { photoUrl: more[2] })).status).toBe(200)
  })

  test('a photo that is replaced or removed is gone; one that the catalog shows stays', async () => {
    const [first, second] = [await uploaded(), await uploaded()]
    await profile(tokens[0]!, { photoUrl: first })
    expect(made(await profile(tokens[0]!, { photoUrl: second })).attendee.photoUrl).toBe(second)
    made(await shop.post('/products', { name: 'Poster', images: [second] }))
    expect(made(await profile(tokens[0]!, { photoUrl: null })).attendee.photoUrl).toBeNull()
    await expect.poll(() => Promise.all([first, second].map(found))).toEqual([404, 200])
  })

  test('a photo that the merchant removes from the library is shown no more', async () => {
    const photoUrl = await uploaded()
    await profile(tokens[0]!, { photoUrl })
    const [image] = made(await shop.get('/media')).data
    expect((await shop.remove(`/media/${image.id}`)).status).toBe(200)
    expect(made(await seat(tokens[0]!)).attendee.photoUrl).toBeNull()
  })

  test('a photo is encoded anew, and what is none is refused and kept nowhere', async () => {
    const jpeg = new Uint8Array(
      await picture(80, 60)
        .withExif({ IFD0: { Copyright: 'secret place' } })
        .jpeg()
        .toBuffer(),
    )
    const { photoUrl } = made(await upload(tokens[0]!, form(jpeg)))
    const file = await app.app.fetch(new Request(photoUrl.replace('https://api.shop.example', 'http://localhost')))
    expect(Buffer.from(await file.arrayBuffer()).includes('secret place')).toBe(false)
    const kept = await shop.rows(sql`select count(*) from media`)
    const refused = [
      form('<svg xmlns="http://www.w3.org/2000/svg"/>', {}, { name: 'x.png' }),
      form(await animation(), {}, { name: 'x.gif' }),
      form(await blankPng(20_000)),
      form(new Uint8Array()),
      new FormData(),
    ]
    for (const data of refused) {
      const { status, body } = await upload(tokens[0]!, data)
      expect([status, body.details[0].path]).toEqual([400, ['file']])
    }
    expect((await upload(tokens[0]!, form(new Uint8Array(2 * 1_048_576 + 1)))).status).toBe(400)
    expect((await upload(tokens[0]!, form(new Uint8Array(9 * 1_048_576)))).status).toBe(413)
    expect(await shop.rows(sql`select count(*) from media`)).toEqual(kept)
  })
})

describe('at the door', () => {
  test('a seat is checked in once, and says so for ever', async () => {
    const first = await checkIn(tokens[0]!, { by: 'Door 1' })
    expect([first.status, first.body]).toEqual([200, { checkedInAt: expect.any(String), checkedInBy: 'Door 1', alreadyCheckedIn: false }])
    app.clock.advance(60_000)
    expect((await checkIn(tokens[0]!, { by: 'Door 2' })).body).toEqual({ ...first.body, alreadyCheckedIn: true })
    expect((await checkIn(tokens[0]!)).body).toEqual({ ...first.body, alreadyCheckedIn: true })
    const { checkedIn, attendees } = await roster()
    expect([checkedIn, attendees[0]]).toMatchObject([1, { token: tokens[0], checkedInAt: first.body.checkedInAt, checkedInBy: 'Door 1' }])
    expect(await shop.rows(sql`select count(*) from outbox where event = 'ticket.checked_in'`)).toEqual([[1]])
  })

  test('50 scans at once are one check-in', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => checkIn(tokens[0]!, { by: `Door ${i}` })))
    expect(answers.filter(({ body }) => !body.alreadyCheckedIn)).toHaveLength(1)
    expect(new Set(answers.map(({ body }) => `${body.checkedInAt} ${body.checkedInBy}`)).size).toBe(1)
  })

  test('those who came last are first in the roster', async () => {
    await checkIn(tokens[1]!)
    app.clock.advance(1_000)
    await checkIn(tokens[0]!)
    expect((await roster()).attendees.map(({ token }: { token: string }) => token)).toEqual([tokens[0], tokens[1]])
  })

  test('nobody comes in on an order that is not paid', async () => {
    const unpaid = await buy(1, { paymentMethod: 'manual', email: 'late@example.com' })
    const [{ token }] = made(await lookUp(unpaid.accessCode, 'late@example.com')).lines[0].seats
    expect((await checkIn(token)).status).toBe(409)
    made(await shop.patch(`/orders/${unpaid.id}`, { status: 'paid' }))
    expect((await checkIn(token)).status).toBe(200)
  })
})

describe.each(['cancelled', 'refunded'])('an order that is %s', (status) => {
  test('opens nothing any more, and changes nothing', async () => {
    made(await shop.patch(`/orders/${order.id}`, { status }))
    expect((await bundle()).lines).toEqual([])
    const answers = [
      await seat(tokens[0]!),
      await name([{ token: tokens[0], name: 'Ada' }]),
      await profile(tokens[0]!, { name: 'Ada' }),
      await upload(tokens[0]!, form(await png())),
      await checkIn(tokens[0]!),
    ]
    expect(answers.map((answer) => answer.status)).toEqual([404, 409, 409, 409, 409])
  })
})

test('a seat that was refunded alone opens nothing; the others do', async () => {
  await checkIn(tokens[0]!)
  made(await shop.post(`/orders/${order.id}/refunds`, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] }))
  expect([(await seat(tokens[0]!)).status, (await seat(tokens[1]!)).status, (await checkIn(tokens[1]!)).status]).toEqual([200, 404, 404])
})

test('tokens and codes stand in no log, no audit row and no key of a repetition', async () => {
  written.length = 0
  await shop.call('POST', `/tickets/attendee/${tokens[0]}/checkin`, {}, { headers: { 'idempotency-key': 'k' } })
  await name([{ token: tokens[0], name: 'Ada' }])
  await seat(tokens[0]!)
  await bundle()
  await app.send('GET', `/tickets/attendee/${tokens[0]}/ticket.pdf`, undefined, { key: null })
  await app.send('GET', `/tickets/attendee/${tokens[0]}x/ticket.pdf`, undefined, { key: null })
  await shop.remove(`/tickets/attendee/${tokens[0]}/checkin`)
  const rows = await shop.rows(
    sql`select path from audit_log union all select path from idempotency_keys union all select payload from outbox`,
  )
  const all = JSON.stringify([written, rows])
  for (const secret of [...tokens, order.accessCode]) expect(all).not.toContain(secret)
  expect(all).toContain('/tickets/attendee/{token}')
})

test('404 when the tool is off', async () => {
  await shop.settings({ tools: { events: false } })
  expect([(await lookUp(order.accessCode, EMAIL)).status, (await checkIn(tokens[0]!)).status]).toEqual([404, 404])
})

test('after 20 wrong look-ups by a client, or at a code, right and wrong are 429 alike', async () => {
  const limited = await testApp({ visitorRate: { perSecond: 1, burst: 60 } })
  try {
    const store = await newShop(limited)
    const { event: made1 } = made(await store.post('/events', { name: 'Workshop', price: '25' }))
    const variantId = made(await store.get(`/products/${made1.id}`)).variants[0].id
    const bought = await store.buy({ items: [{ variantId }], email: EMAIL })
    const ask = async (client: string, code: string, email = EMAIL) =>
      (await store.get(`/tickets/${code}?email=${email}`, { headers: { 'x-client': client } })).status
    for (let n = 0; n < 20; n++) expect(await ask('guesser', `unknown-${n}`)).toBe(404)
    expect([await ask('guesser', 'unknown'), await ask('guesser', bought.accessCode)]).toEqual([429, 429])
    expect(await ask('buyer', bought.accessCode)).toBe(200)
    for (let n = 0; n < 20; n++) expect(await ask(`client ${n}`, bought.accessCode, 'wrong@example.com')).toBe(404)
    expect(await ask('buyer', bought.accessCode)).toBe(429)
  } finally {
    await limited.close()
  }
})

test('of 240 wrong look-ups at once 20 are looked at; right ones are not refused, however many there are', async () => {
  const limited = await testApp({ visitorRate: { perSecond: 1, burst: 1_000 } })
  try {
    const store = await newShop(limited)
    const { event: made1 } = made(await store.post('/events', { name: 'Workshop', price: '25' }))
    const variantId = made(await store.get(`/products/${made1.id}`)).variants[0].id
    const bought = await store.buy({ items: [{ variantId }], email: EMAIL })
    const ask = async (client: string, code: string) =>
      (await store.get(`/tickets/${code}?email=${EMAIL}`, { headers: { 'x-client': client } })).status
    const began = performance.now()
    const wrong = await Promise.all(Array.from({ length: 240 }, (_, n) => ask('guesser', `unknown-${n}`)))
    // One more comes back every three seconds.
    const most = 20 + Math.floor((performance.now() - began) / 3_000)
    const looked = wrong.filter((status) => status === 404).length
    expect(looked).toBeGreaterThanOrEqual(20)
    expect(looked).toBeLessThanOrEqual(most)
    expect(wrong.filter((status) => status === 429).length).toBe(240 - looked)
    const right = await Promise.all(Array.from({ length: 60 }, () => ask('buyer', bought.accessCode)))
    expect(right).toEqual(Array(60).fill(200))
  } finally {
    await limited.close()
  }
})

test('a door takes the tickets of its own event alone', async () => {
  const other = made(await shop.post('/events', { name: 'Gala', price: '500' })).event
  expect((await checkIn(tokens[0]!, { event: event.id.toUpperCase() })).status).toBe(200)
  made(await shop.remove(`/tickets/attendee/${tokens[0]}/checkin`))
  for (const door of [other.id, other.slug, 'nothing'])
    expect(await checkIn(tokens[0]!, { event: door })).toMatchObject({ status: 409, body: { event: event.slug } })
  expect((await roster()).checkedIn).toBe(0)
  expect(made(await checkIn(tokens[0]!, { event: event.slug })).alreadyCheckedIn).toBe(false)
  expect(made(await checkIn(tokens[1]!, { event: event.id })).alreadyCheckedIn).toBe(false)
})

test('names are given under the condition that nobody has changed them', async () => {
  const path = `/tickets/${order.accessCode}`
  const etag = (await lookUp(order.accessCode, EMAIL)).headers.get('etag')!
  const give = (given: string, name: string) =>
    shop.patch(path, { email: EMAIL, seats: [{ token: tokens[0], name }] }, { headers: { 'if-match': given } })
  expect((await give(etag, 'Ada')).status).toBe(200)
  expect((await give(etag, 'Zoe')).status).toBe(412)
})

test('a store that closes its events sells no more tickets', async () => {
  const { id } = await shop.cart([{ variantId: await ticket() }])
  await shop.settings({ tools: { events: false } })
  expect((await shop.checkOut(id)).status).toBe(409)
  expect((await shop.post('/carts', { items: [{ variantId: await ticket() }] })).status).toBe(400)
  const elsewhere = { customer: { email: EMAIL }, items: [{ variantId: await ticket(), unitPrice: 5 }] }
  expect((await shop.post('/orders', elsewhere)).status).toBe(409)
  expect((await shop.post(`/orders/${order.id}/tickets/send`)).status).toBe(409)
})

test('an order has at most 1,000 tickets, however they are spread', async () => {
  const [one, two] = [await ticket(), made(await shop.post('/events', { name: 'Gala', price: '5' })).event.id]
  const other = made(await shop.get(`/products/${two}`)).variants[0].id
  const { id } = await shop.cart([{ variantId: one, quantity: 1_000 }])
  expect(await shop.post(`/carts/${id}/items`, { variantId: other })).toMatchObject({ status: 409, body: { maximum: 1_000 } })
  const record = (quantity: number) =>
    shop.post('/orders', { customer: { email: EMAIL }, items: [one, other].map((variantId) => ({ variantId, quantity })) })
  expect((await record(501)).status).toBe(409)
  const large = made(await record(500))
  const { lines } = made(await lookUp(large.accessCode, EMAIL))
  const all = lines.flatMap(({ seats }: any) => seats.map(({ token }: any) => token))
  expect(new Set(all).size).toBe(1_000)
})

test('what guests are still coming to is not deleted, though its order has shipped or is complete', async () => {
  const parcel = await shop.variant({ shippable: true })
  const more = { shippingMethodId: await shop.method(), shippingAddress: ADDRESS }
  const bought = await shop.buy({ items: [{ variantId: parcel }, { variantId: await ticket() }], ...more })
  made(await shop.patch(`/orders/${order.id}`, { status: 'completed' }))
  made(await shop.patch(`/orders/${bought.id}`, { status: 'shipped' }))
  expect((await shop.remove(`/products/${event.id}`)).status).toBe(409)
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  made(await shop.patch(`/events/${event.id}`, { startsAt: minutesAgo(1) }))
  expect((await shop.remove(`/products/${event.id}`)).status).toBe(409)
  made(await shop.patch(`/events/${event.id}`, { startsAt: minutesAgo(1_441) }))
  made(await shop.remove(`/products/${event.id}`))
})
