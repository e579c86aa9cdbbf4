/**
 * `npm run previews`: draws with Chromium what the site shows of itself, into `site/public/`: the pictures that stand for its areas where
 * their addresses are shared (Open Graph), the demo shop in the light and in the dark, and the mark. They are kept with the sources: a
 * build needs no browser.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'
import sharp from 'sharp'
import { MARK } from '../site/lib/mark.ts'
import { darkOf, PICTURES, PREVIEW, PREVIEWS } from '../site/lib/previews.ts'

const PUBLIC = new URL('../site/public/', import.meta.url).pathname
const HEADINGS = new URL('../node_modules/@fontsource/fraunces/files/fraunces-latin-600-normal.woff2', import.meta.url).pathname
const OPEN_WITHIN_MS = 180_000
const QUALITY = 72

const font = () => `data:font/woff2;base64,${readFileSync(HEADINGS).toString('base64')}`
const drawn = (title: string, text: string) => `<!doctype html><meta charset="utf-8"><style>
  @font-face { font-family: Headings; src: url(${font()}) }
  body { margin: 0; width: ${PREVIEW.width}px; height: ${PREVIEW.height}px; display: flex; flex-direction: column; justify-content: space-between;
    box-sizing: border-box; padding: 76px 84px; background: #161412; color: #ece7dd; font-family: Headings; }
  header { display: flex; align-items: center; gap: 22px; font-size: 46px; }
  svg { fill: #eeb08a; } h1 { font-size: 78px; line-height: 1.12; margin: 0 0 26px; font-weight: 600; }
  p { margin: 0; font: 34px/1.45 system-ui, 'DejaVu Sans', sans-serif; color: #aca497; }
</style><header><svg viewBox="0 0 32 32" width="62" height="62"><path d="${MARK}"/></svg>Stoa</header><main><h1>${title}</h1><p>${text}</p></main>`

async function drawAreas(browser: Browser) {
  const folder = join(PUBLIC, 'previews')
  mkdirSync(folder, { recursive: true })
  const page = await browser.newPage({ viewport: PREVIEW })
  for (const [name, { title, text }] of Object.entries(PREVIEWS)) {
    await page.setContent(drawn(title, text))
    await page.evaluate(() => document.fonts.ready)
    await page.screenshot({ path: join(folder, `${name}.png`) })
  }
}

/** The address of a demo shop that was made for this, once it is open. */
async function openShop(dataDir: string) {
  const env = { ...process.env, DATA_DIR: dataDir, API_PORT: '0', SITE_PORT: '0', LOG: 'silent' }
  const server = Bun.spawn([process.execPath, new URL('start.ts', import.meta.url).pathname], { env, stdout: 'pipe', stderr: 'inherit' })
  const deadline = setTimeout(() => server.kill(), OPEN_WITHIN_MS)
  let said = ''
  for await (const part of server.stdout.pipeThrough(new TextDecoderStream())) {
    said += part
    const [, url] = /^Demo shop is open {2}(\S+)$/m.exec(said) ?? []
    if (!url) continue
    clearTimeout(deadline)
    return { url, server }
  }
  throw new Error(`the demo shop does not open:\n${said}`)
}

async function drawShop(browser: Browser) {
  mkdirSync(join(PUBLIC, 'pictures'), { recursive: true })
  const dataDir = mkdtempSync(join(tmpdir(), 'stoa-previews-'))
  const { url, server } = await openShop(dataDir)
  try {
    for (const [file, { width, height, path }] of Object.entries(PICTURES))
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' })
        await page.goto(url + path, { waitUntil: 'networkidle' })
        const shot = await page.screenshot()
        await sharp(shot)
          .webp({ quality: QUALITY })
          .toFile(join(PUBLIC, colorScheme === 'dark' ? darkOf(file) : file))
        await page.close()
      }
  } finally {
    server.kill()
    await server.exited
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
})
try {
  writeFileSync(
    join(PUBLIC, 'favicon.svg'),
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>path{fill:#8a3b12}@media(prefers-color-scheme:dark){path{fill:#eeb08a}}</style><path d="${MARK}"/></svg>\n`,
  )
  await drawAreas(browser)
  await drawShop(browser)
} finally {
  await browser.close()
}
