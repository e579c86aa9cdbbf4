import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSite } from '../site/site.ts'
import { hasChromium, launch, THEMES, violationsOf } from './chromium.ts'

/** One of each kind of page. */
const KINDS = {
  home: '/',
  area: '/help',
  docs: '/docs/getting-started/quick-start',
  reference: '/docs/api-reference/coupons',
  help: '/help/payments/taxes',
  blog: '/blog',
  post: '/blog/group-commit',
  release: '/changelog/2026-11-21-a-store-that-sells',
  pricing: '/pricing',
  search: '/search?q=coupon',
  missing: '/docs/api-reference/cupons',
}

let browser: Browser
/** Pages that are led from one address to the next: as on a desk, without scripts, and on a phone. */
let desk: Page
let scriptless: Page
let phone: Page
let complaints: string[] = []
let server: Bun.Server<undefined>
let manifest: Awaited<ReturnType<typeof openSite>>['manifest']
beforeAll(async () => {
  if (!hasChromium) return
  let site: Awaited<ReturnType<typeof openSite>> | undefined
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => site!.answer(request) })
  site = await openSite({ base: server.url.origin })
  manifest = site.manifest
  browser = await launch()
  desk = await openEmpty({ viewport: { width: 1280, height: 900 } })
  scriptless = await openEmpty({ javaScriptEnabled: false, viewport: PHONE })
  phone = await openEmpty({ viewport: PHONE })
  phone.on('console', (message) => {
    if (message.type() === 'error' && !/404/.test(message.text())) complaints.push(message.text())
  })
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await server?.stop(true)
})

const PHONE = { width: 360, height: 740 }
const openEmpty = async (options: BrowserContextOptions) => (await browser.newContext(options)).newPage()

/** A page of the site in a fresh profile; what its console complains of is an error. */
async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  const page = await context.newPage()
  page.on('pageerror', (error) => {
    throw error
  })
  await page.goto(server.url.origin + path, { waitUntil: 'load' })
  return page
}

const browserTests = describe.skipIf(!hasChromium)

browserTests.each(Object.entries(KINDS))('%s', (_, path) => {
  const to = (page: Page, waitUntil: 'load' | 'networkidle' = 'load') => page.goto(server.url.origin + path, { waitUntil })

  test('has nothing that axe minds, light or dark', async () => {
    await to(desk)
    if (path.includes('?q=')) await desk.waitForSelector('[data-search-results] a')
    for (const theme of THEMES) expect(await violationsOf(desk, theme)).toEqual([])
  })

  test('can be read without scripts', async () => {
    await to(scriptless)
    expect(await scriptless.locator('main h1').isVisible()).toBe(true)
    // The menu opens without them, too.
    expect(await scriptless.locator('button:visible:not(.open-menu, .shut)').count()).toBe(path === KINDS.missing ? 1 : 0)
    await scriptless.click('.open-menu')
    expect(await scriptless.locator('#menu a[href="/help"]').isVisible()).toBe(true)
  })

  test('does not scroll sideways on a phone, and loads nothing that its policy refuses', async () => {
    complaints = []
    await to(phone, 'networkidle')
    expect(await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    expect(complaints).toEqual([])
  })
})

browserTests('the search', () => {
  test.each(['/', 'Control+k'])('is a dialogue that %s opens; it finds while one types, and is walked by the arrow keys', async (key) => {
    const page = await open('/docs')
    const [field, first] = [page.locator('dialog input'), page.locator('dialog ol a').first()]
    await page.keyboard.press(key)
    await field.waitFor()
    await page.keyboard.type('how do I get my money back for free shipping')
    await first.waitFor()
    expect(await page.locator('dialog [role="status"]').textContent()).toMatch(/^\d+ passages?$/)
    expect(await page.locator('dialog ol small').first().textContent()).toMatch(/^(Documentation|How-to|Blog|Changelog|Pricing)( › .+)?$/)
    for (const theme of THEMES) expect(await violationsOf(page, theme)).toEqual([])
    await page.keyboard.press('ArrowDown')
    const href = await page.evaluate(() => (document.activeElement as HTMLAnchorElement).getAttribute('href'))
    expect(href).toMatch(/^\/(docs|help|blog|changelog|pricing)/)
    await page.keyboard.press('ArrowUp')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('find')
    await page.keyboard.press('Escape')
    expect(await field.isVisible()).toBe(false)
    await page.click('.find')
    await field.fill('coupon')
    await first.waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/coupon/)
    await page.context().close()
  })

  test('marks what is planned, and shows it behind what is there', async () => {
    const page = await open('/search?q=import+a+catalog+from+a+file')
    const planned = await page
      .locator('[data-search-results] li')
      .evaluateAll((items) => items.map((item) => item.querySelector('.badge') !== null))
    expect(planned).toContain(true)
    expect(planned[0]).toBe(false)
    await page.context().close()
  })

  test('an address finds again what was found, and tells when nothing is', async () => {
    const page = await open('/search?q=refund')
    await page.waitForSelector('[data-search-results] a')
    expect(await page.inputValue('#q')).toBe('refund')
    await page.fill('#q', 'xyzzyplugh')
    await page.waitForFunction(() => document.querySelector('[data-search-status]')?.textContent?.startsWith('Nothing'))
    await page.context().close()
  })
})

