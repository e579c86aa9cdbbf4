/** A newsletter as a mail: plain text and HTML from the same words. Every word of a merchant or buyer is escaped. */
import type { Settings } from '../../http/route.ts'
import { frame } from '../../store/mails/frame.ts'
import type { Looks } from '../../store/mails/looks.ts'
import { postalAddress } from '../../store/mails/sender.ts'
import { escapeHtml, html, Html } from '../../values/html.ts'

/** A product as it is featured, with its price as text. */
export interface Card {
  name: string
  image: string | null
  price: string
  /** The price before a reduction, as text; null when the product is not reduced. */
  before: string | null
  /** Its page in the shop; null where there is none. */
  url: string | null
}

interface Letter {
  /** Plain text: an empty line ends a paragraph. */
  content: string
  cards: readonly Card[]
  settings: Settings
  looks: Looks
  /** The home page of the shop; null while it has none. */
  home: string | null
}

const URL_IN_TEXT = /https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]]/g

/** Text with its line breaks and web addresses, escaped. */
function marked(text: string): Html {
  let made = ''
  let from = 0
  for (const match of text.matchAll(URL_IN_TEXT)) {
    const url = escapeHtml(match[0])
    made += escapeHtml(text.slice(from, match.index)) + `<a href="${url}">${url}</a>`
    from = match.index + match[0].length
  }
  return new Html((made + escapeHtml(text.slice(from))).replace(/\r?\n/g, '<br>\n'))
}

const paragraphs = (content: string) =>
  content
    .trim()
    .replaceAll('\r\n', '\n')
    .split(/\n{2,}/)
    .map((part) => html`<p>${marked(part)}</p>\n`)

const isWebImage = (image: string | null): image is string => image !== null && /^https?:\/\//i.test(image)

/** A card: the picture and the name lead to the page of the product. */
function card({ name, image, price, before, url }: Card, { colors }: Looks): Html {
  const cell = `border-top:1px solid ${colors.surface};vertical-align:middle`
  const picture =
    isWebImage(image) &&
    html`<img style="display:block;width:104px;max-width:100%;border-radius:8px;border:0" src="${image}" width="104" alt="">`
  return html`<tr>
<td width="104" style="padding:12px 16px 12px 0;${cell}">${picture && url ? html`<a href="${url}">${picture}</a>` : picture}</td>
<td style="padding:12px 0;${cell}"><strong>${
    url ? html`<a style="color:${colors.text};text-decoration:none" href="${url}">${name}</a>` : name
  }</strong><br>${before !== null && html`<s style="color:${colors.muted}">${before}</s> `}${price}</td>
</tr>
`
}

const why = (storeName: string) => `You get this mail because you subscribed to the newsletters of ${storeName}.`

const textOf = ({ content, cards, settings }: Letter, link: string) =>
  [
    content.trim(),
    ...(cards.length
      ? [
          cards
            .map(({ name, price, before, url }) =>
              [`* ${name}: ${price}${before === null ? '' : ` (before: ${before})`}`, ...(url ? [`  ${url}`] : [])].join('\n'),
            )
            .join('\n'),
        ]
      : []),
    `-- \n${why(settings.name)}\n${settings.name}, ${postalAddress(settings)}\nUnsubscribe: ${link}`,
  ].join('\n\n') + '\n'

function htmlOf({ content, cards, settings, looks, home }: Letter, link: string): string {
  const body = html`${paragraphs(content)}${
    cards.length > 0 &&
    html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="margin:8px 0 0">\n${cards.map((one) => card(one, looks))}</table>\n`
  }`
  const reason = html`${why(settings.name)} <a style="color:${looks.colors.muted}" href="${link}">Unsubscribe</a>`
  return frame(looks, settings, { language: settings.defaultLanguage, body: body.text, home, reason })
}

/** Writes a newsletter once; what it returns puts in the link of each reader. */
export function write(letter: Letter): (unsubscribeUrl: string) => { text: string; html: string } {
  // Where the link goes in: words that nobody can have written.
  const place = crypto.randomUUID()
  const text = textOf(letter, place).split(place)
  const markup = htmlOf(letter, place).split(place)
  return (url) => ({ text: text.join(url), html: markup.join(escapeHtml(url)) })
}
