import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createLog } from '../../api/server/log.ts'
import { MAILS_AT_ONCE, smtpMailer } from '../../api/outside/mail.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'
import { smtpServer, type Smtp, type SmtpOptions } from '../smtp.ts'

let app: TestApp
let shop: Shop
let smtp: Smtp
let mailServer: SmtpOptions
/** The address of the mail server, which a test may take away. */
let url: string
beforeAll(async () => {
  app = await testApp({ mailers: { open: () => smtpMailer(url) }, log: createLog('silent') })
})
beforeEach(async () => {
  mailServer = {}
  await smtp?.close()
  smtp = await smtpServer(mailServer)
  url = smtp.url
  app.clock.real()
  shop = await newShop(app)
})
// Each look for jobs is at all stores: those of the tests before have none that matter.
afterEach(async () => {
  await app.jobs.settle()
  await app.registry.deleteStore(shop.store.id, app.handles)
})
afterAll(async () => {
  await app.close()
  await smtp.close()
})

const HELLO = { subject: 'Hello', content: 'First.\n\nSecond.' }
const draft = async (more: object = {}) => made(await shop.post('/newsletters', { ...HELLO, ...more }))
const read = async (id: string) => made(await shop.get(`/newsletters/${id}`))
const send = (id: string, body?: object) => shop.call('POST', `/newsletters/${id}/send`, body)
const subscribe = async (...names: string[]) => {
  for (const name of names) made(await shop.post('/subscribers', { email: `${name}@example.com` }))
}
const verified = (environment: 'live' | 'sandbox' = 'live') =>
  app.handles.use(shop.store.id, environment, (store) => store.write((tx) => tx.run(sql`update settings set email_domain_verified = 1`)))
/** Makes the store one that may send. */
async function ready(...names: string[]) {
  await shop.settings({
    address: { company: 'Atelier <Nord>', line1: 'Długa 1', city: 'Gdańsk', postalCode: '80-831', country: 'PL' },
    email: { domain: 'shop.example', fromName: 'Atelier Nord', fromAddress: 'hello@shop.example', outboundEnabled: true },
  })
  await verified()
  await subscribe(...names)
}
const people = (count: number) => Array.from({ length: count }, (_, i) => `s${i}`)
const addresses = (names: string[]) => names.map((name) => `${name}@example.com`).toSorted()
const deliveries = async (id: string) => {
  const { data } = made(await shop.get(`/newsletters/${id}/deliveries?limit=100`))
  return Object.fromEntries(data.map(({ email, status }: { email: string; status: string }) => [email.split('@')[0], status]))
}
const quota = async () => (await shop.rows(sql`select coalesce(sum(used), 0) from email_quota`))[0]![0]
const paidOrder = (email: string) => shop.variant().then((variantId) => shop.buy({ items: [{ variantId }], email }))

