/** Hostile rich text in a real browser: as the HTML and the Markdown of a post, and in a mail. */
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filled } from '../../api/content/mails/template.ts'
import { richTextHtml, richTextMarkdown } from '../../api/values/rich-text/render.ts'
import { HOSTILE } from '../content/hostile-text.ts'
import { hasChromium, launch } from './chromium.ts'

const SHOP = 'https://shop.example/'
let browser: Browser
beforeAll(async () => {
  if (hasChromium) browser = await launch()
})
afterAll(() => browser?.close())

const careless = (markdown: string) =>
  micromark(markdown, { allowDangerousHtml: true, allowDangerousProtocol: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] })
/** The words of a document as the name of a buyer, and as a template that a merchant has pasted. */
const mailed = (document: object) => {
  const words = JSON.stringify(document)
  return filled(
    { subject: '{{name}}', body: `Hello {{name}}, [{{name}}]({{name}}) ![{{name}}]({{name}} "{{name}}")\n\n${words}` },
    { name: words },
  ).html
}

test.runIf(hasChromium)(
  'runs no script, frames nothing, asks nobody but for pictures',
  async () => {
    const page = await (await browser.newContext()).newPage()
    const ran: string[] = []
    page.on('dialog', (dialog) => {
      ran.push(`a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    await page.route('**/*', (route) => {
      const request = route.request()
      if (request.url() === SHOP) return route.fulfill({ contentType: 'text/html', body: '<!doctype html>' })
      if (request.resourceType() !== 'image' || request.frame() !== page.mainFrame()) ran.push(`${request.resourceType()} ${request.url()}`)
      return route.abort()
    })
    // Addresses without a scheme lead somewhere in the shop.
    await page.goto(SHOP)
    const found: string[] = []
    for (const [name, document] of HOSTILE)
      for (const html of [richTextHtml(document), careless(richTextMarkdown(document)), mailed(document)]) {
        await page.setContent(`<!doctype html><meta charset="utf-8"><main>${html}</main>`, { waitUntil: 'domcontentloaded' })
        const problems = await page.evaluate<string[]>(`(() => {
        const bad = [...document.querySelectorAll('script,style,iframe,frame,object,embed,svg,math,form,link,base,template')]
        const handlers = [...document.querySelectorAll('*')].flatMap((element) =>
          element.getAttributeNames().filter((name) => /^(on|style$|srcdoc$|srcset$|formaction$)/.test(name) && element.tagName !== 'TD').map((name) => element.tagName + ' ' + name))
        const links = [...document.querySelectorAll('a[href],area[href]')].filter((a) => !/^(https?|mailto|tel):/i.test(a.href))
        return [...bad.map((element) => element.tagName), ...handlers, ...links.map((a) => a.href)]
      })()`)
        found.push(...problems.map((problem) => `${name}: ${problem}`))
      }
    expect(found).toEqual([])
    expect(ran).toEqual([])
  },
  60_000,
)
