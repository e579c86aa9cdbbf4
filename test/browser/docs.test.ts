/** The reference page of the store API, as a browser shows it: for everybody, without scripts, on any screen. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { docsPage } from '../../api/openapi/docs-page.ts'
import { testApp } from '../harness.ts'

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe.skipIf(!existsSync(EXECUTABLE))('the reference page of the store API', () => {
  let browser: Browser
  let page: string
  beforeAll(async () => {
    const app = await testApp()
    // One room: axe takes a minute for the whole API.
    page = docsPage((await app.send('GET', '/openapi?tag=store')).body).html
    await app.close()
    browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-gpu'] })
  }, 60_000)
  afterAll(() => browser?.close())

  test.each(['light', 'dark'] as const)(
    'has nothing that axe minds, %s',
    async (colorScheme) => {
      const tab = await browser.newPage({ colorScheme })
      await tab.setContent(page)
      await tab.addScriptTag({ content: AXE })
      const found = await tab.evaluate<{ id: string }[]>(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`)
      expect(found.map(({ id }) => id)).toEqual([])
    },
    60_000,
  )

  test('is no wider than a phone', async () => {
    const tab = await browser.newPage({ viewport: { width: 360, height: 800 } })
    await tab.setContent(page)
    expect(await tab.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  }, 60_000)
})