describe('a draft', () => {
  test('has every field of the document', async () => {
    const variantId = await shop.variant()
    const { productId } = made(await shop.get(`/variants/${variantId}`))
    const answer = await shop.post('/newsletters', { ...HELLO, products: [{ productId, variantId }, { productId }] })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      ...HELLO,
      id: expect.any(String),
      status: 'draft',
      audience: 'all_active',
      products: [
        { productId, variantId },
        { productId, variantId: null },
      ],
      scheduledAt: null,
      recipientCount: 0,
      sentAt: null,
      failedAt: null,
      errorMessage: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(await read(answer.body.id)).toEqual(answer.body)
  })

  test.each([
    [{ content: 'x' }, ['subject']],
    [{ subject: 'x' }, ['content']],
    [{ subject: '  ', content: 'x' }, ['subject']],
    [{ subject: 'x\r\nBcc: y@example.com', content: 'x' }, ['subject']],
    [{ subject: 'x', content: ' \n ' }, ['content']],
    [{ ...HELLO, audience: 'everybody' }, ['audience']],
    [{ ...HELLO, products: [{ productId: 'x' }] }, ['products.0.productId']],
    [{ ...HELLO, products: [{ productId: Bun.randomUUIDv7() }] }, ['products.0.productId']],
    [{ ...HELLO, products: Array(7).fill({ productId: Bun.randomUUIDv7() }) }, ['products']],
  ])('refuses %j, naming the field', async (body, fields) => {
    expect(paths(await shop.post('/newsletters', body))).toEqual(fields)
  })

  test('refuses a variant that is not the product’s, or another store’s', async () => {
    const [one, two] = [await shop.variant(), await shop.variant()]
    const { productId } = made(await shop.get(`/variants/${one}`))
    const other = await (await newShop(app)).variant()
    for (const variantId of [two, other])
      expect(paths(await shop.post('/newsletters', { ...HELLO, products: [{ productId, variantId }] }))).toEqual(['products.0.variantId'])
  })

  test('can be changed and deleted; nothing else can', async () => {
    await ready('ada')
    const { id } = await draft()
    expect(made(await shop.patch(`/newsletters/${id}`, { subject: 'Other' }))).toMatchObject({ subject: 'Other', content: HELLO.content })
    expect((await draft()).status).toBe('draft')
    made(await send(id))
    expect((await shop.patch(`/newsletters/${id}`, { subject: 'Late' })).status).toBe(409)
    expect((await shop.remove(`/newsletters/${id}`)).status).toBe(409)
    await app.jobs.settle()
    expect((await shop.remove(`/newsletters/${id}`)).status).toBe(409)
    const gone = await draft()
    expect(made(await shop.remove(`/newsletters/${gone.id}`))).toEqual({ ok: true, deleted: 1 })
    expect((await shop.get(`/newsletters/${gone.id}`)).status).toBe(404)
  })

  test('can be sent back as it was, though a product of it has been deleted', async () => {
    const variantId = await shop.variant()
    const { productId } = made(await shop.get(`/variants/${variantId}`))
    const { id, products } = await draft({ products: [{ productId }] })
    made(await shop.remove(`/products/${productId}`))
    expect(made(await shop.patch(`/newsletters/${id}`, { products })).products).toEqual(products)
    expect(paths(await shop.post('/newsletters', { ...HELLO, products }))).toEqual(['products.0.productId'])
  })

  test('is listed newest first, filtered by status', async () => {
    await ready('ada')
    const ids = [(await draft()).id, (await draft()).id, (await draft()).id]
    made(await send(ids[1]!))
    const list = async (query: string) => {
      const { data, meta } = made(await shop.get(`/newsletters?${query}`))
      return [data.map(({ id }: { id: string }) => ids.indexOf(id)), meta]
    }
    expect(await list('')).toEqual([[2, 1, 0], { count: 3, offset: 0, limit: 50 }])
    expect(await list('status=sending')).toEqual([[1], { count: 1, offset: 0, limit: 50 }])
    expect(await list('limit=1&offset=2')).toEqual([[0], { count: 3, offset: 2, limit: 1 }])
    expect(paths(await shop.get('/newsletters?status=lost'))).toEqual(['status'])
  })
})

