import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openShop, type PublishedShop } from '../builder/published.ts'
import { hasChromium, launch, THEMES, violationsOf } from './chromium.ts'

describe.skipIf(!hasChromium)('a shopper in a browser', () => {
  let shop: PublishedShop
  let browser: Browser
  let host: string
  beforeAll(async () => {
    shop = await openShop({ more: { enabledLanguages: { 'en-US': true, 'de-DE': true }, enabledCurrencies: ['usd', 'eur'] } })
    await shop.call('POST', '/coupons', { code: 'TEN', type: 'percentage', value: 10 })
    await shop.call('POST', '/events', {
      name: 'Mending workshop',
      price: '25.00',
      startsAt: '2030-12-05T10:00:00Z',
      location: 'Burnside Hall',
      capacity: 5,
    })
    await shop.call('POST', '/posts', {
      title: 'Caring for linen',
      slug: 'caring-for-linen',
      status: 'published',
      content: { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Wash it often.' }] }] },
    })
    const fitting = await shop.call('POST', '/products', {
      name: 'Fitting',
      slug: 'fitting',
      variants: [{ name: 'One hour', price: 20, prices: { eur: 19 }, bookable: true, shippable: false, stock: { tracked: false } }],
    })
    await shop.call('POST', '/booking-slots', {
      productVariantId: fitting.body.variants[0].id,
      startsAt: '2030-12-05T10:00:00Z',
      endsAt: '2030-12-05T11:00:00Z',
      maxCapacity: 2,
      status: 'published',
    })
    const bowl = await shop.call('POST', '/products', {
      name: 'Oak bowl',
      slug: 'oak-bowl',
      price: 40,
      compareAtPrice: 50,
      prices: { eur: 38 },
      sku: 'BOWL',
      stock: { quantity: 3 },
    })
    await shop.call('PUT', `/products/${bowl.body.id}/translations/de-DE`, { name: 'Eichenschale' })
    await shop.call('POST', '/products', { name: 'Gone bowl', slug: 'gone-bowl', price: 40, sku: 'GONE', stock: { quantity: 0 } })
    await shop.call('PUT', '/legal-pages/returns', {
      title: 'Returns',
      content: { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: '30 days.' }] }] },
    })
    const verdict = await shop.publish()
    expect(verdict, verdict.reason).toMatchObject({ status: 'live' })
    host = shop.url
    browser = await launch()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await shop?.close()
  })

  /** Opens a page of the shop in a new profile; what goes wrong in it fails the test. */
  async function opened(
    path: string,
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ page: Page; context: BrowserContext; wrong: string[] }> {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, ...options })
    const page = await context.newPage()
    const wrong: string[] = []
    page.on('pageerror', (error) => wrong.push(error.message))
    page.on('console', (message) => message.type() === 'error' && !/40\d \(/.test(message.text()) && wrong.push(message.text()))
    await page.goto(host + path)
    return { page, context, wrong }
  }

  const address = { email: 'ada@example.com', name: 'Ada Lovelace', line1: 'SW Broadway 1', postalCode: '97205', city: 'Portland' }
  async function fillAddress(page: Page) {
    for (const [name, value] of Object.entries(address)) await page.fill(`.steps [name="${name}"]`, value)
    await page.selectOption('.steps [name="country"]', 'US')
    await page.click('.steps form button.main')
  }

  test.each([true, false])('buys with a coupon, scripts: %s', async (javaScriptEnabled) => {
    const { page, context, wrong } = await opened('/products/oak-bowl', { javaScriptEnabled })
    await page.fill('.buy [name="quantity"]', '2')
    await page.click('.buy button.main')
    await page.waitForURL('**/cart')
    expect(await page.textContent('.lines')).toContain('Oak bowl')
    await page.fill('[name="code"]', 'TEN')
    await page.click('form[action="/_shop/cart/coupons"] button')
    await page.waitForSelector('.tag')
    expect(await page.textContent('.summary')).toContain('−$8.00')
    await page.goto(`${host}/checkout`)
    await fillAddress(page)
    await page.waitForSelector('form[action="/_shop/checkout"]')
    expect(await page.textContent('.given')).toContain('SW Broadway 1')
    await page.check('[name="paymentMethod"][value="test"]')
    await page.click('form[action="/_shop/checkout"] button.main')
    await page.waitForURL('**/order/**')
    expect(await page.textContent('h1')).toBe('Thank you')
    expect(await page.textContent('.when')).toContain('paid')
    expect((await context.cookies()).filter(({ name }) => name === 'cart')).toEqual([])
    expect(wrong).toEqual([])
    await context.close()
    // What is bought is not there any more: put back for the next one.
    const { body } = await shop.call('GET', '/orders?limit=1')
    await shop.call('POST', `/orders/${body.data[0].id}/refunds`, { amountCents: body.data[0].totalCents, restock: true })
  })

  test.each([true, false])('the menu opens above the page, by the keyboard too, and leads on; scripts: %s', async (javaScriptEnabled) => {
    const { page, context, wrong } = await opened('/products/oak-bowl', { javaScriptEnabled })
    expect(await page.isVisible('#menu')).toBe(false)
    await page.focus('.opener')
    await page.keyboard.press('Enter')
    expect(await page.isVisible('#menu')).toBe(true)
    // What is opened comes next, though it stands at the end of the page.
    await page.keyboard.press('Tab')
    expect(await page.locator('#menu a:focus').getAttribute('href')).toBe('/products')
    await page.keyboard.press('Escape')
    expect(await page.isVisible('#menu')).toBe(false)
    await page.click('.opener')
    await page.click('#menu a[href^="/categories/"] >> nth=0')
    await page.waitForURL('**/categories/**')
    expect(wrong).toEqual([])
    await context.close()
  })

  test.each([true, false])('a declined payment takes nothing, scripts: %s', async (javaScriptEnabled) => {
    const { page, context, wrong } = await opened('/products/fitting', { javaScriptEnabled })
    await page.click('.buy button.main')
    await page.waitForURL('**/cart')
    await page.goto(`${host}/checkout`)
    await page.fill('[name="email"]', 'ada@example.com')
    await page.fill('[name="name"]', 'Ada')
    await page.click('.steps form button.main')
    await page.waitForSelector('form[action="/_shop/checkout"]')
    await page.check('[name="paymentToken"]')
    await page.click('form[action="/_shop/checkout"] button.main')
    await (javaScriptEnabled ? page.waitForSelector('.toast:not([hidden])') : page.waitForSelector('.notice'))
    expect(await page.textContent(javaScriptEnabled ? '.toast' : '.notice')).toContain('The payment was declined')
    await page.uncheck('[name="paymentToken"]')
    await page.click('form[action="/_shop/checkout"] button.main')
    await page.waitForURL('**/order/**')
    expect(wrong).toEqual([])
    await context.close()
  })

  test.each([true, false])('filters and sorts a list, and searches, scripts: %s', async (javaScriptEnabled) => {
    const { page, context, wrong } = await opened('/products', { javaScriptEnabled })
    await page.click('.filters summary')
    await page.fill('[name="min"]', '39')
    await page.fill('[name="max"]', '40')
    await page.selectOption('[name="sort"]', 'name')
    if (!javaScriptEnabled) await page.click('.filters button')
    await page.waitForURL('**max=40**')
    await page.waitForFunction('document.querySelectorAll(".grid .card").length < 12')
    const names = await page.locator('.card h2').allTextContents()
    expect(names).toContain('Oak bowl')
    expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b)))
    await page.goto(`${host}/search`)
    await page.fill('main [name="q"]', 'linen')
    if (!javaScriptEnabled) await page.click('.seek button')
    await page.waitForSelector('.hits a')
    expect(await page.textContent('.hits')).toContain('Caring for linen')
    expect(wrong).toEqual([])
    await context.close()
  })

  test.each([true, false])('shops in German and euro, scripts: %s', async (javaScriptEnabled) => {
    const { page, context, wrong } = await opened('/de/products/oak-bowl', { javaScriptEnabled })
    expect(await page.textContent('.buy button.main')).toBe('In den Warenkorb')
    expect(await page.textContent('.buy .amount')).toContain('40,00\u00a0$')
    await page.selectOption('[name="currency"]', 'eur')
    if (!javaScriptEnabled) await page.click('.currency button')
    await page.waitForFunction('document.querySelector(".buy .amount").textContent.includes("38,00\u00a0€")')
    await page.click('.buy button.main')
    await page.waitForURL('**/de/cart')
    expect(await page.textContent('.summary')).toContain('38,00\u00a0€')
    expect(await page.textContent('.lines')).toContain('Eichenschale')
    // What it cost before is known in dollars alone.
    for (const path of ['/products/oak-bowl', '/de/products/oak-bowl', '/de/products']) {
      await page.goto(host + path)
      expect(await page.locator('main s').allTextContents()).toEqual([])
    }
    expect(wrong).toEqual([])
    await context.close()
  })

  test.each([true, false])('buys a ticket, names its guest and opens it, scripts: %s', async (javaScriptEnabled) => {
    const { page, context, wrong } = await opened('/events/mending-workshop', { javaScriptEnabled })
    await page.click('.buy button.main')
    await page.waitForURL('**/cart')
    await page.goto(`${host}/checkout`)
    await page.fill('[name="email"]', 'grace@example.com')
    await page.fill('[name="name"]', 'Grace')
    await page.click('.steps form button.main')
    await page.waitForSelector('form[action="/_shop/checkout"]')
    await page.check('[name="paymentMethod"][value="test"]')
    await page.click('form[action="/_shop/checkout"] button.main')
    await page.waitForURL('**/order/**')
    await page.click('text=Your tickets')
    await page.fill('.ticket-line [name="name"]', 'Grace Hopper')
    await Promise.all([page.waitForResponse('**/_shop/tickets/names'), page.click('.ticket-line button')])
    await page.waitForLoadState()
    await page.waitForFunction('document.querySelector(".ticket-line [name=name]")?.value === "Grace Hopper"')
    await Promise.all([page.waitForURL('**/ticket/**'), page.click('text=Open ticket')])
    expect(await page.locator('form[action="/_shop/ticket/checkin"]').count()).toBe(0)
    expect(await page.textContent('main')).toContain('You can check in here from Wednesday, December 4, 2030')
    // It is the day of the event.
    const { body: events } = await shop.call('GET', '/events?limit=1')
    const starts = async (startsAt: string) => {
      const { status, body } = await shop.call('PATCH', `/events/${events.data[0].id}`, { startsAt })
      expect([status, body]).toEqual([200, expect.anything()])
    }
    await starts(new Date(Date.now() + 3_600_000).toISOString())
    await page.reload()
    await page.click('form[action="/_shop/ticket/checkin"] button')
    expect(await page.textContent('.notice')).toContain('Checked in at')
    const ticket = page.url().split('?')[0]!
    await page.goto(ticket)
    expect(await page.textContent('.notice')).toContain('Checked in at')
    await starts('2030-12-05T10:00:00Z')
    expect(wrong).toEqual([])
    await context.close()
  })

  test.each([true, false])('writes a review and a letter, saves a wish, and asks to be told, scripts: %s', async (javaScriptEnabled) => {
    const { page, context, wrong } = await opened('/products/oak-bowl', { javaScriptEnabled })
    await page.click('.voices summary')
    // Covered by its label, which is what people click.
    await page.check('.voices [name="rating"][value="5"]', { force: true })
    await page.fill('.voices [name="author"]', 'Ada')
    await page.fill('.voices [name="email"]', 'ada@example.com')
    await page.fill('.voices [name="content"]', `A fine bowl, scripts: ${javaScriptEnabled}`)
    await page.click('.voices form button')
    await page.waitForURL('**/thanks**')
    await page.goto(`${host}/products/oak-bowl`)
    await page.click('.save button')
    if (javaScriptEnabled) await page.waitForSelector('.toast:not([hidden])')
    await page.goto(`${host}/wishlist`)
    expect(await page.textContent('.lines')).toContain('Oak bowl')
    await page.goto(`${host}/products/gone-bowl`)
    await page.fill('.notify [name="email"]', 'ada@example.com')
    await page.click('.notify button')
    await page.waitForURL('**/thanks**')
    await page.goto(`${host}/contact`)
    for (const [name, value] of Object.entries({
      name: 'Ada',
      email: 'ada@example.com',
      subject: 'Hello',
      message: `Do you ship to Mars? ${javaScriptEnabled}`,
    }))
      await page.fill(`main [name="${name}"]`, value)
    await page.click('main form button')
    await page.waitForURL('**/thanks**')
    expect(wrong).toEqual([])
    await context.close()
    const { body } = await shop.call('GET', '/reviews?approved=false')
    expect(body.data[0]).toMatchObject({ author: 'Ada', content: `A fine bowl, scripts: ${javaScriptEnabled}` })
  })

  test('without scripts a form comes back as it was filled in, with what is wrong marked, and can be sent from there', async () => {
    const { page, context, wrong } = await opened('/products/oak-bowl', { javaScriptEnabled: false })
    await page.click('.voices summary')
    await page.check('.voices [name="rating"][value="4"]', { force: true })
    await page.fill('.voices [name="author"]', 'Grace "G" <b>')
    // A browser takes it for an address, and the shop does not.
    await page.fill('.voices [name="email"]', 'grace@localhost')
    await page.fill('.voices [name="content"]', 'Smaller than I thought.')
    await page.click('.voices form button')
    expect(await page.textContent('h1')).toBe('That did not work')
    expect(await page.getAttribute('main [name="email"]', 'aria-invalid')).toBe('true')
    expect(await page.textContent('main .error')).toBe('Please check this.')
    for (const [name, value] of [
      ['author', 'Grace "G" <b>'],
      ['email', 'grace@localhost'],
      ['content', 'Smaller than I thought.'],
    ])
      expect(await page.inputValue(`main [name="${name}"]`)).toBe(value)
    expect(await page.isChecked('main [name="rating"][value="4"]')).toBe(true)
    await page.fill('main [name="email"]', 'grace@example.com')
    await page.click('main form button.main')
    await page.waitForURL('**/thanks**')
    await page.click('main a.button')
    expect(new URL(page.url()).pathname).toBe('/products/oak-bowl')
    expect((await shop.call('GET', '/reviews?approved=false')).body.data[0]).toMatchObject({ author: 'Grace "G" <b>', rating: 4 })
    expect(wrong.filter((line) => !line.includes('400'))).toEqual([])
    await context.close()

    const scripted = await opened('/products/oak-bowl')
    await scripted.page.evaluate(`HTMLFormElement.prototype.submit.call(document.querySelector('.voices form'))`)
    await scripted.page.waitForURL('**/_shop/reviews')
    for (const theme of THEMES) expect(await violationsOf(scripted.page, theme)).toEqual([])
    await scripted.context.close()
  })

  const PAGES = [
    '/',
    '/products',
    '/categories/clothing',
    '/products/oak-bowl',
    '/products/gone-bowl',
    '/products/fitting',
    '/events',
    '/events/mending-workshop',
  ]
  const MORE = [
    '/blog',
    '/blog/caring-for-linen',
    '/cart',
    '/checkout',
    '/search?q=oak',
    '/products?sort=price',
    '/wishlist',
    '/order',
    '/tickets',
    '/contact',
    '/legal/returns',
    '/nowhere',
    '/de',
  ]
  test.each([...PAGES, ...MORE])(
    'axe finds nothing in %s, in both themes',
    async (path) => {
      const { page, context } = await opened(path)
      for (const theme of THEMES) expect(await violationsOf(page, theme)).toEqual([])
      await context.close()
    },
    20_000,
  )
})
