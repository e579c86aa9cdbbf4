/** A page in another currency, by patterns that say what is a price: they take too long for pages of others. */
import { unescapeHtml } from '../../api/values/html.ts'

/** What something cost before. */
const BEFORE = /<s\b[^>]*>(?:(?!<\/s>)[^])*?<span class="price" data-prices="([^"]*)"(?:(?!<\/s>)[^])*<\/s>/g
const PRICE = /(<span class="price" data-prices="([^"]*)"[^>]*>)([^<]*)/g

export function pricedByPatterns(html: string, currency: string): string {
  const priceIn = (all: string): string | undefined => {
    try {
      return (JSON.parse(unescapeHtml(all)) as Record<string, string>)[currency]?.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    } catch {
      return undefined
    }
  }
  return html
    .replace(BEFORE, (whole: string, all: string) => (priceIn(all) === undefined ? '' : whole))
    .replace(PRICE, (_, opened: string, all: string) => opened + (priceIn(all) ?? '–'))
    .replace(`<option value="${currency}"`, '$& selected')
}