describe('sending needs', () => {
  test('a verified domain, outbound mail, an address, a subscriber and quota, in this order; until then it is a draft and nothing goes out', async () => {
    const { id } = await draft()
    const said = async () => {
      const { status, body } = await send(id)
      expect(await read(id)).toMatchObject({ status: 'draft', recipientCount: 0 })
      return `${status} ${body.error}`
    }
    expect(await said()).toMatch(/^400 the email domain is not verified/)
    await verified()
    expect(await said()).toMatch(/^400 outbound email is turned off/)
    await shop.settings({ email: { outboundEnabled: true } })
    expect(await said()).toMatch(/^400 the store has no address/)
    await shop.settings({ address: { line1: 'Długa 1', city: 'Gdańsk' } })
    expect(await said()).toMatch(/^400 there are no active subscribers$/)
    await subscribe('ada')
    await app.handles.use(shop.store.id, 'live', (store) =>
      store.write((tx) => tx.run(sql`insert into email_quota values (${new Date().toISOString().slice(0, 7)}, 10000)`)),
    )
    expect(await said()).toMatch(/^403 the monthly email quota would be exceeded: 10000 of 10000 are used, this takes 1/)
    await app.jobs.settle()
    expect(smtp.taken).toEqual([])
  })

  test('as many of these as are missing are named at once in details, the first of them in error', async () => {
    const { id } = await draft()
    const refused = async (body?: object) => {
      const answer = await send(id, body)
      const { details, error } = answer.body
      expect(error).toBe(details[0].message)
      return [answer.status, details.map(({ path }: { path: string[] }) => path.join('.'))]
    }
    const all = ['settings.email.domain', 'settings.email.outboundEnabled', 'settings.address', 'audience']
    expect(await refused()).toEqual([400, all])
    expect(await refused({ scheduledAt: new Date(Date.now() + 60_000).toISOString() })).toEqual([400, all])
    await verified()
    await subscribe('ada')
    await app.handles.use(shop.store.id, 'live', (store) =>
      store.write((tx) => tx.run(sql`insert into email_quota values (${new Date().toISOString().slice(0, 7)}, 10000)`)),
    )
    expect(await refused()).toEqual([400, ['settings.email.outboundEnabled', 'settings.address', 'plan']])
    await shop.settings({ email: { outboundEnabled: true }, address: { line1: 'Długa 1', city: 'Gdańsk' } })
    expect(await refused()).toEqual([403, ['plan']])
  })

  test('somebody in the audience', async () => {
    await ready('ada')
    const { id } = await draft({ audience: 'customers' })
    expect((await send(id)).body.error).toMatch(/^there are no active subscribers in the audience/)
  })

  test('a newsletter that is there, and is a draft', async () => {
    await ready('ada')
    expect((await send(Bun.randomUUIDv7())).status).toBe(404)
    const { id } = await draft()
    made(await send(id))
    expect((await send(id)).status).toBe(409)
  })
})

