/**
 * `npm run previews`: draws the pictures that stand for the site's areas where its addresses are shared (Open Graph), with Chromium, into
 * `site/public/previews/`. They are kept with the sources: a build needs no browser and no fonts.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { PREVIEW, PREVIEWS } from '../site/lib/previews.ts'

const FOLDER = new URL('../site/public/previews/', import.meta.url).pathname
const MARK = 'M16 3 3 9v3h26V9zM6 14h4v11H6zm8 0h4v11h-4zm8 0h4v11h-4zM4 27h24v3H4z'

const drawn = (title: string, text: string) => `<!doctype html><meta charset="utf-8"><style>
  body { margin: 0; width: ${PREVIEW.width}px; height: ${PREVIEW.height}px; display: flex; flex-direction: column; justify-content: space-between;
    box-sizing: border-box; padding: 76px 84px; background: #161412; color: #ece7dd; font-family: Georgia, 'DejaVu Serif', serif; }
  header { display: flex; align-items: center; gap: 22px; font-size: 44px; }
  svg { fill: #eeb08a; } h1 { font-size: 78px; line-height: 1.12; margin: 0 0 26px; font-weight: 600; }
  p { margin: 0; font: 34px/1.45 system-ui, 'DejaVu Sans', sans-serif; color: #aca497; }
</style><header><svg viewBox="0 0 32 32" width="62" height="62"><path d="${MARK}"/></svg>Stoa</header><main><h1>${title}</h1><p>${text}</p></main>`

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
})
try {
  mkdirSync(FOLDER, { recursive: true })
  const page = await browser.newPage({ viewport: PREVIEW })
  for (const [name, { title, text }] of Object.entries(PREVIEWS)) {
    await page.setContent(drawn(title, text))
    await page.screenshot({ path: join(FOLDER, `${name}.png`) })
  }
} finally {
  await browser.close()
}
