/** Mails of a store that has a shop of its own lead to its pages; those of a store without one do not speak of them. */
import type { Email } from 'postal-mime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { smtpServer, type Smtp } from '../smtp.ts'
import { openShop, type PublishedShop } from './published.ts'

let shop: PublishedShop
let smtp: Smtp
beforeAll(async () => {
  smtp = await smtpServer()
  shop = await openShop({
    products: 2,
    env: { SMTP_URL: smtp.url },
    more: {
      ...{ emailDomainVerified: true, enabledLanguages: { 'en-US': true, 'de-DE': true } },
      address: { company: 'Atelier', line1: 'Long 1', city: 'Portland', postalCode: '97205', country: 'US' },
      email: { domain: 'shop.example', fromName: 'Atelier', fromAddress: 'hello@shop.example', outboundEnabled: true, doubleOptIn: true },
    },
  })
}, 30_000)
afterAll(async () => {
  await shop?.close()
  await smtp.close()
})

const made = async (method: string, path: string, body?: unknown) => {
  const answer = await shop.call(method, path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body
}
let number = 0
/** Buys one thing, and returns the mail of a subject that comes of it. */
async function buy(variantId: string, subject: RegExp, more: object = {}) {
  const email = `buyer${++number}@example.com`
  const cart = await made('POST', '/carts', { items: [{ variantId, quantity: 1 }] })
  const { order } = await made('POST', `/carts/${cart.id}/checkout`, { email, name: 'Ada', paymentMethod: 'test', ...more })
  return { order, email, mail: await mailTo(email, subject) }
}
async function mailTo(address: string, subject: RegExp): Promise<Email> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await Bun.sleep(50)) {
    const mail = (await smtp.mails()).find((one) => one.to?.[0]?.address === address && subject.test(one.subject ?? ''))
    if (mail) return mail
  }
  throw new Error(`no mail to ${address}`)
}
/** The addresses below the shop's host that a mail leads to. */
const linksOf = ({ html }: Email, host = 'shop') =>
  [...html!.matchAll(/ href="([^"]+)"/g)]
    .map(([, url]) => url!.replaceAll('&amp;', '&'))
    .filter((url) => url.startsWith(`http://${host}.localhost`))
const open = async (url: string) => {
  const { pathname, search, host } = new URL(url)
  const answer = await shop.visit(host, pathname + search)
  return { status: answer.status, text: await answer.text() }
}
const plain = (name: string, more: object = {}) =>
  made('POST', '/products', { name, variants: [{ name, price: 20, shippable: false, stock: { quantity: 9 } }], ...more })

test('a store whose shop is not open sends mails that name none', async () => {
  const { variants } = await plain('Closed cup', { slug: 'closed-cup' })
  const { mail } = await buy(variants[0].id, /^Your order/)
  expect(linksOf(mail)).toEqual([])
  expect(mail.html).not.toContain('See your order')
  expect(mail.text).not.toMatch(/See your order|{{/)
})

test('an order, its tickets and each of them open from their mails, in the language of the order', async () => {
  const { variants } = await plain('Oak cup', { slug: 'oak-cup' })
  const event = await made('POST', '/events', { name: 'Mending workshop', price: '30', startsAt: '2099-05-01T10:00:00.000Z' })
  await made('PUT', '/email-templates/order-confirmation?lang=de-DE', {
    subject: 'Bestellung {{orderNumber}}',
    body: 'Danke.\n\n{{orderButton}}',
  })
  expect(await shop.publish()).toMatchObject({ status: 'live' })

  const { mail, order } = await buy(variants[0].id, /^Your order/)
  const links = linksOf(mail)
  expect(links).toEqual([`${shop.url}/`, expect.stringMatching(/\/order\/[\w-]{40,}$/)])
  expect(mail.text).toContain(`See your order: ${links[1]}`)
  expect(await open(links[1]!)).toMatchObject({ status: 200, text: expect.stringContaining(order.orderNumber) })
  // Nobody else's token, nor one of another kind, opens it.
  expect((await open(links[1]!.replace(/.{4}$/, 'abcd'))).status).toBe(404)

  const german = await buy(variants[0].id, /^Bestellung/, { lang: 'de-DE' })
  expect(linksOf(german.mail)).toEqual([`${shop.url}/de`, expect.stringMatching(/\/de\/order\/[\w-]{40,}$/)])
  expect(german.mail.html).toContain('>Bestellung ansehen</a>')
  expect((await open(linksOf(german.mail)[1]!)).text).toContain('lang="de')

  const product = event.event ?? event
  const { body } = await shop.call('GET', `/products/${product.productId ?? product.id}`)
  const { mail: tickets } = await buy(body.variants[0].id, /^Your tickets/)
  const [, ticket, all] = linksOf(tickets)
  expect(await open(ticket!)).toMatchObject({ status: 200, text: expect.stringContaining('Mending workshop') })
  expect(all).toMatch(/\/tickets\?open=[\w-]+$/)
  expect(await open(all!)).toMatchObject({ status: 200, text: expect.stringContaining('name="token"') })
}, 40_000)

test('cards of newsletters and what is back in stock lead to their pages', async () => {
  const cup = (await shop.call('GET', '/products/oak-cup')).body
  await made('POST', '/subscribers', { email: 'reader@example.com' })
  const confirm = await mailTo('reader@example.com', /newsletters/)
  expect(linksOf(confirm)).toEqual([`${shop.url}/`])
  const link = /href="([^"]+\/subscribers\/confirm\/[^"]+)"/.exec(confirm.html!)![1]!
  await fetch(link.replace(/^http:\/\/[^/]+/, shop.api.listensOn), { method: 'POST' })
  const { id } = await made('POST', '/newsletters', { subject: 'News', content: 'Hello', products: [{ productId: cup.id }] })
  await made('POST', `/newsletters/${id}/send`)
  const news = await mailTo('reader@example.com', /^News$/)
  expect(linksOf(news)).toContain(`${shop.url}/products/oak-cup`)
  expect(news.text).toContain(`* Oak cup: $20.00\n  ${shop.url}/products/oak-cup\n`)
  expect(await open(`${shop.url}/products/oak-cup`)).toMatchObject({ status: 200 })

  const [{ id: variantId }] = cup.variants
  await made('PATCH', `/variants/${variantId}`, { stock: { quantity: 2 } })
  await made('POST', '/availability-notifications', { variantId, email: 'waits@example.com' })
  const asked = await mailTo('waits@example.com', /is back\?$/)
  const yes = /href="([^"]+\/availability-notifications\/confirm\/[^"]+)"/.exec(asked.html!)![1]!
  await fetch(yes.replace(/^http:\/\/[^/]+/, shop.api.listensOn), { method: 'POST' })
  await made('PATCH', `/variants/${variantId}`, { stock: { quantity: 5 } })
  const back = await mailTo('waits@example.com', /is back$/)
  expect(linksOf(back)).toEqual([`${shop.url}/`, `${shop.url}/products/oak-cup`])
  expect(back.html).toContain('>See it in the shop</a>')
}, 40_000)

test('the preview of a template shows its button while the shop is open', async () => {
  const { html, text } = await made('POST', '/email-templates/order-confirmation/preview')
  expect(html).toContain('>See your order</a>')
  expect(text).toContain(`See your order: ${shop.url}/order/example`)
})