describe('a newsletter', () => {
  test('goes to each active subscriber once, in the background', async () => {
    await ready('ada', 'eve', 'linus')
    await shop.post('/subscribers', { email: 'gone@example.com' })
    const [[token] = []] = await shop.rows(sql`select token from subscribers where email = 'gone@example.com'`)
    await app.app.fetch(new Request(`http://localhost/api/v1/subscribers/unsubscribe/${token}`, { method: 'POST' }))
    const { id } = await draft()
    const answer = await send(id)
    expect([answer.status, answer.body]).toEqual([
      202,
      { success: true, recipientCount: 3, message: 'the newsletter is being sent to 3 subscribers' },
    ])
    expect(await read(id)).toMatchObject({ status: 'sending', recipientCount: 0, sentAt: null })
    await app.jobs.settle()
    expect(smtp.taken.toSorted()).toEqual(addresses(['ada', 'eve', 'linus']))
    expect(await read(id)).toMatchObject({
      status: 'sent',
      recipientCount: 3,
      sentAt: expect.any(String),
      errorMessage: null,
      failedAt: null,
    })
    expect(await shop.events()).toContain('newsletter.sent')
    expect(await quota()).toBe(3)
    expect(await shop.rows(sql`select count(*) from jobs`)).toEqual([[0]])
  })

  test('is asked for ten times at once and sent once', async () => {
    await ready(...people(5))
    const { id } = await draft()
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(id)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, ...Array(9).fill(409)])
    await app.jobs.settle()
    expect(smtp.taken.toSorted()).toEqual(addresses(people(5)))
    expect(await quota()).toBe(5)
  })

  test('has both parts, the way out, and who it is from', async () => {
    await ready()
    made(await shop.post('/subscribers', { email: 'zolw@example.com', name: 'Żółw "Z" <z@evil.example>' }))
    await shop.settings({ contactEmail: 'help@shop.example' })
    const { id } = await draft({
      subject: 'Żółty & <b>',
      content: 'Hi <script>alert(1)</script> & more\nhttps://shop.example/a?b=1&c=2.\n\nBye',
    })
    made(await send(id))
    await app.jobs.settle()
    const [mail] = await smtp.mails()
    expect(mail!.from).toEqual({ name: 'Atelier Nord', address: 'hello@shop.example' })
    expect(mail!.replyTo).toEqual([{ name: '', address: 'help@shop.example' }])
    expect(mail!.to).toEqual([{ name: 'Żółw "Z" <z@evil.example>', address: 'zolw@example.com' }])
    expect(mail!.subject).toBe('Żółty & <b>')
    const header = (name: string) => mail!.headers.find(({ key }) => key === name)?.value
    const link = /^<(https:\/\/api\.shop\.example\/api\/v1\/subscribers\/unsubscribe\/[\w-]{44})>$/.exec(header('list-unsubscribe')!)![1]!
    expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
    expect(mail!.text).toContain('Hi <script>alert(1)</script> & more\nhttps://shop.example/a?b=1&c=2.\n\nBye')
    expect(mail!.text).toContain(`Unsubscribe: ${link}`)
    expect(mail!.text).toContain('Atelier <Nord>, Długa 1, 80-831 Gdańsk, PL')
    expect(mail!.html).toContain('Hi &lt;script&gt;alert(1)&lt;/script&gt; &amp; more<br>')
    expect(mail!.html).toContain(' href="https://shop.example/a?b=1&amp;c=2">')
    expect(mail!.html).toContain(` href="${link}">Unsubscribe</a>`)
    expect(mail!.html).not.toMatch(/<script|<Nord>/)
    // The link is this reader's.
    await app.app.fetch(new Request(`http://localhost${link.slice('https://api.shop.example'.length)}`, { method: 'POST' }))
    expect(made(await shop.get('/subscribers?status=unsubscribed')).data[0].email).toBe('zolw@example.com')
  })

  test.each(['=?utf-8?B?QmNj?= x', `Sale ${'=?'.repeat(60)}`, 'Zażółć =?x?=', 'a=?'])(
    'keeps its subject letter by letter: %s',
    async (subject) => {
      await ready('ada')
      const { id } = await draft({ subject })
      made(await send(id))
      await app.jobs.settle()
      expect((await smtp.mails())[0]!.subject).toBe(subject)
    },
  )

  test('shows products with the prices of the moment it is sent, the cheapest variant unless one is named; what is no longer sold is left out', async () => {
    await ready('ada')
    const product = made(
      await shop.post('/products', {
        name: 'Cup & saucer',
        status: 'published',
        images: ['https://cdn.shop.example/cup.jpg?a=1&b=2'],
        variants: [
          { name: 'Large', price: 30, compareAtPrice: 40 },
          { name: 'Small', price: 20 },
        ],
      }),
    )
    const hidden = made(await shop.post('/products', { name: 'Hidden', status: 'draft', price: 1 }))
    const [large, small] = product.variants
    const { id } = await draft({
      products: [{ productId: product.id, variantId: large.id }, { productId: hidden.id }, { productId: product.id }],
    })
    made(await shop.patch(`/variants/${small.id}`, { price: 19.5 }))
    made(await send(id))
    await app.jobs.settle()
    const [mail] = await smtp.mails()
    expect(mail!.text).toContain('* Cup & saucer – Large: $30.00 (before: $40.00)\n* Cup & saucer: $19.50\n')
    expect(mail!.html).toContain('<strong>Cup &amp; saucer – Large</strong><br><s style="color:#57534E">$40.00</s> $30.00')
    expect(mail!.html).toContain('src="https://cdn.shop.example/cup.jpg?a=1&amp;b=2"')
    expect(mail!.html).not.toContain('Hidden')
  })

  test('skips who unsubscribes or is deleted before their turn', async () => {
    await ready('ada', 'eve', 'linus')
    const { id } = await draft()
    made(await send(id))
    const { data } = made(await shop.get('/subscribers'))
    made(await shop.remove(`/subscribers/${data.find(({ email }: { email: string }) => email.startsWith('eve')).id}`))
    await app.jobs.settle()
    expect(smtp.taken.toSorted()).toEqual(addresses(['ada', 'linus']))
    expect(await read(id)).toMatchObject({ status: 'sent', recipientCount: 2 })
    // What was reserved for them is free again.
    expect(await quota()).toBe(2)
  })

  test('of a sandbox is written into a file, whatever mail server there is', async () => {
    const { mailersFor } = await import('../../api/outside/mail.ts')
    const mailers = mailersFor({ smtpUrl: smtp.url, dataDir: app.mailFolder }, 'https://api.shop.example')
    const mailer = await mailers.open('sandbox')
    await mailer.send({
      id: 'x',
      from: { name: '', address: 'a@b.example' },
      to: { name: '', address: 'c@d.example' },
      subject: 's',
      text: 't',
      html: 'h',
    })
    expect(smtp.taken).toEqual([])
    const real = await mailers.open('live')
    await real.send({
      id: 'y',
      from: { name: '', address: 'a@b.example' },
      to: { name: '', address: 'c@d.example' },
      subject: 's',
      text: 't',
      html: 'h',
    })
    real.close()
    expect(smtp.taken).toEqual(['c@d.example'])
  })
})

