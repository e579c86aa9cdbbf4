/**
 * The prices of a page in another currency, as the storefront's `Price.astro` writes them. Pages are what projects and merchants make of
 * them, so each mark is looked for from where the one before was: no part of a page is read again.
 */
import { unescapeHtml } from '../values/html.ts'

/** Pages that are larger are shown with the prices that they were built with. */
export const PRICED_MAX_CHARS = 2_000_000
const PRICE = '<span class="price" data-prices="'

/** Where a mark stands next, asked for ever further on. */
class Next {
  #at = -1

  constructor(
    readonly html: string,
    readonly mark: string,
  ) {}

  /** Infinity when there is none any more. `from` is not before what was asked for last. */
  from(from: number): number {
    if (this.#at < from) {
      const found = this.html.indexOf(this.mark, from)
      this.#at = found < 0 ? Infinity : found
    }
    return this.#at
  }
}

/** A text put together of what is kept of another one. */
class Kept {
  #made = ''
  #at = 0

  constructor(readonly html: string) {}

  /** Puts a text in the place of what stands between two places. */
  replace(from: number, to: number, by: string) {
    this.#made += this.html.slice(this.#at, from) + by
    this.#at = to
  }

  get text(): string {
    return this.#at ? this.#made + this.html.slice(this.#at) : this.html
  }
}

function priceIn(all: string, currency: string): string | undefined {
  try {
    return (JSON.parse(unescapeHtml(all)) as Record<string, string>)[currency]?.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  } catch {
    return undefined
  }
}

/** A page without what things cost before, where nobody has said that in a currency: the `<s>` around such a price. */
function withoutBefore(html: string, currency: string): string {
  const [opened, closed] = [new Next(html, '<s'), new Next(html, '</s>')]
  const [end, price, quote] = [new Next(html, '>'), new Next(html, PRICE), new Next(html, '"')]
  const kept = new Kept(html)
  for (let at = opened.from(0), next: number; at < Infinity; at = opened.from(next)) {
    next = at + opened.mark.length
    // `<span>` and `<style>` are others.
    if (/^\w/.test(html.charAt(next))) continue
    const inner = end.from(next) + 1
    const first = price.from(inner)
    if (first === Infinity) break
    if (closed.from(inner) < first) continue
    const from = first + PRICE.length
    const to = quote.from(from)
    next = closed.from(to) + closed.mark.length
    if (next === Infinity) break
    if (priceIn(html.slice(from, to), currency) === undefined) kept.replace(at, next, '')
  }
  return kept.text
}

/** A page with its prices in a currency, which is chosen in its menu. */
export function pricedIn(page: string, currency: string): string {
  const html = withoutBefore(page, currency)
  const [price, quote, end, tag] = [new Next(html, PRICE), new Next(html, '"'), new Next(html, '>'), new Next(html, '<')]
  const kept = new Kept(html)
  for (let at = price.from(0); at < Infinity;) {
    const from = at + PRICE.length
    const to = quote.from(from)
    const shown = end.from(to) + 1
    if (shown === Infinity) break
    const next = Math.min(html.length, tag.from(shown))
    kept.replace(shown, next, priceIn(html.slice(from, to), currency) ?? '–')
    at = price.from(next)
  }
  return kept.text.replace(`<option value="${currency}"`, '$& selected')
}
