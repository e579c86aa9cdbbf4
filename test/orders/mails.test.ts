/** Mails about orders: confirmed, shipped, refunded, and the question how it is; each once, in the order's language, as HTML and text. */
import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, test } from 'vitest'
import { mailing } from '../mailing.ts'
import { ADDRESS, made, paths } from '../shop.ts'

const mailed = mailing()
const smtpOptions = mailed.options
let { app, shop, smtp } = mailed
let variantId: string
let email: string
beforeEach(async () => {
  ;({ app, shop, smtp } = mailed)
  email = `${crypto.randomUUID().slice(0, 8)}@example.com`
  variantId = await shop.variant({ price: 49.9 }, { name: 'Linen <b>shirt</b>' })
})

const mails = async () => {
  await app.jobs.settle()
  return (await smtp.mails()).filter(({ to }) => to?.[0]?.address === email)
}
const subjects = async () => (await mails()).map(({ subject }) => subject)
const buy = (more: object = {}) => shop.buy({ items: [{ variantId, quantity: 2 }], email, name: 'Ada Lovelace', ...more })
const html = { headers: { accept: 'text/html' }, key: null }

test('an order is confirmed once, from the verified domain, with what was bought', async () => {
  const order = await buy({ shippingAddress: ADDRESS })
  const [mail, ...more] = await mails()
  expect(more).toEqual([])
  expect(mail).toMatchObject({ subject: 'Your order 1001 at Atelier Nord', to: [{ name: 'Ada Lovelace', address: email }] })
  expect(mail!.from).toMatchObject({ name: 'Atelier Nord', address: expect.stringMatching(/@mail\.shop\.example$/) })
  expect(mail!.messageId).toBe(`<${order.id}-order-confirmation@mail.shop.example>`)
  for (const part of ['2 × Linen <b>shirt</b>', '$99.80', 'It is paid.', 'Ada Lovelace', 'Długa 1', '80-831 Gdańsk', 'Poland'])
    expect(mail!.text).toContain(part)
  for (const part of ['2 × Linen &lt;b&gt;shirt&lt;/b&gt;', '$99.80', '>Thank you for your order</h1>']) expect(mail!.html).toContain(part)
  made(await shop.patch(`/orders/${order.id}`, { status: 'completed' }))
  made(await shop.patch(`/orders/${order.id}`, { note: 'x' }))
  expect(await mails()).toHaveLength(1)
})

test('an order that waits for a payment is confirmed as such; one that the team takes is not, but its parcels are told of', async () => {
  await buy({ paymentMethod: 'manual' })
  expect((await mails())[0]!.text).toContain('It waits for your payment.')
  const take = async (source: string) => {
    const input = { source, customer: { email }, items: [{ variantId: await shop.variant({ shippable: true }), quantity: 1 }], paid: true }
    const order = made(await shop.post('/orders', { ...input, shippingAddress: ADDRESS }))
    made(await shop.post(`/orders/${order.id}/shipments`, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] }))
  }
  await take('admin')
  expect(await subjects()).toEqual(['Your order 1001 at Atelier Nord', 'Your order 1002 is on its way'])
  // A marketplace writes to its buyers itself.
  await take('marketplace_a')
  expect(await subjects()).toHaveLength(2)
})

test('Stoa’s own words are English throughout, whatever the language of the order', async () => {
  await shop.settings({ enabledLanguages: { 'en-US': true, 'de-DE': true } })
  await buy({ lang: 'de-DE' })
  const [mail] = await mails()
  for (const part of ['It is paid.', '$99.80', 'Subtotal', 'Thank you for your order']) expect(mail!.text).toContain(part)
  expect(mail!.html).toContain('<html lang="en-US">')
})

test('a subject of nothing but variables that are empty is the one that Stoa has', async () => {
  made(await shop.call('PUT', '/email-templates/refund', { subject: '{{reason}}', body: '{{amount}}' }))
  const order = await buy()
  made(await shop.post(`/orders/${order.id}/refunds`, { amountCents: 100 }))
  expect(await subjects()).toContain('Your refund of $1.00 for order 1001')
})