describe('an audience', () => {
  test('is found when it is sent, among active subscribers', async () => {
    await ready('never', 'once', 'twice', 'unpaid', 'old')
    await paidOrder('once@example.com')
    await paidOrder('twice@example.com')
    await paidOrder('Twice@Example.com')
    await paidOrder('stranger@example.com')
    const variantId = await shop.variant()
    await shop.buy({ items: [{ variantId }], email: 'unpaid@example.com', paymentMethod: 'manual' })
    await app.handles.use(shop.store.id, 'live', (store) =>
      store.write((tx) =>
        tx.run(
          sql`update subscribers set subscribed_at = ${new Date(Date.now() - 30 * 86_400_000 - 1).toISOString()} where email = 'old@example.com'`,
        ),
      ),
    )
    // What confirms the orders is on its way, too.
    await app.jobs.settle()
    const reached = async (audience: string) => {
      const { id } = await draft({ audience })
      const { recipientCount } = made(await send(id))
      smtp.taken.length = 0
      await app.jobs.settle()
      expect(smtp.taken).toHaveLength(recipientCount)
      return smtp.taken.map((address) => address.split('@')[0]).toSorted()
    }
    expect(await reached('all_active')).toEqual(['never', 'old', 'once', 'twice', 'unpaid'])
    expect(await reached('customers')).toEqual(['once', 'twice'])
    expect(await reached('repeat_customers')).toEqual(['twice'])
    expect(await reached('never_purchased')).toEqual(['never', 'old', 'unpaid'])
    expect(await reached('recent_signups')).toEqual(['never', 'once', 'twice', 'unpaid'])
  })
})

