/** The console in a browser: it sends requests, asks nobody else, and forgets the key (document 8, Console). */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { hasChromium, launch, violationsOf, type Theme } from './chromium.ts'

/** What axe minds in Scalar's own elements: its buttons to copy code have no name, its long lists of endpoints no focus while they scroll. */
const NOT_OURS = ['button-name', 'scrollable-region-focusable']

let app: TestApp
let shop: TestStore
let server: Bun.Server<undefined>
let browser: Browser
/** The headers of the requests for `/me` and `/coupons`. */
const received: Headers[] = []
beforeAll(async () => {
  if (!hasChromium) return
  app = await testApp()
  shop = await app.newStore()
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      if (/\/api\/v1\/(me|coupons)$/.test(request.url)) received.push(request.headers)
      return app.app.fetch(request)
    },
  })
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await server?.stop(true)
  await app?.close()
})

/** Waits until the console is there, in a theme in which axe finds nothing to mind. */
async function shownIn(page: Page, theme: Theme) {
  await tokenOf(page).waitFor()
  expect(await page.evaluate(() => (globalThis as any).document.body.className)).toContain(`${theme}-mode`)
  expect(await violationsOf(page, theme, NOT_OURS)).toEqual([])
}

/** The console in a fresh profile; what was asked of others, and what the page complains of. */
async function open() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' })
  context.setDefaultTimeout(60_000)
  const complaints: string[] = []
  const foreign: string[] = []
  await context.addInitScript(() =>
    addEventListener('securitypolicyviolation', (event) => {
      const { violatedDirective, blockedURI } = event as unknown as Record<string, string>
      console.error(`${violatedDirective} ${blockedURI}`)
    }),
  )
  const page = await context.newPage()
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(`${server.url.origin}/`) && !/^(data|blob):/.test(request.url())) foreign.push(request.url())
  })
  await page.goto(`${server.url.origin}/api/v1/docs/console`, { waitUntil: 'load' })
  await shownIn(page, 'light')
  return { page, complaints, foreign }
}
const tokenOf = (page: Page) => page.getByPlaceholder('Token').first()

/** Opens an operation in Scalar's client, and sends it as it stands there. */
async function send(page: Page, anchor: string, operation: string): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), anchor)
  await page.getByRole('button', { name: `Test Request (${operation})` }).click()
  const answered = page.waitForResponse((response) => response.url().endsWith(operation.split(' ')[1]!))
  await page.getByRole('button', { name: /^Send \w+ request to/ }).click()
  await answered
}
/** What stands somewhere on the page and can be seen. */
const shown = (page: Page, text: string) => page.getByText(text).locator('visible=true').first()

describe.skipIf(!hasChromium)('the console', () => {
  test('sends a request with a typed key, asks nobody else, keeps nothing, and sends no optional header that nobody has switched on', async () => {
    const { page, complaints, foreign } = await open()
    await tokenOf(page).fill(shop.keys.admin)
    // Scalar would keep this, too.
    await page.getByRole('button', { name: /dark mode|light mode/i }).click()
    await send(page, '#tag/store/GET/me', 'get /me')
    await shown(page, '200 OK').waitFor()
    await shown(page, shop.store.id).waitFor()
    expect(received.at(-1)!.get('authorization')).toBe(`Bearer ${shop.keys.admin}`)
    expect([complaints, foreign]).toEqual([[], []])

    await page.emulateMedia({ colorScheme: 'dark' })
    await page.goto(`${server.url.origin}/api/v1/docs/console`, { waitUntil: 'load' })
    await shownIn(page, 'dark')
    expect(await tokenOf(page).inputValue()).toBe('')
    expect(await page.content()).not.toContain(shop.keys.admin)
    received.length = 0
    await send(page, '#tag/marketing/POST/coupons', 'post /coupons')
    const [headers] = received
    expect(['idempotency-key', 'prefer', 'x-request-id', 'if-match', 'if-none-match'].filter((name) => headers!.has(name))).toEqual([])

    // The console has no other storage than memory; a page of the same origin sees what there is.
    await page.goto(`${server.url.origin}/api/v1/docs`)
    const kept = await page.evaluate(async () => {
      const { localStorage, sessionStorage, indexedDB, caches, document } = globalThis as never as Record<string, any>
      return [
        localStorage.length,
        sessionStorage.length,
        (await indexedDB.databases()).length,
        (await caches.keys()).length,
        document.cookie,
      ]
    })
    expect(kept).toEqual([0, 0, 0, 0, ''])
    expect(await page.context().cookies()).toEqual([])
    expect(foreign).toEqual([])
    await page.context().close()
  }, 180_000)

  test('says without scripts where to read', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${server.url.origin}/api/v1/docs/console`)
    await page.getByRole('link', { name: 'The reference' }).click()
    expect(await page.locator('h1').innerText()).toBe('Store API')
    await context.close()
  }, 60_000)
})
