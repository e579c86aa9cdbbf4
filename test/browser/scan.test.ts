import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { http, openScanner, rawShop, type RawShop } from '../analyses/scanner.ts'
import { hasChromium, launch, THEMES, violationsOf } from './chromium.ts'

const fixture = (name: string) =>
  readFileSync(new URL(`../analyses/fixtures/${name}.http`, import.meta.url), 'utf8')
    .split('\n\n')
    .slice(1)
    .join('\n\n')
const PHONE = { width: 390, height: 844 }
const DESK = { width: 1280, height: 900 }

let browser: Browser
let server: Bun.Server<undefined>
let shop: RawShop
let scanner: Awaited<ReturnType<typeof openScanner>> | undefined
beforeAll(async () => {
  if (!hasChromium) return
  shop = await rawShop((socket, { path }) => {
    if (path === '/robots.txt')
      return socket.end(http('User-agent: GPTBot\nUser-agent: OAI-SearchBot\nDisallow: /\n', { 'content-type': 'text/plain' }))
    if (/llms|sitemap/.test(path)) return socket.end(http('', {}, '404 Not Found'))
    const apps = ['judge-me', 'klaviyo'].map((id) => fixture(`plugins/${id}`)).join('')
    socket.end(
      http(
        fixture('platforms/shopify').replace('</head>', () => `${apps}</head>`),
        { 'powered-by': 'Shopify', 'x-shopid': '1' },
      ),
    )
  })
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => scanner!.front.answer(request) })
  scanner = await openScanner({ FETCH_ALLOW: `127.0.0.1:${shop.port}` })
  browser = await launch()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await server?.stop(true)
  await scanner?.stop()
  await shop?.close()
})

const address = () => `http://127.0.0.1:${shop.port}/`
async function open(path: string, options: object = {}): Promise<Page> {
  // Each test is a visitor of its own: they have ten scans a minute.
  const visitor = { 'x-forwarded-for': `203.0.113.${Math.floor(Math.random() * 250)}` }
  const page = await (await browser.newContext({ viewport: DESK, extraHTTPHeaders: visitor, ...options })).newPage()
  page.on('pageerror', (error) => {
    throw error
  })
  await page.goto(server.url.origin + path)
  return page
}

describe.skipIf(!hasChromium)('the store scan in a browser', () => {
  test.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('%s, an address that is typed becomes a report', async (_, javaScriptEnabled) => {
    const page = await open('/scan', { javaScriptEnabled })
    await page.getByLabel('Address of a shop').fill(address())
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/scan\?url=/)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain(`127.0.0.1:${shop.port}`)
    expect(await page.getByLabel('Address of a shop').inputValue()).toBe(address())
    const text = await page.locator('main').innerText()
    for (const part of ['Shopify', 'Judge.me', 'Klaviyo', 'What to do first', 'OAI-SearchBot', 'Disallow: /']) expect(text).toContain(part)
    // The same as JSON and as Markdown, by its links.
    const json = await page.getByRole('link', { name: 'as JSON' }).first().getAttribute('href')
    expect(await (await fetch(server.url.origin + json)).json()).toMatchObject({ platform: { id: 'shopify' }, cached: true })
    const markdown = await page.getByRole('link', { name: 'as Markdown', exact: true }).getAttribute('href')
    expect(await (await fetch(server.url.origin + markdown)).text()).toMatch(/^# Store scan: /)
    await page.context().close()
  })

  test('what is wrong with an address is told beside it', async () => {
    const page = await open('/scan?url=localhost')
    expect(await page.getByRole('alert').innerText()).toContain('no ending of the public internet')
    expect(await page.getByLabel('Address of a shop').getAttribute('aria-invalid')).toBe('true')
    await page.context().close()
  })

  test.each(['/scan', '/scan?url=localhost', 'report'])(
    'axe minds nothing of %s, in both themes, and nothing is wider than a phone',
    async (path) => {
      const target = path === 'report' ? `/scan?url=${encodeURIComponent(address())}` : path
      for (const viewport of [DESK, PHONE]) {
        const page = await open(target, { viewport })
        for (const theme of THEMES) expect(await violationsOf(page, theme)).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(viewport.width)
        await page.context().close()
      }
    },
    60_000,
  )
})
