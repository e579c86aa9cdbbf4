/** What guests keep of a ticket: a page to print, an entry in their calendar, a mail; and the door's second thoughts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newToken } from '../../api/store/links/link-token.ts'
import { qrMarks } from '../../api/printing/qr.ts'
import { testApp, type TestApp } from '../harness.ts'
import { codesIn, imageOf, readPdf } from '../paper.ts'
import { made, newShop, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
let event: { id: string; slug: string }
beforeAll(async () => {
  app = await testApp({ baseUrl: 'https://shop.example' })
})
beforeEach(async () => {
  app.clock.real()
  shop = await newShop(app, { name: 'Atelier Nord' })
  await shop.settings({ timezone: 'America/Los_Angeles', email: { outboundEnabled: true }, contactEmail: 'hello@shop.example' })
  event = (await newEvent()).event
})
afterAll(() => app.close())

const EMAIL = 'grace@example.com'
const newEvent = async (more: object = {}) =>
  made(
    await shop.post('/events', {
      ...{
        name: 'Żółty workshop',
        price: '25',
        startsAt: '2027-12-05T18:00:00Z',
        location: 'Hall; 2, "left"',
        description: 'Bring a cup.',
      },
      ...{ guest: 'Ada Lovelace', guestLabel: 'Host' },
      ...more,
    }),
  )
const ticket = async (id = event.id) => made(await shop.get(`/products/${id}`)).variants[0].id
const buy = async (quantity = 1, more: object = {}) =>
  shop.buy({ items: [{ variantId: await ticket(), quantity }], email: EMAIL, name: 'Grace Hopper', ...more })
const tokensOf = async ({ accessCode }: any): Promise<string[]> =>
  made(await shop.get(`/tickets/${accessCode}?email=${EMAIL}`)).lines.flatMap(({ seats }: any) => seats.map(({ token }: any) => token))
/** As a browser that has no key. */
const print = (token: string) => app.send('GET', `/tickets/attendee/${token}/ticket.pdf`, undefined, { key: null })
const bytesOf = async (token: string) => {
  const response = await app.app.fetch(new Request(`http://localhost/api/v1/tickets/attendee/${token}/ticket.pdf`))
  expect(response.status).toBe(200)
  return new Uint8Array(await response.arrayBuffer())
}
const read = async (bytes: Uint8Array) => (await readPdf(Buffer.from(bytes)))[0]!.texts.map(({ text }) => text).join('\n')

