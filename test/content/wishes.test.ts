/** Wishlists, and mails about what is back in stock (document 3): one for each address and variant, when there is something to tell. */
import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, test } from 'vitest'
import { mailing } from '../mailing.ts'
import { made, newShop, paths } from '../shop.ts'

const mailed = mailing()
const smtpOptions = mailed.options
let { app, shop, smtp } = mailed
beforeEach(() => {
  ;({ app, shop, smtp } = mailed)
})
const visitor = () => ({ key: shop.keys.storefront })

describe('a wishlist', () => {
  let customerId: string
  beforeEach(async () => {
    customerId = (await shop.buy({ items: [{ variantId: await shop.variant() }] })).customer.id
  })
  const put = (variantId: string, customer = customerId) =>
    shop.call('PUT', `/wishlists/${customer}/items/${variantId}`, undefined, visitor())
  const read = async (query = '') => made(await shop.get(`/wishlists/${customerId}${query}`, visitor()))
  const ids = async () => (await read()).data.map(({ variantId }: any) => variantId)

  test('has what was put on it, newest first, each once', async () => {
    const [a, b] = [await shop.variant({ name: 'M' }), await shop.variant()]
    expect(await read()).toEqual({ customerId, data: [], meta: { count: 0, offset: 0, limit: 50 } })
    app.clock.now = new Date('2027-03-03T12:00:00Z')
    made(await put(a))
    app.clock.advance(1_000)
    made(await put(b))
    app.clock.advance(1_000)
    expect(made(await put(a)).data.map(({ variantId }: any) => variantId)).toEqual([b, a])
    expect((await read()).data[1]).toEqual({
      ...{ variantId: a, productId: expect.any(String), name: expect.any(String), variantName: 'M', slug: expect.any(String) },
      ...{ image: null, available: true, addedAt: '2027-03-03T12:00:00.000Z' },
    })
    expect((await read('?limit=1&offset=1')).data).toHaveLength(1)
    expect(made(await shop.remove(`/wishlists/${customerId}/items/${b}`, visitor()))).toEqual({ ok: true, deleted: 1 })
    expect([await ids(), (await shop.remove(`/wishlists/${customerId}/items/${b}`, visitor())).status]).toEqual([[a], 404])
  })

  test('shows what can be had', async () => {
    const variantId = await shop.variant({ stock: { quantity: 1 } })
    made(await put(variantId))
    await shop.buy({ items: [{ variantId }] })
    expect((await read()).data).toMatchObject([{ available: false }])
    const { productId } = made(await shop.get(`/variants/${variantId}`))
    made(await shop.patch(`/products/${productId}`, { status: 'draft' }))
    expect(await read()).toMatchObject({ data: [], meta: { count: 0 } })
    expect((await put(variantId)).status).toBe(404)
    made(await shop.patch(`/products/${productId}`, { status: 'published' }))
    expect(await ids()).toEqual([variantId])
    const gone = await shop.variant()
    made(await put(gone))
    made(await shop.remove(`/products/${made(await shop.get(`/variants/${gone}`)).productId}`))
    expect(await ids()).toEqual([variantId])
  })

  test('is one customer’s of one store, and has an end', async () => {
    const variantId = await shop.variant()
    for (const [customer, variant] of [
      [crypto.randomUUID(), variantId],
      [customerId, crypto.randomUUID()],
    ] as const)
      expect((await put(variant, customer)).status).toBe(404)
    const other = await newShop(app)
    expect((await other.get(`/wishlists/${customerId}`)).status).toBe(404)
    const many = Array.from({ length: 3 }, () => ({ price: 1, shippable: false }))
    for (let n = 0; n < 2; n++)
      made(
        await shop.post('/products', {
          name: `Many ${n}`,
          status: 'published',
          variants: many.map((one, i) => ({ ...one, name: `V${i}` })),
        }),
      )
    const all = (await shop.rows(sql`select id from variants`)).map(([id]) => id as string)
    for (const id of all) made(await put(id))
    expect((await read()).meta.count).toBe(all.length)
    await shop.settings({ tools: { wishlist: false } })
    expect((await shop.get(`/wishlists/${customerId}`)).status).toBe(404)
  })
})

