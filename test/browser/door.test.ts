/** The scanner of a door in a browser: a camera that sees a ticket, a line that is cut, a key that is forgotten. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import encodeQR from 'qr'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folderFor } from '../folder.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'
import { hasChromium, launch, THEMES, violationsOf } from './chromium.ts'

const EMAIL = 'grace@example.com'
let app: TestApp
let shop: Shop
let server: Bun.Server<undefined>
let browser: Browser
let tokens: string[]
let key: string

/** A film of one picture, as Chromium's fake camera plays it: 640 by 480, in grey. */
function film(text: string): Uint8Array {
  const [width, height, module] = [640, 480, 8]
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 4 })
  const [left, top] = [(width - rows.length * module) / 2, (height - rows.length * module) / 2].map(Math.round) as [number, number]
  const grey = Buffer.alloc(width * height, 235)
  for (const [y, row] of rows.entries())
    for (const [x, dark] of row.entries())
      if (dark)
        for (let k = 0; k < module; k++)
          grey.fill(16, (top + y * module + k) * width + left + x * module, (top + y * module + k) * width + left + (x + 1) * module)
  const frame = Buffer.concat([Buffer.from('FRAME\n'), grey, Buffer.alloc((width * height) / 2, 128)])
  return Buffer.concat([Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`), frame, frame])
}

beforeAll(async () => {
  if (!hasChromium) return
  app = await testApp()
  shop = await newShop(app)
  const { event } = made(await shop.post('/events', { name: 'Mending workshop', slug: 'mending', price: '25' }))
  const variantId = made(await shop.get(`/products/${event.id}`)).variants[0].id
  const order = await shop.buy({ items: [{ variantId, quantity: 4 }], email: EMAIL, name: 'Grace Hopper' })
  tokens = made(await shop.get(`/tickets/${order.accessCode}?email=${EMAIL}`)).lines[0].seats.map(({ token }: any) => token)
  key = await shop.keyWith('events:read', 'events:write')
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => app.app.fetch(request) })
  const seen = join(folderFor('film'), 'ticket.y4m')
  writeFileSync(seen, film(tokens[0]!))
  browser = await launch([
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    `--use-file-for-fake-video-capture=${seen}`,
  ])
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await server?.stop(true)
  await app?.close()
})

/** The page of the door on a phone; what it complains of. */
async function open(options: { camera: boolean; colorScheme?: 'light' | 'dark' }) {
  const context = await browser.newContext({
    ...{ viewport: { width: 390, height: 844 }, permissions: options.camera ? ['camera'] : [] },
    colorScheme: options.colorScheme ?? 'light',
  })
  if (!options.camera)
    await context.addInitScript(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new Error('there is none'))
    })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // A line that is cut is an error of the network, which browsers write down.
    if (message.type() === 'error' && !message.text().includes('ERR_INTERNET_DISCONNECTED')) complaints.push(message.text())
  })
  await page.goto(`http://127.0.0.1:${server.port}/door/mending`)
  return { context, page, complaints }
}
async function begin(page: Page, secret = key) {
  await page.getByLabel('Key').fill(secret)
  await page.getByLabel('Name of this door').fill('East')
  await page.getByRole('button', { name: 'Open the door' }).click()
}
const verdict = (page: Page) => page.locator('#verdict')
async function type(page: Page, text: string) {
  await page.getByLabel('Name, address or code').fill(text)
  await page.getByRole('button', { name: 'Find' }).click()
}
const roster = async () => made(await shop.get('/events/mending/checkins'))
/** What the browser keeps of the page. */
const kept = (page: Page) =>
  page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage, cookie: document.cookie, url: location.href }))
const stop = async (context: BrowserContext) => {
  for (const page of context.pages()) await page.close({ runBeforeUnload: false })
  await context.close()
}

