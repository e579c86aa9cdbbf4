/** A shopper pays at Stripe: a double of its API, and one of its script in the browser, which speaks to that as Stripe's does to Stripe. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openShop, type PublishedShop } from '../builder/published.ts'
import { stripeDouble, type StripeDouble } from '../doubles/stripe.ts'
import { hasChromium, launch, THEMES, violationsOf } from './chromium.ts'

/** Stripe's script as far as a payment element goes. */
const SCRIPT = `window.Stripe = (key, options) => ({
  elements: ({ clientSecret, appearance }) => ({ clientSecret, appearance, create: (kind) => ({
    mount(place) { place.innerHTML = '<label>Card number <input name="card" data-kind="' + kind + '" data-key="' + key + '" lang="' + options.locale + '"></label>' },
  }) }),
  async confirmPayment({ elements, confirmParams }) {
    const card = document.querySelector('[name=card]').value
    const answer = await fetch('https://api.stripe.com/v1/confirm', { method: 'POST', body: JSON.stringify({ card, ...confirmParams, secret: elements.clientSecret }) })
    return answer.json()
  },
})`

describe.skipIf(!hasChromium)('paying at Stripe', () => {
  let shop: PublishedShop
  let stripe: StripeDouble
  let browser: Browser
  let returned = ''
  beforeAll(async () => {
    stripe = stripeDouble()
    const { url, secretKey, webhookSecret } = stripe
    const env = {
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_WEBHOOK_SECRET: webhookSecret,
      STRIPE_API_BASE: url,
      STRIPE_PUBLISHABLE_KEY: 'pk_test_shop',
    }
    shop = await openShop({ env, products: 2, more: { payments: { testMode: false } } })
    const variants = [{ name: 'Hour', price: 20, shippable: false, stock: { tracked: false } }]
    expect((await shop.call('POST', '/products', { name: 'Lesson', slug: 'lesson', variants })).status).toBe(201)
    expect(await shop.publish()).toMatchObject({ status: 'live' })
    browser = await launch()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await shop?.close()
    stripe?.close()
  })

  /** Goes to the last step of a checkout. */
  async function toPayment(options: Parameters<Browser['newContext']>[0] = {}): Promise<{ page: Page; wrong: string[] }> {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, ...options })
    await context.route('https://js.stripe.com/v3/', (route) => route.fulfill({ contentType: 'text/javascript', body: SCRIPT }))
    await context.route('https://api.stripe.com/v1/confirm', async (route) => {
      const { card, secret, return_url } = route.request().postDataJSON()
      returned = return_url
      const intent = [...stripe.intents.values()].find(({ client_secret }) => client_secret === secret)!
      if (card === '4242') stripe.pay(intent.id)
      if (card === 'slow') Object.assign(intent, { status: 'processing' })
      const json = card === 'declined' ? { error: { message: 'Your card was declined.' } } : {}
      await route.fulfill({ json, headers: { 'access-control-allow-origin': '*' } })
    })
    const page = await context.newPage()
    const wrong: string[] = []
    page.on('pageerror', (error) => wrong.push(error.message))
    page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()))
    await page.goto(`${shop.url}/products/lesson`)
    await page.click('.buy button.main')
    await page.waitForURL('**/cart')
    await page.goto(`${shop.url}/checkout`)
    await page.fill('[name="email"]', 'ada@example.com')
    await page.fill('[name="name"]', 'Ada')
    await page.click('.steps form button.main')
    await page.waitForSelector('form[action="/_shop/checkout"]')
    return { page, wrong }
  }
  async function order(page: Page) {
    expect(await page.isChecked('[value="stripe"]')).toBe(true)
    await page.click('form[action="/_shop/checkout"] button.main')
    await page.waitForURL('**/order/**')
    await page.waitForSelector('[name="card"]')
  }
  const statusOf = async () => (await shop.call('GET', '/orders?limit=1')).body.data[0].paymentStatus

  test('a declined card can be tried again; what is paid is shown at once, though no event has come yet', async () => {
    const { page, wrong } = await toPayment()
    await order(page)
    expect(await page.textContent('h1')).toBe('One step left')
    expect(await page.getAttribute('[name="card"]', 'data-key')).toBe('pk_test_shop')
    expect(await page.content()).not.toContain('_secret_')
    await page.fill('[name="card"]', 'declined')
    await page.click('.pay button')
    await page.waitForSelector('[data-said]:not([hidden])')
    expect(await page.textContent('[data-said]')).toBe('Your card was declined.')
    expect(await statusOf()).toBe('unpaid')
    await page.fill('[name="card"]', '4242')
    await page.click('.pay button')
    await page.waitForSelector('.pay', { state: 'detached' })
    expect(await statusOf()).toBe('paid')
    expect(await page.textContent('.when')).toContain('paid')
    expect(returned).toMatch(/^http:\/\/shop\.localhost:\d+\/order\/[\w-]{40,}$/)
    // Stripe's event of it comes later, and changes nothing.
    const { payload, signature } = stripe.event('payment_intent.succeeded', [...stripe.intents.values()].at(-1)!)
    const headers = { 'stripe-signature': signature }
    expect((await fetch(`${shop.api.listensOn}/api/v1/payments/stripe/webhook`, { method: 'POST', body: payload, headers })).status).toBe(
      200,
    )
    expect((await shop.call('GET', '/orders?limit=1')).body.data[0].paidCents).toBe(2_000)
    expect(wrong).toEqual([])
    await page.context().close()
  })

  test('a bank that takes its time is waited for; who comes back to the page later pays then', async () => {
    const { page, wrong } = await toPayment()
    await order(page)
    const url = page.url()
    await page.goto(`${shop.url}/`)
    await page.goto(url.split('?')[0]!)
    await page.fill('[name="card"]', 'slow')
    await page.click('.pay button')
    await page.waitForSelector('[data-said]:not([hidden])')
    expect(await page.textContent('[data-said]')).toContain('being checked')
    const intent = [...stripe.intents.values()].at(-1)!
    stripe.pay(intent.id)
    await page.waitForSelector('.pay', { state: 'detached', timeout: 10_000 })
    expect(await statusOf()).toBe('paid')
    expect(wrong).toEqual([])
    await page.context().close()
  }, 30_000)

  test('is not offered without scripts, where there is another way; nobody learns the secret of another’s order', async () => {
    const { page } = await toPayment({ javaScriptEnabled: false })
    expect(await page.isVisible('[value="stripe"]')).toBe(false)
    expect(await page.isChecked('[value="manual"]')).toBe(true)
    await page.click('form[action="/_shop/checkout"] button.main')
    await page.waitForURL('**/order/**')
    const ask = (token: string) =>
      shop.visit(`shop.localhost:${shop.api.port}`, '/_shop/order/payment', {
        method: 'POST',
        body: new URLSearchParams({ token }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      })
    const token = new URL(page.url()).pathname.split('/').at(-1)!
    expect(await (await ask(token)).json()).toMatchObject({ ok: true, step: 'done' })
    for (const wrong of ['', 'x', token.slice(0, -4)]) expect((await ask(wrong)).status).toBe(404)
    await page.context().close()
  })

  test.each(THEMES)('has nothing that axe minds, %s', async (theme) => {
    const { page } = await toPayment({ colorScheme: theme })
    await order(page)
    expect(await violationsOf(page, theme)).toEqual([])
    await page.context().close()
  })

  test('Stripe is asked twenty times a minute for one address, whatever its pages ask', async () => {
    const { page } = await toPayment()
    await order(page)
    const body = new URLSearchParams({ token: new URL(page.url()).pathname.split('/').at(-1)! }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
    const answers: Response[] = []
    for (let i = 0; i < 30; i++)
      answers.push(await shop.visit(`shop.localhost:${shop.api.port}`, '/_shop/order/payment', { method: 'POST', body, headers }))
    const statuses = answers.map(({ status }) => status)
    const refused = statuses.filter((status) => status === 429).length
    expect(refused).toBeGreaterThan(9)
    expect(new Set(statuses.slice(-refused))).toEqual(new Set([429]))
    expect(await answers.at(-1)!.json()).toMatchObject({ code: 'many' })
    await page.context().close()
  })
})
