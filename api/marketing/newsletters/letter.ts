/** A newsletter as a mail: plain text and HTML from the same words. Every word of a merchant or buyer is escaped. */
import { escapeHtml, html, Html } from '../../values/html.ts'

/** A product as it is featured, with its price as text. */
export interface Card {
  name: string
  image: string | null
  price: string
  /** The price before a reduction, as text; null when the product is not reduced. */
  before: string | null
}

interface Letter {
  subject: string
  /** Plain text: an empty line ends a paragraph. */
  content: string
  cards: readonly Card[]
  storeName: string
  postalAddress: string
  /** BCP 47. */
  language: string
}

const URL_IN_TEXT = /https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]]/g

/** Text with its line breaks and web addresses, escaped. */
function marked(text: string): Html {
  let made = ''
  let from = 0
  for (const match of text.matchAll(URL_IN_TEXT)) {
    const url = escapeHtml(match[0])
    made += escapeHtml(text.slice(from, match.index)) + `<a href="${url}" style="color:#8a3b12">${url}</a>`
    from = match.index + match[0].length
  }
  return new Html((made + escapeHtml(text.slice(from))).replace(/\r?\n/g, '<br>\n'))
}

const paragraphs = (content: string) =>
  content
    .trim()
    .split(/(?:\r?\n){2,}/)
    .map((part) => html`<p style="margin:0 0 16px">${marked(part)}</p>\n`)

const isWebImage = (image: string | null): image is string => image !== null && /^https?:\/\//i.test(image)

const card = ({ name, image, price, before }: Card) =>
  html`<tr>
<td width="104" style="padding:12px 16px 12px 0;border-top:1px solid #e4ded4">${
    isWebImage(image) && html`<img src="${image}" width="104" alt="" style="display:block;border-radius:6px">`
  }</td>
<td style="padding:12px 0;border-top:1px solid #e4ded4"><strong>${name}</strong><br>${before !== null && html`<s style="color:#6b645a">${before}</s> `}${price}</td>
</tr>
`

const why = (storeName: string) => `You get this mail because you subscribed to the newsletters of ${storeName}.`

const textOf = ({ content, cards, storeName, postalAddress }: Letter, link: string) =>
  [
    content.trim(),
    ...(cards.length
      ? [cards.map(({ name, price, before }) => `* ${name}: ${price}${before === null ? '' : ` (before: ${before})`}`).join('\n')]
      : []),
    `-- \n${why(storeName)}\n${storeName}, ${postalAddress}\nUnsubscribe: ${link}`,
  ].join('\n\n') + '\n'

const htmlOf = ({ subject, content, cards, storeName, postalAddress, language }: Letter, link: string) =>
  html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${subject}</title></head>
<body style="margin:0;background:#f6f3ee;color:#24211d;font:16px/1.55 -apple-system,'Segoe UI',Helvetica,Arial,sans-serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:600px;background:#ffffff;border-radius:10px"><tr><td style="padding:32px">
<p style="margin:0 0 24px;font-size:14px;color:#6b645a">${storeName}</p>
${paragraphs(content)}${
    cards.length > 0 &&
    html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="margin:8px 0 0">\n${cards.map(card)}</table>\n`
  }</td></tr></table>
<p style="max-width:600px;margin:16px auto 0;font-size:13px;color:#6b645a">${why(storeName)}<br>${storeName}, ${postalAddress}<br><a href="${link}" style="color:#6b645a">Unsubscribe</a></p>
</td></tr></table>
</body>
</html>
`.text

/** Writes a newsletter once; what it returns puts in the link of each reader. */
export function write(letter: Letter): (unsubscribeUrl: string) => { text: string; html: string } {
  // Where the link goes in: words that nobody can have written.
  const place = crypto.randomUUID()
  const text = textOf(letter, place).split(place)
  const markup = htmlOf(letter, place).split(place)
  return (url) => ({ text: text.join(url), html: markup.join(escapeHtml(url)) })
}