test('an order that is cancelled before its mail has left is not confirmed', async () => {
  const order = await buy({ paymentMethod: 'manual' })
  made(await shop.post(`/orders/${order.id}/cancel`))
  expect(await mails()).toEqual([])
})

describe('a shipment', () => {
  test('is told once, with its way', async () => {
    const shippable = await shop.variant({ shippable: true, price: 5 }, { name: 'Mug' })
    const method = await shop.method()
    const order = await shop.buy({
      items: [{ variantId: shippable, quantity: 3 }],
      email,
      shippingMethodId: method,
      shippingAddress: ADDRESS,
    })
    const parcel = {
      lines: [{ lineId: order.lines[0].id, quantity: 2 }],
      carrier: 'Courier',
      trackingNumber: 'T-1',
      trackingUrl: 'https://track.example/T-1',
    }
    made(await shop.post(`/orders/${order.id}/shipments`, parcel))
    const mail = (await mails()).find(({ subject }) => subject === 'Your order 1001 is on its way')!
    for (const part of ['2 × Mug', 'Courier, T-1', 'https://track.example/T-1', 'Gdańsk']) expect(mail.text).toContain(part)
    expect(mail.html).toContain('href="https://track.example/T-1">')
    made(await shop.post(`/orders/${order.id}/shipments`, { lines: [{ lineId: order.lines[0].id, quantity: 1 }] }))
    expect((await subjects()).filter((subject) => subject?.includes('on its way'))).toHaveLength(2)
  })

  test('that is noted by the status alone is told, too', async () => {
    const shippable = await shop.variant({ shippable: true }, { name: 'Mug' })
    const order = await shop.buy({
      items: [{ variantId: shippable }],
      email,
      shippingMethodId: await shop.method(),
      shippingAddress: ADDRESS,
    })
    made(await shop.patch(`/orders/${order.id}`, { status: 'shipped' }))
    expect((await mails()).find(({ subject }) => subject?.includes('on its way'))!.text).toContain('1 × Mug')
    const three = await shop.buy({
      items: [{ variantId: shippable, quantity: 3 }],
      email,
      shippingMethodId: await shop.method(),
      shippingAddress: ADDRESS,
    })
    made(await shop.post(`/orders/${three.id}/shipments`, { lines: [{ lineId: three.lines[0].id, quantity: 2 }] }))
    made(await shop.patch(`/orders/${three.id}`, { status: 'shipped' }))
    const told = (await mails()).filter(({ subject }) => subject === 'Your order 1002 is on its way')
    expect(told.map(({ text }) => /\d × Mug/.exec(text!)![0])).toEqual(['2 × Mug', '1 × Mug'])
  })
})

test('a refund is told once, with what goes back and why', async () => {
  const order = await buy()
  made(await shop.post(`/orders/${order.id}/refunds`, { lines: [{ lineId: order.lines[0].id, quantity: 1 }], reason: 'Too <warm>' }))
  const [mail, ...more] = (await mails()).filter(({ subject }) => subject?.includes('refund'))
  expect([more, mail!.subject]).toEqual([[], 'Your refund of $49.90 for order 1001'])
  for (const part of ['$49.90', 'Too <warm>', '1 × Linen']) expect(mail!.text).toContain(part)
  expect(mail!.html).toContain('Too &lt;warm&gt;')
})