describe('a schedule', () => {
  const at = (ms: number) => new Date(app.clock.now.getTime() + ms).toISOString()
  beforeEach(() => {
    app.clock.now = new Date()
  })

  test('sends at its time, and not before', async () => {
    await ready('ada', 'eve')
    const { id } = await draft()
    const scheduledAt = at(3_600_000)
    const answer = await send(id, { scheduledAt })
    expect([answer.status, answer.body]).toEqual([
      202,
      { success: true, recipientCount: 2, message: `the newsletter will be sent to 2 subscribers at ${scheduledAt}` },
    ])
    expect(await read(id)).toMatchObject({ status: 'scheduled', scheduledAt })
    expect(await quota()).toBe(0)
    app.clock.advance(3_599_999)
    await app.jobs.settle()
    expect(smtp.taken).toEqual([])
    await subscribe('late')
    app.clock.advance(1)
    await app.jobs.settle()
    expect(smtp.taken.toSorted()).toEqual(addresses(['ada', 'eve', 'late']))
    expect(await read(id)).toMatchObject({ status: 'sent', scheduledAt, recipientCount: 3 })
  })

  test.each([[0], [-1]])('that is not in the future is 400: %d ms from now', async (ms) => {
    await ready('ada')
    const { id } = await draft()
    expect(paths(await send(id, { scheduledAt: at(ms) }))).toEqual(['scheduledAt'])
    expect(paths(await send(id, { scheduledAt: '2027-02-30T00:00:00Z' }))).toEqual(['scheduledAt'])
    const misspelt = await send(id, { sendAt: at(3_600_000) })
    expect([misspelt.status, misspelt.body.details[0].keys, (await read(id)).status]).toEqual([400, ['sendAt'], 'draft'])
    expect((await read(id)).status).toBe('draft')
  })

  test('is checked when it is made, and again at its time: then it fails with the reason', async () => {
    const { id } = await draft()
    expect((await send(id, { scheduledAt: at(1_000) })).body.error).toMatch(/^the email domain is not verified/)
    await ready('ada')
    made(await send(id, { scheduledAt: at(1_000) }))
    await shop.settings({ email: { outboundEnabled: false } })
    app.clock.advance(1_000)
    await app.jobs.settle()
    expect(await read(id)).toMatchObject({
      status: 'failed',
      failedAt: at(0),
      errorMessage: expect.stringMatching(/^outbound email is turned off/),
    })
    expect(smtp.taken).toEqual([])
    expect(await shop.events()).toContain('newsletter.failed')
  })

  test('can be taken back, and nothing else can', async () => {
    await ready('ada')
    const { id } = await draft()
    expect((await shop.post(`/newsletters/${id}/cancel`)).status).toBe(409)
    made(await send(id, { scheduledAt: at(1_000) }))
    expect((await send(id)).status).toBe(409)
    expect((await shop.patch(`/newsletters/${id}`, { subject: 'x' })).status).toBe(409)
    expect(made(await shop.post(`/newsletters/${id}/cancel`))).toMatchObject({ status: 'draft', scheduledAt: null })
    app.clock.advance(2_000)
    await app.jobs.settle()
    expect(smtp.taken).toEqual([])
    made(await send(id))
    expect((await shop.post(`/newsletters/${id}/cancel`)).status).toBe(409)
  })

  test('is checked against the quota of its own month', async () => {
    await ready('ada')
    app.clock.now = new Date('2027-01-31T12:00:00.000Z')
    await app.handles.use(shop.store.id, 'live', (store) =>
      store.write((tx) => tx.run(sql`insert into email_quota values ('2027-01', 10000)`)),
    )
    const { id } = await draft()
    expect((await send(id, { scheduledAt: '2027-01-31T23:59:59.999Z' })).status).toBe(403)
    expect((await send(id, { scheduledAt: '2027-02-01T00:00:00Z' })).status).toBe(202)
    made(await shop.post(`/newsletters/${id}/cancel`))
  })

  test('of a month counts in the month in which it is sent', async () => {
    await ready('ada')
    app.clock.now = new Date('2027-01-31T23:59:59.999Z')
    const { id } = await draft()
    made(await send(id))
    app.clock.advance(1)
    const next = await draft()
    made(await send(next.id))
    expect(await shop.rows(sql`select month, used from email_quota order by month`)).toEqual([
      ['2027-01', 1],
      ['2027-02', 1],
    ])
    await app.jobs.settle()
  })
})

