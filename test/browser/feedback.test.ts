/** A review in a browser: the link is opened, comments are pinned by mouse, touch and keyboard, and what was sent can only be read. */
import type { Browser, BrowserContext, FrameLocator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openShop, type PublishedShop } from '../builder/published.ts'
import { hasChromium, launch, THEMES, violationsOf } from './chromium.ts'

describe.skipIf(!hasChromium)('a review in a browser', () => {
  let shop: PublishedShop
  let browser: Browser
  let id: string
  let link: string

  const one = async (path = '', method = 'GET') => (await shop.call(method, `/feedback-sessions${path}`)).body
  async function until(status: string) {
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(100)) {
      const now = await one(`/${id}`)
      if (now.status === status) return now
      if (now.status === 'interrupted') throw new Error(now.errorMessage)
    }
    throw new Error(`it does not become ${status}`)
  }

  beforeAll(async () => {
    shop = await openShop({ products: 3 })
    ;({ id, feedbackUrl: link } = await one('', 'POST'))
    browser = await launch()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await shop?.close()
  })

  interface Opened {
    page: Page
    context: BrowserContext
    wrong: string[]
    preview: FrameLocator
  }

  async function opened(options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> {
    const context = await browser.newContext({ viewport: { width: 1700, height: 900 }, ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(6_000)
    const wrong: string[] = []
    page.on('pageerror', (error) => wrong.push(error.message))
    page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()))
    await page.goto(link)
    return { page, context, wrong, preview: page.frameLocator('#preview') }
  }
  const said = (page: Page) => page.locator('#said')
  const entries = (page: Page) => page.locator('#comments li')
  /** Waits until the preview has told which page it shows. */
  const at = (page: Page, path: string) => page.locator('#path', { hasText: new RegExp(`^${path}$`) }).waitFor()
  async function write(page: Page, text: string, author = '') {
    await page.getByLabel('Your comment').fill(text)
    if (author) await page.getByLabel('Your name').fill(author)
    const before = await entries(page).count()
    await page.getByRole('button', { name: 'Add the comment' }).click()
    await expect.poll(() => entries(page).count()).toBe(before + 1)
  }

  test('opens while the preview is being made, and shows it when it is ready', async () => {
    const { page, context, wrong } = await opened()
    await until('in_progress')
    await page.reload()
    await at(page, '/')
    expect(await page.title()).toBe('Review of Shop shop')
    // Nothing of the link reaches the preview.
    const referrer = await page.frames()[1]!.evaluate(() => document.referrer)
    expect(referrer).toBe('')
    expect(wrong).toEqual([])
    await context.close()
  }, 60_000)

  test('pins a comment by a click, on the page that the reviewer has gone to, and shows it there again', async () => {
    const { page, context, wrong, preview } = await opened()
    await at(page, '/')
    await preview.locator('main a[href^="/products/"]').first().click()
    await page.locator('#path', { hasText: /^\/products\// }).waitFor()
    const path = (await page.locator('#path').textContent())!
    await page.getByRole('button', { name: 'Pin a comment' }).click()
    // While one picks, nothing of the page happens: this is a link.
    await preview.locator('h1').click({ position: { x: 10, y: 5 } })
    expect(await page.locator('#about').textContent()).toMatch(/^On \/products\/\S+: heading “.+”$/)
    await write(page, 'Make it <b>bigger</b>.', 'Ada')
    expect(await entries(page).textContent()).toContain('1. Ada')
    expect(await entries(page).locator('.text').textContent()).toBe('Make it <b>bigger</b>.')
    const pin = preview.locator('stoa-review .pin')
    await pin.waitFor()
    const [mark, heading] = await preview.locator('h1').evaluate((h1) => {
      const shown = document.querySelector('stoa-review')!.shadowRoot!.querySelector('.pin')!
      return [shown, h1].map((one) => one.getBoundingClientRect().toJSON() as DOMRect) as [DOMRect, DOMRect]
    })
    const [x, y] = [(mark.left + mark.right) / 2 - heading.left, (mark.top + mark.bottom) / 2 - heading.top]
    const [{ pin: kept }] = (await (await fetch(`${link}/comments`)).json()).data
    expect(Math.abs(kept.x * heading.width - x)).toBeLessThan(2)
    expect(Math.abs(kept.y * heading.height - y)).toBeLessThan(2)
    // From another page the list leads back to it.
    await preview.locator('header a[href="/"]').first().click()
    await at(page, '/')
    expect(await pin.count()).toBe(0)
    await page.getByRole('button', { name: 'Show comment 1' }).click()
    await at(page, path)
    await preview.locator('stoa-review .pin[data-shown]').click()
    expect(await page.evaluate(() => document.activeElement?.id)).toMatch(/^comment-/)
    expect(wrong).toEqual([])
    await context.close()
  }, 60_000)

  test('pins a comment with the keyboard alone', async () => {
    const { page, context, wrong } = await opened()
    await at(page, '/')
    await page.getByRole('button', { name: 'Pin a comment' }).focus()
    await page.keyboard.press('Enter')
    const status = page.frameLocator('#preview').locator('stoa-review .said')
    await status.waitFor()
    await page.keyboard.press('End')
    await page.keyboard.press('Home')
    for (let i = 0; i < 60 && !(await status.textContent())?.startsWith('heading'); i++)
      await page.keyboard.press(i % 2 ? 'Tab' : 'ArrowDown')
    const picked = (await status.textContent())!
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content')
    expect(picked).toContain((await page.locator('#about').textContent())!.slice('On /: '.length))
    await page.keyboard.type('Nicely put')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => entries(page).count()).toBe(2)
    // Escape leaves the mode from wherever the focus is.
    await page.getByRole('button', { name: 'Pin a comment' }).press('Enter')
    await status.waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('#pick').getAttribute('aria-pressed')).toBe('false')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('pick')
    expect(wrong).toEqual([])
    await context.close()
  }, 60_000)

  test('works on a phone: by touch, without scrolling sideways, in the width of any device', async () => {
    const { page, context, wrong, preview } = await opened({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
    await at(page, '/')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    expect(await page.locator('#width-phone').isChecked()).toBe(true)
    const width = () => preview.locator('html').evaluate(() => innerWidth)
    expect(await width()).toBe(390)
    await page.getByText('Tablet').click()
    await expect.poll(width).toBe(820)
    await page.getByText('Desktop').click()
    await expect.poll(width).toBe(1280)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    // What is shown smaller is picked where it is seen.
    await page.getByRole('button', { name: 'Pin a comment' }).tap()
    const [left, top] = await preview
      .locator('main h2:not(.hidden)')
      .first()
      .evaluate((heading) => {
        heading.scrollIntoView({ block: 'center' })
        const box = heading.getBoundingClientRect()
        return [box.left + 10, box.top + box.height / 2]
      })
    const stage = (await page.locator('#stage').boundingBox())!
    await page.touchscreen.tap(stage.x + (left! * stage.width) / 1280, stage.y + 1 + (top! * stage.width) / 1280)
    await page.locator('#about', { hasText: 'On /: heading “' }).waitFor()
    await page.getByRole('button', { name: 'Leave it' }).tap()
    await page.getByText('Phone').click()
    await expect.poll(width).toBe(390)
    await page.getByRole('button', { name: 'Pin a comment' }).tap()
    await preview.locator('main h2:not(.hidden)').first().tap()
    await page.locator('#about').waitFor()
    await write(page, 'From a phone')
    await page.getByRole('button', { name: 'Comment on the whole page' }).tap()
    expect(await page.locator('#about').textContent()).toBe('On /, as a whole')
    await page.getByRole('button', { name: 'Leave it' }).tap()
    expect(wrong).toEqual([])
    await context.close()
  }, 60_000)

  test('lets a reviewer delete what is their own, and nobody else', async () => {
    const { page, context, wrong } = await opened()
    await at(page, '/')
    await page.getByRole('button', { name: 'Comment on the whole page' }).click()
    await write(page, 'Never mind')
    const count = await entries(page).count()
    expect(await page.getByRole('button', { name: /^Delete/ }).count()).toBe(1)
    await page.reload()
    await page.getByRole('button', { name: `Delete comment ${count}` }).click()
    await expect.poll(() => entries(page).count()).toBe(count - 1)
    expect(await said(page).textContent()).toBe('Your comment is gone.')
    expect(await page.evaluate(() => document.cookie)).toBe('')
    expect(wrong).toEqual([])
    await context.close()
  })

  test('takes no messages but those of the preview', async () => {
    const { page, context, preview } = await opened()
    await at(page, '/')
    await page.evaluate(() => postMessage({ kind: 'page', path: '/forged' }, '*'))
    await preview.locator('html').evaluate(() => {
      for (const data of [
        null,
        'page',
        { kind: 'page', path: 'https://evil.example/' },
        { kind: 'picked', pin: { selector: 1 } },
        { kind: 'chosen', id: {} },
      ])
        parent.postMessage(data, '*')
      // What is picked while nobody asked for it is not taken either.
      const pin = { selector: 'h1', x: 0, y: 0, viewportWidth: 1, element: 'forged' }
      parent.postMessage({ kind: 'picked', pin }, '*')
      // And the preview listens to its parent alone.
      postMessage({ kind: 'pins', pins: [{ id: 'a', number: 99, selector: 'h1', x: 0, y: 0 }] }, '*')
    })
    await page.waitForTimeout(200)
    expect(await page.locator('#path').textContent()).toBe('/')
    expect(await page.locator('#compose').isHidden()).toBe(true)
    expect(await preview.locator('stoa-review .pin', { hasText: '99' }).count()).toBe(0)
    await context.close()
  })

  test('has nothing that axe minds, in either theme, at work and on a phone', async () => {
    for (const theme of THEMES)
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 390, height: 844 },
      ]) {
        const { page, context } = await opened({ viewport, colorScheme: theme })
        await at(page, '/')
        await page.getByRole('button', { name: 'Comment on the whole page' }).click()
        expect(await violationsOf(page, theme)).toEqual([])
        await page.getByRole('button', { name: 'Leave it' }).click()
        await page.getByRole('button', { name: 'Send the review' }).click()
        expect(await violationsOf(page, theme)).toEqual([])
        await context.close()
      }
  }, 60_000)

  test('is sent, made into tasks, and can only be read then', async () => {
    const { page, context, wrong } = await opened()
    const other = await opened()
    await at(page, '/')
    await at(other.page, '/')
    await page.getByRole('button', { name: 'Send the review' }).click()
    await page.getByRole('button', { name: 'Not yet' }).click()
    expect((await one(`/${id}`)).status).toBe('in_progress')
    await page.getByRole('button', { name: 'Send the review' }).click()
    await page.getByRole('button', { name: 'Send it' }).click()
    await page.getByText('This review was sent.').waitFor()
    const readOnly = async (at: Page) => {
      await expect.poll(() => entries(at).count()).toBe(3)
      for (const name of ['Pin a comment', 'Send the review', /^Delete/]) expect(await at.getByRole('button', { name }).count()).toBe(0)
    }
    await readOnly(page)
    await at(page, '/')
    await page.frameLocator('#preview').locator('stoa-review .pin').first().waitFor()
    // Whoever had it open sees it at the next look.
    await other.page.getByText('This review was sent.').waitFor({ timeout: 20_000 })
    await readOnly(other.page)
    await one(`/${id}/process`, 'POST')
    await until('in_review')
    const { data } = await one(`/${id}/comments`)
    expect(data.map(({ taskInstruction }: any) => taskInstruction)).toEqual([
      expect.stringMatching(/^On the page \/products\/\S+, for the heading “.+”: Make it <b>bigger<\/b>\.$/),
      expect.stringMatching(/^On the home page.*, for the heading “.+”: Nicely put\.$/),
      expect.stringMatching(/^On the home page, as phones show it, for the heading “.+”: From a phone\.$/),
    ])
    await page.reload()
    await readOnly(page)
    for (const theme of THEMES) expect(await violationsOf(page, theme)).toEqual([])
    await one(`/${id}/finalize`, 'POST')
    await page.reload()
    await page.getByText('This review is done.').waitFor()
    await readOnly(page)
    expect(await page.locator('iframe').count()).toBe(0)
    for (const theme of THEMES) expect(await violationsOf(page, theme)).toEqual([])
    expect([...wrong, ...other.wrong]).toEqual([])
    await context.close()
    await other.context.close()
  }, 60_000)
})