browserTests('the theme', () => {
  const background = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor)

  test('follows the system, can be chosen, and is there before the page is painted', async () => {
    const page = await open('/docs', { colorScheme: 'light' })
    const light = await background(page)
    const toggle = page.locator('[data-theme-toggle]')
    await toggle.click()
    await toggle.click()
    expect(await toggle.textContent()).toBe('Theme: dark')
    const dark = await background(page)
    expect(dark).not.toBe(light)
    await page.goto(`${server.url.origin}/pricing`, { waitUntil: 'commit' })
    await page.waitForSelector('h1')
    expect(await background(page)).toBe(dark)
    await toggle.click()
    expect(await background(page)).toBe(light)
    const system = await open('/docs', { colorScheme: 'dark' })
    expect(await background(system)).toBe(dark)
    await Promise.all([page.context().close(), system.context().close()])
  })
})

browserTests('a page', () => {
  test('code and the whole page can be copied', async () => {
    const page = await open(KINDS.docs, { permissions: ['clipboard-read', 'clipboard-write'] })
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText())
    const button = page.locator('article .copy').first()
    await button.click()
    await page.waitForFunction(() => document.querySelector('article .copy')?.textContent === 'Copied')
    expect(await clipboard()).toBe(await page.locator('article pre').first().textContent())
    await page.locator('[data-copy-page]').click()
    await page.waitForFunction(() => document.querySelector('[data-copy-page]')?.textContent === 'Copied')
    expect(await clipboard()).toMatch(/^# /)
    await page.context().close()
  })

  test('shows all of its code: no block is wider than its page, on a desk and on a phone', async () => {
    const paths = Object.keys(manifest.pages).filter((path) => /^\/(docs|help|blog|changelog)\//.test(path))
    expect(paths.length).toBeGreaterThan(190)
    let blocks = 0
    for (const width of [1280, 390]) {
      const page = await open(KINDS.docs, { viewport: { width, height: 900 } })
      for (const path of paths) {
        // The text of each page in the frame of one: a navigation takes ten times as long.
        const html = await (await fetch(server.url.origin + path)).text()
        const article = /<article[^]*<\/article>/.exec(html)![0]
        const wide = await page.evaluate((inner) => {
          document.querySelector('article')!.outerHTML = inner
          const all = [...document.querySelectorAll('article pre')]
          return {
            count: all.length,
            wide: all.filter((pre) => pre.scrollWidth > pre.clientWidth).map((pre) => pre.textContent!.slice(0, 80)),
          }
        }, article)
        blocks += wide.count
        expect([path, width, wide.wide]).toEqual([path, width, []])
      }
      await page.context().close()
    }
    expect(blocks).toBeGreaterThan(2_000)
  }, 60_000)

  test('says what each block of code is, and shows requests as curl or as TypeScript, whichever was chosen before', async () => {
    const page = await open('/docs/api-reference/carts')
    const heads = await page.locator('article .head .what:visible').allTextContents()
    expect(heads.slice(0, 2)).toEqual(['POST /carts', 'Answer 201'])
    const [sh, ts] = [page.locator('article .code.sh').first(), page.locator('article .code.ts').first()]
    expect([await sh.isVisible(), await ts.isVisible()]).toEqual([true, false])
    await sh.locator('[data-tab="ts"]').click()
    expect([await sh.isVisible(), await ts.isVisible()]).toEqual([false, true])
    expect(await ts.locator('pre').textContent()).toContain('await stoa.carts.create(')
    expect(await ts.locator('[data-tab="ts"]').getAttribute('aria-pressed')).toBe('true')
    for (const theme of THEMES) expect(await violationsOf(page, theme)).toEqual([])
    await page.goto(`${server.url.origin}/docs/api-reference/coupons`)
    expect(await page.locator('article .code.ts').first().isVisible()).toBe(true)
    await page.context().close()
    const without = await open('/docs/api-reference/carts', { javaScriptEnabled: false })
    expect([await without.locator('.code.sh').first().isVisible(), await without.locator('.code.ts').first().isVisible()]).toEqual([
      true,
      true,
    ])
    await without.context().close()
  })

  test('marks the section that is read, and has its own entry in view in the navigation', async () => {
    const page = await open('/docs/api-reference/webhooks', { viewport: { width: 1400, height: 700 } })
    expect(
      await page.locator('.side [aria-current="page"]').evaluate((link) => {
        const [own, around] = [link.getBoundingClientRect(), link.closest('nav')!.getBoundingClientRect()]
        return own.top >= around.top && own.bottom <= around.bottom
      }),
    ).toBe(true)
    const marked = () => page.locator('.contents [aria-current]').textContent()
    const before = await marked()
    const last = page.locator('.contents a').last()
    const name = await last.textContent()
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    await page.waitForFunction((text) => document.querySelector('.contents [aria-current]')?.textContent === text, name)
    expect(name).not.toBe(before)
    await page.context().close()
  })

  test('on a phone the navigation is one tap away, on every kind of page, and goes with a tap beside it', async () => {
    const page = await open(KINDS.home, { viewport: { width: 390, height: 844 }, hasTouch: true })
    for (const path of Object.values(KINDS)) {
      await page.goto(server.url.origin + path)
      expect(await page.locator('#menu').isVisible()).toBe(false)
      await page.tap('.open-menu')
      expect([path, await page.locator('#menu a[href="/docs"]').isVisible()]).toEqual([path, true])
      if (/^.(docs|help).\w+.\w/.test(path) && path !== KINDS.missing)
        expect(await page.locator('#menu [aria-current="page"]').count()).toBe(1)
      await page.touchscreen.tap(380, 600)
      await page.locator('#menu').waitFor({ state: 'hidden' })
      await page.tap('.open-menu')
      await page.tap('#menu .shut')
      await page.locator('#menu').waitFor({ state: 'hidden' })
    }
    for (const theme of THEMES) {
      await page.goto(server.url.origin + KINDS.reference)
      await page.tap('.open-menu')
      expect(await violationsOf(page, theme)).toEqual([])
    }
    await page.context().close()
  })

  test.each(['/docs', '/help'])('the index %s is at most three screens long', async (path) => {
    for (const [width, height] of [
      [1280, 900],
      [390, 844],
    ] as const) {
      const page = await open(path, { viewport: { width, height } })
      const screens = await page.evaluate(() => document.querySelector('main')!.getBoundingClientRect().height / innerHeight)
      expect([path, width, screens <= 3, screens]).toEqual([path, width, true, screens])
      await page.context().close()
    }
  })

  test('has its contents, the way to it, its neighbours and anchors', async () => {
    const page = await open(KINDS.reference)
    expect(await page.locator('.crumbs a').allTextContents()).toEqual(['Documentation', 'API reference'])
    expect(await page.locator('.side [aria-current="page"]').textContent()).toContain('Coupons')
    await page.locator('.contents a', { hasText: 'Fields' }).click()
    await page.waitForFunction(() => location.hash === '#fields')
    expect(await page.locator('#fields a.anchor').getAttribute('href')).toBe('#fields')
    const next = await page.locator('[rel="next"]').getAttribute('href')
    await page.locator('[rel="next"]').click()
    await page.waitForURL(`**${next}`)
    expect(await page.locator('[rel="prev"]').getAttribute('href')).toBe(KINDS.reference)
    await page.context().close()
  })

  test('on a phone its contents open above the text', async () => {
    const page = await open('/docs/api-reference/coupons', { viewport: { width: 390, height: 844 }, hasTouch: true })
    const link = page.locator('.contents a', { hasText: 'Fields' })
    expect(await link.isVisible()).toBe(false)
    await page.locator('.contents summary').click()
    expect(await link.isVisible()).toBe(true)
    const [contents, text] = [await page.locator('.contents').boundingBox(), await page.locator('#fields').boundingBox()]
    expect(contents!.y + contents!.height).toBeLessThan(text!.y)
    await page.context().close()
  })

  test('the content is one step away for who uses the keyboard', async () => {
    const page = await open(KINDS.docs)
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => location.hash === '#content')
    await page.context().close()
  })
})