describe.runIf(hasChromium)('the door', () => {
  test('reads a ticket by the camera, once, and shows big green', async () => {
    const { context, page, complaints } = await open({ camera: true })
    await begin(page)
    await verdict(page).waitFor()
    expect(await verdict(page).getAttribute('data-state')).toBe('welcome')
    expect(await verdict(page).textContent()).toContain('Grace Hopper')
    expect(await roster()).toMatchObject({ checkedIn: 1, attendees: [{ token: tokens[0], checkedInBy: 'East' }, {}, {}, {}] })
    expect(await page.locator('#count').textContent()).toBe('1 of 4 in')
    // However long the ticket is held before the camera, it is one scan.
    await page.waitForTimeout(4_500)
    expect(await page.locator('#history li').count()).toBe(1)
    expect(await kept(page)).not.toContain(key)
    expect(complaints).toEqual([])
    await stop(context)
  })

  test('takes typed codes and names, and sends a guest back', async () => {
    const { context, page, complaints } = await open({ camera: false })
    await begin(page)
    await page.locator('#no-camera').waitFor()
    await type(page, tokens[1]!)
    await verdict(page).waitFor()
    expect(await verdict(page).getAttribute('data-state')).toBe('welcome')
    await verdict(page).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('taken back').waitFor()
    expect((await roster()).checkedIn).toBe(1)
    await type(page, 'nobody')
    await page.getByText('Nobody has a name').waitFor()
    await page.getByLabel('Name, address or code').fill('hopp')
    await page.locator('#found').getByRole('button', { name: 'Check in' }).first().click()
    await verdict(page).waitFor()
    expect((await roster()).checkedIn).toBe(2)
    expect(complaints).toEqual([])
    await stop(context)
  })

  test('goes on when the line is cut, and each scan counts once when it is back', async () => {
    const { context, page, complaints } = await open({ camera: false })
    await begin(page)
    await page.locator('#no-camera').waitFor()
    const before = (await roster()).checkedIn
    const left = (await roster()).attendees.filter(({ checkedInAt }: any) => checkedInAt === null)
    await context.setOffline(true)
    for (const { token } of left) {
      await type(page, token)
      await verdict(page).waitFor()
      expect(await verdict(page).textContent()).toContain('Offline: kept')
      await verdict(page).click()
    }
    await type(page, 'A'.repeat(44))
    await page.getByText('Not in the list').first().waitFor()
    expect(await page.locator('#line').textContent()).toBe(`${left.length} to be sent`)
    expect((await roster()).checkedIn).toBe(before)
    await context.setOffline(false)
    await page.getByText('Online', { exact: true }).waitFor({ timeout: 15_000 })
    expect((await roster()).checkedIn).toBe(4)
    // What was let in offline can be taken back as well, once the server has it.
    expect(await page.locator('#history').getByRole('button', { name: 'Undo' }).count()).toBe(left.length)
    expect(await kept(page)).not.toContain(left[0].token)
    expect(complaints).toEqual([])
    await stop(context)
  }, 60_000)

  test('says what is wrong with a key, and forgets it', async () => {
    const { context, page } = await open({ camera: false })
    await begin(page, 'sk-l-nothing')
    await expect.poll(() => page.locator('#start-error').textContent()).not.toBe('')
    await begin(page)
    await page.locator('#no-camera').waitFor()
    expect(await kept(page)).not.toContain(key)
    await page.reload()
    expect(await page.getByLabel('Key').inputValue()).toBe('')
    await stop(context)
  })

  test('has nothing that axe minds, in either theme, before and at work', async () => {
    for (const theme of THEMES) {
      const { context, page } = await open({ camera: false, colorScheme: theme })
      expect(await violationsOf(page, theme)).toEqual([])
      await begin(page)
      await page.locator('#no-camera').waitFor()
      await type(page, 'A'.repeat(44))
      await verdict(page).waitFor()
      expect(await violationsOf(page, theme)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
      await stop(context)
    }
  })
})