describe('a mail about what is back', () => {
  let variantId: string
  beforeEach(async () => {
    variantId = await shop.variant({ name: 'M', stock: { quantity: 0 } }, { name: 'Linen shirt' })
  })
  const ask = (email: string, more: object = {}) => shop.post('/availability-notifications', { variantId, email, ...more }, visitor())
  const waiting = async (query = '') => made(await shop.get(`/availability-notifications${query}`)).data as any[]
  const stock = async (quantity: number) => void made(await shop.patch(`/inventory/${variantId}`, { quantity }))
  const mailsTo = async (address: string) => {
    await app.jobs.settle()
    return (await smtp.mails()).filter(({ to }) => to?.[0]?.address === address)
  }
  const html = { headers: { accept: 'text/html' }, key: null }
  const unique = () => `${crypto.randomUUID().slice(0, 8)}@example.com`

  test('is asked for once for each address, and tells the visitor nothing of others', async () => {
    const email = unique()
    const first = made(await ask(email.toUpperCase()))
    expect(first).toEqual({ variantId, email, status: 'waiting' })
    expect(made(await ask(email))).toEqual(first)
    expect(await waiting()).toMatchObject([{ variantId, email, status: 'waiting', notifiedAt: null, lang: null }])
    expect((await shop.get('/availability-notifications', visitor())).status).toBe(403)
    expect(paths(await ask('nobody'))).toEqual(['email'])
    expect(paths(await ask(email, { lang: 'xx-YY-zz-1' }))).toEqual(['lang'])
    expect(paths(await shop.post('/availability-notifications', { variantId: crypto.randomUUID(), email }, visitor()))).toEqual([
      'variantId',
    ])
    expect((await shop.post('/availability-notifications', { variantId: await shop.variant(), email }, visitor())).status).toBe(409)
  })

  test('goes out once there is stock, once, and not again when it comes back a second time', async () => {
    const [email, other] = [unique(), unique()]
    made(await ask(email))
    made(await ask(other))
    await stock(3)
    const [mail, ...more] = await mailsTo(email)
    expect([more, (await mailsTo(other)).length]).toEqual([[], 1])
    expect(mail!.subject).toBe('Linen shirt is back')
    expect(mail!.html!.replaceAll(/ style="[^"]*"/g, '')).toContain(
      '<strong>Linen shirt</strong> can be bought again at Atelier Nord.</p>\n<p>M</p>',
    )
    expect(mail!.headers.find(({ key }) => key === 'list-unsubscribe-post')?.value).toBe('List-Unsubscribe=One-Click')
    expect((await waiting(`?variantId=${variantId}&status=sent`)).map((row) => row.email).sort()).toEqual([email, other].sort())
    await stock(0)
    await stock(5)
    expect(await mailsTo(email)).toHaveLength(1)
    await stock(0)
    made(await ask(email))
    await stock(1)
    expect(await mailsTo(email)).toHaveLength(2)
  })

  test.each<[string, (email: string) => Promise<unknown>]>([
    [
      'the order that had the last one is cancelled',
      async (email) => {
        await stock(1)
        const order = await shop.buy({ items: [{ variantId }], paymentMethod: 'manual' })
        made(await ask(email))
        made(await shop.post(`/orders/${order.id}/cancel`))
      },
    ],
    [
      'it can be sold without stock',
      async (email) => {
        made(await ask(email))
        made(await shop.patch(`/variants/${variantId}`, { stock: { backorder: true } }))
      },
    ],
    [
      'its product is published again',
      async (email) => {
        made(await ask(email))
        const { productId } = made(await shop.get(`/variants/${variantId}`))
        made(await shop.patch(`/products/${productId}`, { status: 'draft' }))
        await stock(3)
        expect(await mailsTo(email)).toHaveLength(0)
        made(await shop.patch(`/products/${productId}`, { status: 'published' }))
      },
    ],
  ])('goes out when %s', async (_, back) => {
    const email = unique()
    await back(email)
    expect(await mailsTo(email)).toHaveLength(1)
  })

  test('goes to nobody who said no, nor for what is gone again', async () => {
    const [no, late] = [unique(), unique()]
    made(await ask(no))
    made(await ask(late))
    const token = (await shop.rows(sql`select token from availability_notifications where email = ${no}`))[0]![0]
    const stop = `/availability-notifications/stop/${token}`
    const page = await shop.get(stop, html)
    expect([page.status, page.text.includes('<form method="post">'), (await waiting())[1].status]).toEqual([200, true, 'waiting'])
    for (let n = 0; n < 2; n++) expect((await shop.post(stop, {}, html)).status).toBe(200)
    expect((await shop.get(`${stop}x`, html)).status).toBe(404)
    await stock(1)
    const order = await shop.buy({ items: [{ variantId }] })
    expect([await mailsTo(no), await mailsTo(late)]).toEqual([[], []])
    made(await shop.post(`/orders/${order.id}/cancel`))
    expect([(await mailsTo(no)).length, (await mailsTo(late)).length]).toEqual([0, 1])
  })

  test('is asked about first, once an address has said no', async () => {
    const email = unique()
    made(await ask(email))
    await stock(1)
    const [mail] = await mailsTo(email)
    const stop = /\/api\/v1(\/availability-notifications\/stop\/[\w.-]+)/.exec(mail!.text!)![1]!
    expect((await shop.post(stop, {}, html)).status).toBe(200)
    await stock(0)
    // A stranger learns nothing of it.
    expect(made(await ask(email)).status).toBe('waiting')
    expect((await waiting())[0]).toMatchObject({ email, status: 'pending' })
    // Nor is it forgotten with the rows.
    for (const { id } of await waiting()) made(await shop.remove(`/availability-notifications/${id}`))
    made(await ask(email))
    expect((await waiting())[0]).toMatchObject({ email, status: 'pending' })
    await stock(1)
    expect((await mailsTo(email)).map(({ subject }) => subject)).toEqual([
      'Linen shirt is back',
      'Shall Atelier Nord tell you when Linen shirt, M, is back?',
    ])
  })

  test('is asked about few times a day, whatever the address is given for', async () => {
    await shop.settings({ email: { doubleOptIn: true } })
    const email = unique()
    const token = async () =>
      (await shop.rows(sql`select token from availability_notifications where status = 'pending' order by id desc`))[0]![0]
    for (let n = 0; n < 4; n++) {
      made(await ask(email))
      expect((await shop.post(`/availability-notifications/stop/${await token()}`, {}, html)).status).toBe(200)
    }
    expect(await mailsTo(email)).toHaveLength(0)
    made(await ask(email))
    expect(await mailsTo(email)).toHaveLength(0)
    const other = unique()
    for (let n = 0; n < 6; n++)
      made(
        await shop.post(
          '/availability-notifications',
          { variantId: await shop.variant({ stock: { quantity: 0 } }), email: other },
          visitor(),
        ),
      )
    expect(await mailsTo(other)).toHaveLength(3)
    app.clock.advance(86_400_001)
    made(await ask(other))
    expect(await mailsTo(other)).toHaveLength(4)
  })

  test('is confirmed first where double opt-in is on', async () => {
    await shop.settings({ email: { doubleOptIn: true } })
    const email = unique()
    expect(made(await ask(email)).status).toBe('pending')
    made(await ask(email))
    const asked = await mailsTo(email)
    expect(asked).toHaveLength(1)
    await stock(2)
    expect(await mailsTo(email)).toHaveLength(1)
    const path = /\/api\/v1(\/availability-notifications\/confirm\/[\w.-]+)/.exec(asked[0]!.text!)![1]!
    expect((await shop.get(path, html)).text).toContain('Linen shirt')
    expect(await mailsTo(email)).toHaveLength(1)
    expect((await shop.post(path, {}, html)).status).toBe(200)
    // It came back while the question was on its way.
    expect(await mailsTo(email)).toHaveLength(2)
  })

  test('that is not taken now is tried again; one whose fate nobody knows is not', async () => {
    const [slow, lost, wrong, fine] = [unique(), unique(), unique(), unique()]
    for (const email of [slow, lost, wrong]) made(await ask(email))
    smtpOptions.refuse = (address) => (address === slow ? 451 : address === wrong ? 550 : undefined)
    smtpOptions.hangUpOn = (address) => address === lost
    await stock(3)
    await app.jobs.settle()
    Object.assign(smtpOptions, { refuse: undefined, hangUpOn: undefined })
    const states = async () => Object.fromEntries((await waiting()).map((row) => [row.email, row.status]))
    expect(await states()).toMatchObject({ [wrong]: 'failed', [lost]: 'unknown', [slow]: 'waiting' })
    made(await ask(fine).then((answer) => (answer.status === 409 ? { ...answer, status: 200 } : answer)))
    app.clock.now = new Date(Date.now() + 2 * 60_000)
    expect(await mailsTo(slow)).toHaveLength(1)
    app.clock.advance(86_400_000)
    expect([await mailsTo(slow), await mailsTo(lost), await mailsTo(wrong)].map((mails) => mails.length)).toEqual([1, 0, 0])
    expect((await waiting('?status=failed'))[0].error).toBeTruthy()
  })

  test('is in the language that was asked for, in the store’s words', async () => {
    await shop.settings({ enabledLanguages: { 'en-US': true, 'pl-PL': true } })
    const put = await shop.call('PUT', '/email-templates/back-in-stock?lang=pl-PL', {
      subject: '{{productName}} wraca',
      body: 'Jest: {{variantName}}',
    })
    made(put)
    const { productId } = made(await shop.get(`/variants/${variantId}`))
    made(await shop.call('PUT', `/products/${productId}/translations/pl-PL`, { name: 'Koszula' }))
    const email = unique()
    made(await ask(email, { lang: 'pl-PL' }))
    await stock(1)
    const [mail] = await mailsTo(email)
    expect([mail!.subject, mail!.text!.trim()]).toEqual(['Koszula wraca', 'Jest: M'])
    expect(mail!.html).toContain('lang="pl-PL"')
  })

  test('is forgotten on request', async () => {
    const email = unique()
    made(await ask(email))
    const [{ id }] = await waiting()
    expect((await (await newShop(app)).remove(`/availability-notifications/${id}`)).status).toBe(404)
    expect(made(await shop.remove(`/availability-notifications/${id}`))).toEqual({ ok: true, deleted: 1 })
    await stock(1)
    expect(await mailsTo(email)).toEqual([])
  })

  test('waits in a store that sends none', async () => {
    const email = unique()
    made(await ask(email))
    await shop.settings({ email: { outboundEnabled: false } })
    await stock(1)
    expect([await mailsTo(email), (await waiting())[0].status]).toEqual([[], 'waiting'])
    await shop.settings({ email: { outboundEnabled: true } })
    expect([(await mailsTo(email)).length, (await waiting())[0].status]).toEqual([1, 'sent'])
  })
})
