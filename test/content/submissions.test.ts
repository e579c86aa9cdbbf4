/** What visitors send in, whoever or whatever they are: odd ones are told to moderators, the same text twice is refused, floods end. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RELAYED_RATE, SUBMISSIONS_RATE } from '../../api/server/rate-limit.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
let product: string
let post: string
beforeAll(async () => {
  app = await testApp({ visitorRate: { perSecond: 1_000, burst: 1_000 } })
})
beforeEach(async () => {
  app.clock.now = new Date('2027-03-03T12:00:00Z')
  shop = await newShop(app)
  product = made(await shop.get(`/variants/${await shop.variant()}`)).productId
  post = made(await shop.post('/posts', { title: 'Care', status: 'published' })).id
})
afterAll(() => app.close())

const visitor = (client?: string) => ({ key: shop.keys.storefront, ...(client ? { headers: { 'x-client': client } } : {}) })
const email = 'ada@example.com'
const KINDS = {
  review: (content: string, more: object = {}, options: object = visitor()) =>
    shop.post(`/products/${product}/reviews`, { author: 'Ada', email, rating: 5, content, ...more }, options),
  comment: (content: string, more: object = {}, options: object = visitor()) =>
    shop.post(`/posts/${post}/comments`, { author: 'Ada', email, content, ...more }, options),
  message: (content: string, more: object = {}, options: object = visitor()) =>
    shop.post('/contact-messages', { email, message: content, ...more }, options),
}
const QUEUES = { review: '/reviews', comment: '/post-comments', message: '/contact-messages' }
type Kind = keyof typeof KINDS
const kinds = Object.keys(KINDS) as Kind[]
const signals = async (kind: Kind) => made(await shop.get(QUEUES[kind])).data[0].signals
const token = async (options: object = visitor()) => made(await shop.get('/forms/token', options)).token as string

describe.each(kinds)('a %s', (kind) => {
  const send = KINDS[kind]

  test('tells the moderator of links, and of a field that nobody sees', async () => {
    made(await send('Buy at https://a.example and www.b.example, or c.shop', { _url: 'https://spam.example' }))
    expect(await signals(kind)).toEqual({ links: 3, honeypot: true, repeated: false, form: 'none' })
    made(await send('See https://www.example.com/a?b=c.', { _url: '' }))
    expect((await signals(kind)).links).toBe(1)
    made(await send('Nothing to see.', { _url: '' }))
    expect(await signals(kind)).toMatchObject({ links: 0, honeypot: false })
  })

  test('tells how long its form was open', async () => {
    const states: string[] = []
    for (const [n, seconds] of [2, 3, 86_400, 86_401].entries()) {
      const _form = await token()
      app.clock.advance(seconds * 1_000)
      made(await send(`Text ${n}`, { _form }))
      states.push((await signals(kind)).form)
    }
    expect(states).toEqual(['fast', 'valid', 'valid', 'old'])
    const foreign = await token({ key: (await newShop(app)).keys.storefront })
    const sandbox = await token({ key: shop.keys.staging })
    for (const [n, _form] of ['nonsense', foreign, sandbox, `${(await token()).slice(0, -2)}xx`].entries()) {
      app.clock.advance(5_000)
      made(await send(`Other text ${n}`, { _form }))
      expect((await signals(kind)).form).toBe('wrong')
    }
  })

  test('is taken once within an hour from an address, whatever its spaces and capitals', async () => {
    made(await send('The very same words.'))
    for (const again of ['The very same words.', '  the VERY same\n words. ']) expect((await send(again)).status).toBe(409)
    expect((await send('The very same words.', { email: ' ADA@example.com' })).status).toBe(409)
    made(await send('The very same words.', { email: 'grace@example.com' }))
    expect(await signals(kind)).toMatchObject({ repeated: true })
    app.clock.advance(3_599_000)
    expect((await send('The very same words.')).status).toBe(409)
    app.clock.advance(2_000)
    made(await send('The very same words.'))
    expect(made(await shop.get(QUEUES[kind])).meta.count).toBe(3)
  })

  test('of one visitor behind a proxy is limited, and of nobody else', async () => {
    const send100 = async (client: string) => {
      const answers = []
      for (let n = 0; n < SUBMISSIONS_RATE.burst + 5; n++) answers.push(await send(`${client} ${n}`, {}, visitor(client)))
      return answers
    }
    const answers = await send100(`10.0.0.1 ${kind}`)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(SUBMISSIONS_RATE.burst)
    const refused = answers.at(-1)!
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    made(await send('of another', {}, visitor(`10.0.0.2 ${kind}`)))
    // A key of the team is no visitor.
    made(await send('of the team', {}, { headers: { 'x-client': `10.0.0.1 ${kind}` } }))
  })
})

test('signing up counts, too', async () => {
  const client = visitor('10.0.2.1')
  const answers = []
  for (let n = 0; n < SUBMISSIONS_RATE.burst + 1; n++) answers.push(await shop.post('/subscribers', { email: `n${n}@example.com` }, client))
  expect(answers.map(({ status }) => status)).toEqual([...Array(SUBMISSIONS_RATE.burst).fill(201), 429])
})

test('what comes through the link of a mail counts, too', async () => {
  const about = made(await shop.post('/support-cases', { email, subject: 'x', message: 'x' }))
  const [[token]] = (await shop.rows(sql`select token from support_cases where id = ${about.id}`)) as [[string]]
  const client = { key: null, headers: { 'x-client': '10.0.3.1' } }
  const answers = []
  for (let n = 0; n < SUBMISSIONS_RATE.burst + 1; n++)
    answers.push(await shop.post(`/support-replies/${token}`, { message: `Text ${n}` }, client))
  expect(answers.map(({ status }) => status)).toEqual([...Array(SUBMISSIONS_RATE.burst).fill(200), 429])
})

test('a form of very many parts is refused', async () => {
  const about = made(await shop.post('/support-cases', { email, subject: 'x', message: 'x' }))
  const form = new FormData()
  for (let n = 0; n < 101; n++) form.append(`field${n}`, 'x')
  const answer = await shop.call('POST', `/support-cases/${about.id}/messages`, undefined, { raw: form })
  expect([answer.status, answer.body.error]).toEqual([400, 'the form has too many parts'])
  const parts =
    Array.from({ length: 101 }, (_, n) => `--B\r\ncontent-disposition: form-data; name="f${n}"\r\n\r\nx\r\n`).join('') + '--B--\r\n'
  for (const type of [
    'multipart/form-data; xboundary=zzz; boundary=B',
    'multipart/form-data; a="boundary=zzz"; boundary=B',
    'multipart/form-data; boundary="B"',
  ])
    expect(
      (await shop.call('POST', `/support-cases/${about.id}/messages`, undefined, { raw: parts, headers: { 'content-type': type } })).body
        .error,
      type,
    ).toBe('the form has too many parts')
  // Two readers of such a header find different boundaries: what is counted would not be what is parsed.
  for (const type of [
    'multipart/form-data; a="; boundary=zzz"; boundary=B',
    'multipart/form-data; boundary=""; boundary=B',
    'multipart/form-data; boundary=B; boundary=zzz',
    'multipart/form-data; boundary=\tB',
    'multipart/form-data; boundary="B\\"',
    `multipart/form-data; boundary=${'B'.repeat(71)}`,
    `multipart/form-data; a=${'x'.repeat(300)}; boundary=B`,
    'multipart/form-data; boundary',
  ]) {
    const refused = await shop.call('POST', `/support-cases/${about.id}/messages`, undefined, {
      raw: parts,
      headers: { 'content-type': type },
    })
    expect([refused.status, refused.body.error], type).toEqual([400, 'the form has no usable boundary'])
  }
})

test('what is refused as wrong does not count', async () => {
  const client = visitor('10.0.1.1')
  for (let n = 0; n < SUBMISSIONS_RATE.burst + 5; n++) expect((await KINDS.review('', {}, client)).status).toBe(400)
  made(await KINDS.review('At last.', {}, client))
})

test('a storefront that does not say for whom it asks has a limit for all its visitors', async () => {
  let taken = 0
  // It fills again while they are sent, slower than they are.
  while (taken < 3 * RELAYED_RATE.burst && (await KINDS.message(`Text ${taken}`)).status === 201) taken++
  expect(taken).toBeGreaterThanOrEqual(RELAYED_RATE.burst)
  expect(taken).toBeLessThan(3 * RELAYED_RATE.burst)
}, 60_000)

test('a token is nobody’s to remember', async () => {
  const answer = await shop.get('/forms/token', visitor())
  expect(answer.headers.get('cache-control')).toContain('no-store')
  expect(answer.body).toEqual({ token: expect.any(String), field: '_url', minSeconds: 3, expiresAt: '2027-03-04T12:00:00.000Z' })
  expect((await shop.get('/forms/token', { key: await shop.keyWith('orders:read') })).status).toBe(403)
})
