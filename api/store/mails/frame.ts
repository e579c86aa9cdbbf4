/** The page around the words of a mail: in the looks of the store, as mail programs need it (tables, styles at each element). */
import type { Reader } from '../../../db/driver.ts'
import type { Settings } from '../../http/route.ts'
import { escapeHtml, Html, html } from '../../values/html.ts'
import { readLooks, type Looks } from './looks.ts'
import { postalAddress } from './sender.ts'

interface Framed {
  /** BCP 47. */
  language: string
  /** The words, as HTML in which everything foreign is escaped. */
  body: string
  /** The home page of the shop, to which the head leads; null while it has none. */
  home: string | null
  /** What is said below, above the address. */
  reason?: Html
}

/** A link that looks like a button, in a paragraph of its own. */
export const button = (url: string, words: string): Html => html`<p><a class="button" href="${url}">${words}</a></p>`

/** Mail programs have styles of their own for links, headings and paragraphs, and show images as large as they are. */
function dressed(body: string, { colors }: Looks, heading: string): string {
  const pressed = `display:inline-block;padding:12px 22px;border-radius:8px;background:${colors.accent};color:${colors.onAccent};font-weight:600;text-decoration:none`
  return body
    .replace(/<a class="button" (?=href=)/g, `<a style="${pressed}" `)
    .replace(/<a (?=href=)/g, `<a style="color:${colors.accent}" `)
    .replace(/<img (?=src="http)/g, '<img style="max-width:100%;height:auto" ')
    .replace(/<h1>/g, `<h1 style="margin:0 0 16px;font:600 26px/1.25 ${heading}">`)
    .replace(/<(h[23])>/g, `<$1 style="margin:24px 0 8px;font:600 19px/1.3 ${heading}">`)
    .replace(/<p>/g, '<p style="margin:0 0 16px">')
}

const familyOf = (name: string | null) => (name === null ? 'system-ui,sans-serif' : `'${name}',system-ui,sans-serif`)

/** The whole of a mail's HTML: one column, no wider than 600 pixels, that a phone shows from edge to edge. */
export const framed = async (db: Reader, settings: Settings, words: Framed): Promise<string> => frame(await readLooks(db), settings, words)

/** The same in looks that were read before. */
export function frame(looks: Looks, settings: Settings, { language, body, home, reason }: Framed): string {
  const { logo, colors, fonts } = looks
  const { name: storeName } = settings
  const sign =
    logo === null
      ? html`<span style="font:600 18px/1.3 ${familyOf(fonts.heading ?? fonts.body)};color:${colors.text}">${storeName}</span>`
      : html`<img src="${logo}" alt="${storeName}" style="display:block;max-height:48px;max-width:100%;border:0">`
  const address = postalAddress(settings)
  const footer = address.startsWith(storeName) ? address : [storeName, address].filter(Boolean).join(' · ')
  const table = new Html('table role="presentation" width="100%" cellpadding="0" cellspacing="0"')
  return html`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light"></head>
<body style="margin:0;padding:0;background:${colors.surface};color:${colors.text}">
<${table} style="background:${colors.surface}"><tr><td align="center" style="padding:16px 8px">
<${table} style="max-width:600px;background:${colors.background};border-radius:12px"><tr><td style="padding:28px 24px;text-align:left;font:16px/1.55 ${familyOf(fonts.body)};color:${colors.text};overflow-wrap:anywhere">
<p style="margin:0 0 28px">${home === null ? sign : html`<a style="text-decoration:none" href="${home}">${sign}</a>`}</p>
${new Html(dressed(body, looks, escapeHtml(familyOf(fonts.heading ?? fonts.body))))}
<p style="margin:32px 0 0;padding-top:16px;border-top:1px solid ${colors.surface};color:${colors.muted};font-size:14px">${reason && html`${reason}<br>`}${footer}</p>
</td></tr></table>
</td></tr></table>
</body></html>
`.text
}