describe('the quota', () => {
  test('is by plan; of two newsletters of 60 % at once one goes out', async () => {
    shop = await newShop(app, { plan: 'starter' })
    await ready()
    const rows = people(300).map(
      (name) => sql`(${Bun.randomUUIDv7()}, ${`${name}@example.com`}, 'active', ${name}, '2026-01-01', '2026-01-01')`,
    )
    await app.handles.use(shop.store.id, 'live', (store) =>
      store.write((tx) =>
        tx.run(sql`insert into subscribers (id, email, status, token, created_at, updated_at) values ${sql.join(rows, sql`, `)}`),
      ),
    )
    const [one, two] = [await draft(), await draft()]
    const answers = await Promise.all([send(one.id), send(two.id)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 403])
    expect(answers.find(({ status }) => status === 403)!.body).toMatchObject({ limit: 500, used: 300, recipients: 300 })
    expect(await quota()).toBe(300)
    await app.jobs.settle()
    expect(smtp.taken).toHaveLength(300)
  })
})

describe('a mail server', () => {
  test('that is down is tried for a while, then the newsletter has failed; a retry sends to those who have not got it', async () => {
    await ready(...people(20))
    const { id } = await draft()
    const up = smtp
    let taken = 0
    mailServer.refuse = () => (++taken > 7 ? 421 : undefined)
    made(await send(id))
    app.clock.now = new Date()
    for (let i = 0; i < 8 && (await read(id)).status === 'sending'; i++) {
      await app.jobs.settle()
      app.clock.advance(15_000)
    }
    const failed = await read(id)
    expect(failed).toMatchObject({ status: 'failed', recipientCount: up.taken.length, failedAt: expect.any(String) })
    expect(failed.errorMessage).toMatch(/421|closed/i)
    expect(up.taken.length).toBeGreaterThan(0)
    expect(await quota()).toBe(up.taken.length)
    expect((await send(id)).status).toBe(409)
    expect(made(await shop.post(`/newsletters/${id}/retry`))).toMatchObject({
      status: 'draft',
      failedAt: null,
      errorMessage: null,
      recipientCount: 0,
    })
    mailServer.refuse = undefined
    made(await shop.patch(`/newsletters/${id}`, { subject: 'Again' }))
    expect(made(await send(id)).recipientCount).toBe(20 - up.taken.length)
    await app.jobs.settle()
    expect(up.taken.toSorted()).toEqual(addresses(people(20)))
    expect(await read(id)).toMatchObject({ status: 'sent', recipientCount: 20 })
    expect(await quota()).toBe(20)
  })

  test('that comes back in time is not noticed', async () => {
    await ready(...people(5))
    const { id } = await draft()
    const { port } = smtp
    await smtp.close()
    app.clock.now = new Date()
    made(await send(id))
    await app.jobs.settle()
    expect((await read(id)).status).toBe('sending')
    smtp = await smtpServer({ port })
    app.clock.advance(1_000)
    await app.jobs.settle()
    expect(smtp.taken.toSorted()).toEqual(addresses(people(5)))
    expect(await read(id)).toMatchObject({ status: 'sent', recipientCount: 5, errorMessage: null })
  })

  test('that refuses a recipient for good keeps it from nobody else', async () => {
    await ready('ada', 'eve', 'linus')
    mailServer.refuse = (address) => (address.startsWith('eve') ? 550 : undefined)
    const { id } = await draft()
    made(await send(id))
    await app.jobs.settle()
    expect(await read(id)).toMatchObject({ status: 'sent', recipientCount: 2, errorMessage: 'the mail server refused 1 mail' })
    expect(await deliveries(id)).toEqual({ ada: 'sent', eve: 'refused', linus: 'sent' })
  })

  test('that refuses everybody has sent nothing: the newsletter has failed, and a retry asks it again', async () => {
    await ready('ada', 'eve')
    mailServer.refuse = () => 550
    const { id } = await draft()
    made(await send(id))
    await app.jobs.settle()
    expect(await read(id)).toMatchObject({ status: 'failed', recipientCount: 0, errorMessage: expect.stringContaining('550') })
    expect(await quota()).toBe(0)
    mailServer.refuse = undefined
    made(await shop.post(`/newsletters/${id}/retry`))
    expect(made(await send(id)).recipientCount).toBe(2)
    await app.jobs.settle()
    expect(smtp.taken.toSorted()).toEqual(addresses(['ada', 'eve']))
    expect(await read(id)).toMatchObject({ status: 'sent', recipientCount: 2 })
  })

  test('that asks to come back later is asked again, three times at most', async () => {
    await ready('ada', 'grey', 'never')
    let tries = 0
    mailServer.refuse = (address) => ((address.startsWith('grey') && ++tries < 3) || address.startsWith('never') ? 451 : undefined)
    const { id } = await draft()
    app.clock.now = new Date()
    made(await send(id))
    await app.jobs.settle()
    expect(await deliveries(id)).toEqual({ ada: 'sent', grey: 'pending', never: 'pending' })
    expect((await read(id)).status).toBe('sending')
    for (const minutes of [1, 5, 30]) {
      app.clock.advance(minutes * 60_000)
      await app.jobs.settle()
    }
    expect(await deliveries(id)).toEqual({ ada: 'sent', grey: 'sent', never: 'refused' })
    expect(await read(id)).toMatchObject({ status: 'sent', recipientCount: 2 })
  })

  test('that hangs up when it may have taken a mail leaves it unknown: it is not sent again', async () => {
    await ready('ada', 'doubt', 'linus')
    mailServer.hangUpOn = (address) => address.startsWith('doubt')
    const { id } = await draft()
    app.clock.now = new Date()
    made(await send(id))
    for (let i = 0; i < 6; i++) {
      await app.jobs.settle()
      app.clock.advance(15_000)
    }
    expect(await deliveries(id)).toEqual({ ada: 'sent', doubt: 'unknown', linus: 'sent' })
    expect(smtp.taken.toSorted()).toEqual(addresses(['ada', 'linus']))
    const { status, recipientCount, errorMessage } = await read(id)
    expect([status, recipientCount]).toEqual(['sent', 2])
    expect(errorMessage).toMatch(/^1 mail may or may not have arrived/)
  })
})