describe('a printed ticket', () => {
  test('says what, when, where and who, and is opened by its token alone', async () => {
    const [token] = await tokensOf(await buy())
    const answer = await print(token!)
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': 'inline; filename="ticket-1001.pdf"',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    })
    const text = await read(await bytesOf(token!))
    for (const part of [
      'Żółty workshop',
      'Sunday, December 5, 2027 at 10:00 AM PST',
      'Hall; 2, "left"',
      'Host: Ada Lovelace',
      'Grace Hopper',
      'Order 1001',
    ])
      expect(text).toContain(part)
    expect(text).toContain('Atelier Nord, hello@shop.example')
    expect(text.replaceAll('\n', '')).toContain(token)
    made(await shop.patch(`/tickets/attendee/${token}`, { name: 'Jean Bartik' }))
    expect(await read(await bytesOf(token!))).toContain('Jean Bartik')
    expect(await bytesOf(token!)).toEqual(await bytesOf(token!))
  })

  test('is 404 for a token that is none, and once the seat was given back; 409 until it is paid', async () => {
    const order = await buy(1, { paymentMethod: 'manual' })
    const [token] = await tokensOf(order)
    expect(await print(token!)).toMatchObject({ status: 409, body: { status: 'pending' } })
    made(await shop.post(`/orders/${order.id}/payments`, { amountCents: 2500, method: 'cash' }))
    expect((await print(token!)).status).toBe(200)
    const changed = token!.slice(0, -2) + (token!.endsWith('A') ? 'BB' : 'AA')
    const stranger = newToken({ storeId: crypto.randomUUID(), environment: 'live' })
    const wrong = [changed, stranger, newToken({ storeId: shop.store.id, environment: 'sandbox' }), 'x', 'a'.repeat(44)]
    const answers = await Promise.all(wrong.map(print))
    expect(answers.map(({ status, text }) => [status, text])).toEqual(wrong.map(() => [404, answers[0]!.text]))
    made(await shop.post(`/orders/${order.id}/cancel`))
    expect((await print(token!)).status).toBe(404)
    const [again] = await tokensOf(await buy())
    await shop.settings({ tools: { events: false } })
    expect((await print(again!)).status).toBe(404)
  })

  // What else the machine does is in the longest turn, too: once without it is enough.
  test('is one of many that are printed at once: others have their turns in between', { retry: 3 }, async () => {
    const tokens = await tokensOf(await buy(20))
    const printed = Promise.all(tokens.map(print))
    let longest = 0
    let isOver = false
    void printed.then(() => (isOver = true))
    while (!isOver) {
      const started = performance.now()
      await new Promise(setImmediate)
      longest = Math.max(longest, performance.now() - started)
    }
    const started = performance.now()
    await print(tokens[0]!)
    const alone = performance.now() - started
    expect((await printed).map(({ status }) => status)).toEqual(tokens.map(() => 200))
    // Twenty in one go would be twenty times as long.
    expect(longest).toBeLessThan(alone * 6)
  })

  test('with texts of every length and script stays one page', async () => {
    const names = {
      name: `${'Workshop '.repeat(33)}`,
      location: 'Łódź '.repeat(60),
      guest: '学習'.repeat(100),
      guestLabel: 'x'.repeat(100),
    }
    const { event: long } = await newEvent(names)
    const order = await shop.buy({ items: [{ variantId: await ticket(long.id) }], email: EMAIL, name: 'م'.repeat(200) })
    const bytes = await bytesOf((await tokensOf(order))[0]!)
    expect(await readPdf(Buffer.from(bytes))).toHaveLength(1)
  })
})

test('the code on paper reads as the token, at ten dots a mm', async () => {
  const token = newToken({ storeId: shop.store.id, environment: 'live' })
  const dots = Array.from({ length: 620 }, () => Array<boolean>(620).fill(false))
  for (const mark of qrMarks(token, { x: 0, y: 0, size: 62 })) {
    if (mark.kind !== 'box') throw new Error('a code has no text')
    const [left, right] = [Math.round(mark.x * 10), Math.round((mark.x + mark.width) * 10)]
    for (let y = Math.round(mark.y * 10); y < Math.round((mark.y + mark.height) * 10); y++) dots[y]!.fill(true, left, right)
  }
  expect(await codesIn(imageOf(dots), 'QRCode')).toEqual([token])
})