test('speaks the language of the order, in its own words where the store has some', async () => {
  await shop.settings({ enabledLanguages: { 'en-US': true, 'pl-PL': true, 'de-DE': true } })
  const put = (lang: string, subject: string) =>
    shop
      .call('PUT', `/email-templates/order-confirmation?lang=${lang}`, { subject, body: '{{lines}}\n\n{{totals}}\n\n{{orderDate}}' })
      .then(made)
  await put('pl-PL', 'Zamówienie {{orderNumber}}')
  const order = await buy({ lang: 'pl-PL' })
  expect(order.lang).toBe('pl-PL')
  const [mail] = await mails()
  expect(mail!.subject).toBe('Zamówienie 1001')
  for (const part of ['99,80', 'Razem']) expect(mail!.text).toContain(part)
  expect(mail!.html).toContain('<html lang="pl-PL">')
  expect((await buy()).lang).toBeNull()
  const taken = made(await shop.post('/orders', { customer: { email }, items: [{ variantId, quantity: 1 }], lang: 'de-DE' }))
  expect([taken.lang, made(await shop.get(`/orders/${taken.id}`)).lang]).toEqual(['de-DE', 'de-DE'])
  const { id } = await shop.cart([{ variantId }])
  expect(paths(await shop.checkOut(id, { lang: 'klingon' }))).toEqual(['lang'])
})

describe('a review request', () => {
  const days = (n: number) => {
    app.clock.now = new Date(Date.now() + n * 86_400_000)
  }
  const ship = async () => {
    const shippable = await shop.variant({ shippable: true }, { name: 'Mug' })
    const order = await shop.buy({
      items: [{ variantId: shippable }, { variantId }],
      email,
      name: 'Ada Lovelace',
      shippingMethodId: await shop.method(),
      shippingAddress: ADDRESS,
    })
    made(await shop.patch(`/orders/${order.id}`, { status: 'shipped' }))
    return order
  }
  const request = async () => (await mails()).filter(({ subject }) => subject === 'How do you like it?')

  test('goes out some days after delivery, once, where that is wanted', async () => {
    const plain = await ship()
    made(await shop.patch(`/orders/${plain.id}`, { status: 'delivered' }))
    days(60)
    expect(await request()).toEqual([])
    app.clock.real()
    await shop.settings({ reviewRequest: { enabled: true, afterDays: 10 } })
    const order = await ship()
    made(await shop.patch(`/orders/${order.id}`, { status: 'delivered' }))
    days(9)
    expect(await request()).toEqual([])
    days(11)
    expect(await request()).toHaveLength(1)
    made(await shop.patch(`/orders/${order.id}`, { status: 'completed' }))
    days(40)
    expect(await request()).toHaveLength(1)
  })

  test('does not go out for what came back, or once it is turned off', async () => {
    await shop.settings({ reviewRequest: { enabled: true, afterDays: 10 } })
    const [back, off] = [await ship(), await ship()]
    for (const { id } of [back, off]) made(await shop.patch(`/orders/${id}`, { status: 'delivered' }))
    made(await shop.post(`/orders/${back.id}/refunds`, { amountCents: back.totalCents }))
    days(5)
    await app.jobs.settle()
    await shop.settings({ reviewRequest: { enabled: false } })
    days(15)
    expect(await request()).toEqual([])
    for (const afterDays of [0, 366, 1.5])
      expect(paths(await shop.patch('/settings', { reviewRequest: { afterDays } }))).toEqual(['reviewRequest.afterDays'])
  })

  test('is not sent again to whoever does not want it', async () => {
    await shop.settings({ reviewRequest: { enabled: true, afterDays: 1 } })
    const order = await ship()
    made(await shop.patch(`/orders/${order.id}`, { status: 'delivered' }))
    days(2)
    const [mail] = await request()
    const stop = mail!.headers.find(({ key }) => key === 'list-unsubscribe')!.value.replace(/^<https:\/\/[^/]+\/api\/v1|>$/g, '')
    expect(mail!.text).toContain(stop)
    expect((await shop.get(stop, html)).text).toContain('Do not ask me again')
    const raw = 'List-Unsubscribe=One-Click'
    for (let n = 0; n < 2; n++)
      expect(
        (await shop.call('POST', stop, undefined, { key: null, raw, headers: { 'content-type': 'application/x-www-form-urlencoded' } }))
          .status,
      ).toBe(200)
    // Whatever it sends along.
    expect((await shop.call('POST', stop, undefined, { key: null, raw: '{nonsense' })).status).toBe(200)
    expect((await shop.get(`${stop}x`, html)).status).toBe(404)
    app.clock.real()
    const second = await ship()
    made(await shop.patch(`/orders/${second.id}`, { status: 'delivered' }))
    days(4)
    expect(await request()).toHaveLength(1)
  })

  test('leads to a page that takes a review of each thing, which waits to be approved', async () => {
    await shop.settings({ reviewRequest: { enabled: true, afterDays: 1 } })
    const order = await ship()
    made(await shop.patch(`/orders/${order.id}`, { status: 'delivered' }))
    days(2)
    const [mail] = await request()
    const path = /\/api\/v1(\/reviews\/write\/[\w.-]+)/.exec(mail!.text!)![1]!
    const page = await shop.get(path, html)
    expect(page.status).toBe(200)
    for (const part of ['Mug', 'Linen &lt;b&gt;shirt&lt;/b&gt;', 'value="Ada"']) expect(page.text).toContain(part)
    const { productId } = made(await shop.get(`/variants/${variantId}`))
    const send = (fields: Record<string, string>) => {
      const raw = new FormData()
      for (const [name, value] of Object.entries({ productId, author: 'Ada', rating: '4', content: 'Soft.', ...fields }))
        raw.append(name, value)
      return shop.call('POST', path, undefined, { ...html, raw })
    }
    expect((await send({})).text).toContain('Thank you')
    expect((await send({})).text).toContain('You have sent this already.')
    expect((await send({ content: ' ' })).text).toContain('Please write')
    expect((await send({ rating: '6', content: 'Other.' })).status).toBe(400)
    const elsewhere = made(await shop.get(`/variants/${await shop.variant()}`)).productId
    expect((await send({ productId: elsewhere, content: 'Never bought.' })).text).toContain('Nothing to review')
    expect(made(await shop.get('/reviews')).data).toMatchObject([
      { productId, email, rating: 4, approved: false, verified: true, signals: { form: 'valid' } },
    ])
    for (const wrong of [`${path}x`, path.slice(0, -2), '/reviews/write/nothing']) expect((await shop.get(wrong, html)).status).toBe(404)
    await shop.settings({ tools: { reviews: false } })
    for (const answer of [await shop.get(path, html), await send({ content: 'While off.' })])
      expect([answer.status, answer.text.includes('Nothing to review')]).toEqual([404, true])
    await shop.settings({ tools: { reviews: true } })
    expect(made(await shop.get('/reviews')).meta.count).toBe(1)
  })
})