describe('a process that loses its lease in the middle', () => {
  test('stops, and whoever goes on sends nobody a second mail', async () => {
    await ready(...people(80))
    mailServer.delayMs = 20
    const { id } = await draft()
    made(await send(id))
    const first = app.jobs.settle()
    while (smtp.taken.length < 24) await Bun.sleep(2)
    await app.handles.use(shop.store.id, 'live', (store) =>
      store.write((tx) => tx.run(sql`update jobs set lease_token = null, lease_until = null`)),
    )
    await first
    await app.jobs.settle()
    expect(smtp.taken.length).toBe(new Set(smtp.taken).size)
    const { data: unknown } = made(await shop.get(`/newsletters/${id}/deliveries?status=unknown&limit=100`))
    expect(unknown.length).toBeLessThanOrEqual(MAILS_AT_ONCE)
    const reached = new Set([...smtp.taken, ...unknown.map(({ email }: { email: string }) => email)])
    expect([...reached].toSorted()).toEqual(addresses(people(80)))
    expect((await read(id)).status).toBe('sent')
  })
})

describe('retry', () => {
  test('is for failed newsletters alone', async () => {
    await ready('ada')
    const { id } = await draft()
    expect((await shop.post(`/newsletters/${id}/retry`)).status).toBe(409)
    made(await send(id))
    expect((await shop.post(`/newsletters/${id}/retry`)).status).toBe(409)
    await app.jobs.settle()
    expect((await shop.post(`/newsletters/${id}/retry`)).status).toBe(409)
    expect((await shop.post(`/newsletters/${Bun.randomUUIDv7()}/retry`)).status).toBe(404)
  })
})