describe('an event in a calendar', () => {
  const calendar = (id = event.slug, options = {}) => shop.get(`/events/${id}/calendar.ics`, options)
  /** Lines of RFC 5545, unfolded. */
  const linesOf = (text: string) => text.replaceAll('\r\n ', '').split('\r\n')

  test('is one of RFC 5545, whose id stays when it is moved', async () => {
    const answer = await calendar(event.slug, { key: shop.keys.storefront })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/calendar; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="zolty-workshop.ics"')
    const lines = linesOf(answer.text)
    expect(lines).toEqual(
      expect.arrayContaining([
        'BEGIN:VCALENDAR',
        'VERSION:2.0',
        'METHOD:PUBLISH',
        'BEGIN:VEVENT',
        `UID:${event.id}@shop.example`,
        'DTSTART:20271205T180000Z',
        'SUMMARY:Żółty workshop',
        'LOCATION:Hall\\; 2\\, "left"',
        'DESCRIPTION:Bring a cup.',
        'END:VCALENDAR',
      ]),
    )
    expect(Math.max(...answer.text.split('\r\n').map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(75)
    made(await shop.patch(`/events/${event.id}`, { startsAt: '2027-12-06T18:00:00Z' }))
    await shop.change(sql`update events set updated_at = '2027-01-01T00:00:00.000Z'`)
    const moved = linesOf((await calendar()).text)
    expect(moved.find((line) => line.startsWith('SEQUENCE:'))).not.toBe('SEQUENCE:0')
    expect(moved).toEqual(expect.arrayContaining([`UID:${event.id}@shop.example`, 'DTSTART:20271206T180000Z']))
  })

  test('is 404 for one without a date, for a draft that a visitor asks for, and for another store', async () => {
    expect(await calendar((await newEvent({ name: 'Some day', startsAt: null })).event.id)).toMatchObject({
      status: 404,
      body: { error: 'the event has no date yet' },
    })
    const { event: draft } = await newEvent({ name: 'Draft', status: 'draft' })
    expect((await calendar(draft.id)).status).toBe(200)
    expect((await calendar(draft.id, { key: shop.keys.storefront })).status).toBe(404)
    expect((await (await newShop(app)).get(`/events/${event.id}/calendar.ics`)).status).toBe(404)
  })

  test('can not be broken out of by its texts', async () => {
    const { event: odd } = await newEvent({ name: 'A\\nEND:VEVENT', description: '\u000bx\r\nATTENDEE:mailto:a@b.c\n\nEND:VCALENDAR' })
    const lines = linesOf((await calendar(odd.id)).text)
    expect(lines.filter((line) => line.startsWith('END:'))).toEqual(['END:VEVENT', 'END:VCALENDAR'])
    expect(lines.some((line) => line.startsWith('ATTENDEE'))).toBe(false)
    expect(lines.join('')).not.toMatch(/[\u0000-\u001f]/)
    expect(lines.at(-1)).toBe('')
  })
})

describe('the mail with tickets', () => {
  const mails = () => (readdirSync(join(app.mailFolder), { withFileTypes: true }) ?? []).map(({ name }) => name)
  async function mailOf(order: any) {
    await app.jobs.settle()
    const name = mails().find((file) => file === `${order.id}-tickets.eml`)
    return name === undefined ? null : PostalMime.parse(readFileSync(join(app.mailFolder, name)))
  }

  test('has a code and a link for each seat, and the event for the calendar', async () => {
    const order = await buy(2)
    const tokens = await tokensOf(order)
    const mail = (await mailOf(order))!
    expect(mail.subject).toBe('Your tickets for Żółty workshop')
    expect([mail.from?.name, mail.to?.[0]]).toMatchObject(['Atelier Nord', { address: EMAIL, name: 'Grace Hopper' }])
    for (const token of tokens) {
      const link = `https://shop.example/api/v1/tickets/attendee/${token}/ticket.pdf`
      expect(mail.text).toContain(link)
      expect(mail.html).toContain(link)
      expect((await print(token)).status).toBe(200)
    }
    for (const part of ['Żółty workshop', 'Sunday, December 5, 2027 at 10:00 AM PST', 'Order 1001']) expect(mail.text).toContain(part)
    const codes = mail.attachments.filter(({ mimeType }) => mimeType === 'image/png')
    expect(codes.map(({ contentId, disposition }) => [mail.html!.includes(`cid:${contentId!.slice(1, -1)}`), disposition])).toEqual([
      [true, 'inline'],
      [true, 'inline'],
    ])
    const read = await Promise.all(codes.map(({ content }) => codesIn(new Uint8Array(content as ArrayBuffer), 'QRCode')))
    expect(read).toEqual(tokens.map((token) => [token]))
    const [invite] = mail.attachments.filter(({ mimeType }) => mimeType === 'text/calendar')
    expect(new TextDecoder().decode(invite!.content as ArrayBuffer)).toContain(`UID:${event.id}@shop.example`)
    const sizes = await Promise.all(
      codes.map(async ({ content }) => (await sharp(new Uint8Array(content as ArrayBuffer)).metadata()).width!),
    )
    expect(Math.min(...sizes)).toBeGreaterThan(200)
  })

  test('goes out once the order is paid, once', async () => {
    const order = await buy(1, { paymentMethod: 'manual' })
    expect(await mailOf(order)).toBeNull()
    made(await shop.patch(`/orders/${order.id}`, { status: 'paid' }))
    expect(await mailOf(order)).not.toBeNull()
    const before = mails().length
    made(await shop.patch(`/orders/${order.id}`, { status: 'completed' }))
    await app.jobs.settle()
    expect(mails()).toHaveLength(before)
  })

  test('does not go out for an order without tickets, from a store that sends no mail, or once the seats are gone', async () => {
    const plain = await shop.buy({ items: [{ variantId: await shop.variant() }] })
    const gone = await buy()
    made(await shop.post(`/orders/${gone.id}/cancel`))
    expect([await mailOf(plain), await mailOf(gone)]).toEqual([null, null])
    await shop.settings({ email: { outboundEnabled: false } })
    expect(await mailOf(await buy())).toBeNull()
  })

  test('of a large order shows ten codes and lists a hundred', async () => {
    const mail = (await mailOf(await buy(150)))!
    expect(mail.attachments.filter(({ mimeType }) => mimeType === 'image/png')).toHaveLength(10)
    expect(mail.text!.match(/ticket\.pdf/g)).toHaveLength(100)
    expect(mail.text).toContain('These are the first of your tickets')
  })

  test('escapes what guests are called', async () => {
    const { event: odd } = await newEvent({ name: '<img src=x onerror=alert(1)> & more' })
    const name = '<b>Grace</b>\r\n\r\nPay here: https://evil.example'
    const order = await shop.buy({ items: [{ variantId: await ticket(odd.id) }], email: EMAIL, name })
    const mail = (await mailOf(order))!
    expect(mail.html).not.toContain('<b>Grace')
    expect(mail.html).not.toContain('<img src=x')
    expect(mail.text).toContain('1. <b>Grace</b> Pay here: https://evil.example: https://shop.example')
    expect(mail.subject).toBe('Your tickets for <img src=x onerror=alert(1)> & more')
  })
})

describe('a check-in that was taken back', () => {
  const undo = (token: string, options = {}) => shop.remove(`/tickets/attendee/${token}/checkin`, options)

  test('can be made again, is written down, and is for those who manage events', async () => {
    const order = await buy()
    const [token] = await tokensOf(order)
    expect((await undo(token!)).status).toBe(404)
    made(await shop.post(`/tickets/attendee/${token}/checkin`, { by: 'Door 1' }))
    expect((await undo(token!, { key: shop.keys.storefront })).status).toBe(403)
    expect(made(await undo(token!))).toEqual({ ok: true, deleted: 1 })
    expect(made(await shop.get(`/events/${event.id}/checkins`))).toMatchObject({
      checkedIn: 0,
      attendees: [{ checkedInAt: null, checkedInBy: null }],
    })
    expect(made(await shop.post(`/tickets/attendee/${token}/checkin`, { by: 'Door 2' }))).toMatchObject({
      alreadyCheckedIn: false,
      checkedInBy: 'Door 2',
    })
    const audited = await shop.rows(sql`select method, path from audit_log where method = 'DELETE'`)
    expect(audited).toEqual([['DELETE', '/tickets/attendee/{token}/checkin']])
    expect((await (await newShop(app)).remove(`/tickets/attendee/${token}/checkin`)).status).toBe(404)
    made(await shop.post(`/orders/${order.id}/cancel`))
    expect((await undo(token!)).status).toBe(409)
  })
})

test('a scanner that was without a line says when it read the code', async () => {
  const [one, two, three] = await tokensOf(await buy(3))
  const checkIn = (token: string, scannedAt: unknown) => shop.post(`/tickets/attendee/${token}/checkin`, { scannedAt })
  app.clock.now = new Date('2027-12-05T18:30:00.000Z')
  expect(made(await checkIn(one!, '2027-12-05T10:05:00-08:00'))).toMatchObject({
    checkedInAt: '2027-12-05T18:05:00.000Z',
    alreadyCheckedIn: false,
  })
  // The first one that arrives stays.
  expect(made(await checkIn(one!, '2027-12-05T18:00:00Z'))).toMatchObject({
    checkedInAt: '2027-12-05T18:05:00.000Z',
    alreadyCheckedIn: true,
  })
  expect(made(await checkIn(two!, '2027-12-05T18:31:00Z')).checkedInAt).toBe('2027-12-05T18:30:00.000Z')
  for (const wrong of ['now', 5])
    expect(await checkIn(three!, wrong)).toMatchObject({ status: 400, body: { details: [{ path: ['scannedAt'] }] } })
  // A phone whose date is wrong lets guests in all the same.
  expect(made(await checkIn(three!, '2027-12-04T18:29:59Z')).checkedInAt).toBe('2027-12-05T18:30:00.000Z')
})