test('one that a server does not take is tried again for a day; one whose fate nobody knows is never sent again', async () => {
  smtpOptions.refuse = () => 451
  await buy()
  expect(await mails()).toEqual([])
  smtpOptions.refuse = undefined
  app.clock.now = new Date(Date.now() + 2 * 60_000)
  expect(await mails()).toHaveLength(1)
  smtpOptions.hangUpOn = () => true
  await buy()
  await app.jobs.settle()
  smtpOptions.hangUpOn = undefined
  app.clock.advance(3 * 86_400_000)
  expect(await mails()).toHaveLength(1)
  expect(await shop.rows(sql`select status, count(*) from sent_mails group by 1 order by 1`)).toEqual([
    ['sent', 1],
    ['unknown', 1],
  ])
})

test('nothing leaves a store that has outbound mail off, not even later', async () => {
  await shop.settings({ email: { outboundEnabled: false } })
  const before = smtp.taken.length
  const order = await buy()
  made(await shop.post(`/orders/${order.id}/refunds`, { amountCents: 100 }))
  expect(await shop.rows(sql`select count(*) from jobs where kind = 'order.mail'`)).toEqual([[0]])
  await shop.settings({ email: { outboundEnabled: true } })
  await app.jobs.settle()
  expect(smtp.taken.length).toBe(before)
})
