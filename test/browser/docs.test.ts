/** The reference page of the store API, as a browser shows it: for everybody, without scripts, on any screen. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { docsPage } from '../../api/openapi/docs-page.ts'
import { testApp } from '../harness.ts'
import { hasChromium, launch, THEMES, violationsOf } from './chromium.ts'

describe.skipIf(!hasChromium)('the reference page of the store API', () => {
  let browser: Browser
  let page: string
  beforeAll(async () => {
    const app = await testApp()
    // One room: axe takes a minute for the whole API.
    page = docsPage((await app.send('GET', '/openapi?tag=store')).body).html
    await app.close()
    browser = await launch()
  }, 60_000)
  afterAll(() => browser?.close())

  test('has nothing that axe minds, light or dark', async () => {
    const tab = await browser.newPage()
    await tab.setContent(page)
    for (const theme of THEMES) expect(await violationsOf(tab, theme)).toEqual([])
  }, 60_000)

  test('is no wider than a phone', async () => {
    const tab = await browser.newPage({ viewport: { width: 360, height: 800 } })
    await tab.setContent(page)
    expect(await tab.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  }, 60_000)
})
