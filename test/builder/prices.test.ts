import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pricedIn } from '../../api/builder/prices.ts'
import { escapeHtml } from '../../api/values/html.ts'
import { expectLinear } from './growth.ts'
import { pricedByPatterns } from './priced-by-patterns.ts'

const OPENED = '<span class="price" data-prices="'
const priced = (prices: object, shown: string) => `${OPENED}${escapeHtml(JSON.stringify(prices))}">${shown}</span>`
const both = priced({ usd: '$40', eur: 'from 38 € <&>' }, '$40')
const own = priced({ usd: '$50' }, '$50')

test('a page has its prices in the currency, and none of before where nobody has said that', () => {
  const page = `<p>${both}<s data-before><span class="hidden">before </span>${own}</s></p><option value="usd">USD</option><option value="eur">EUR</option>`
  expect(pricedIn(page, 'eur')).toBe(
    `<p>${both.replace('$40<', 'from 38 € &#60;&#38;&#62;<')}</p><option value="usd">USD</option><option value="eur" selected>EUR</option>`,
  )
  expect(pricedIn(page, 'usd')).toBe(page.replace('value="usd"', 'value="usd" selected'))
  expect(pricedIn(`<i>${both}<s>old</s>${own}`, 'gbp')).toBe(`<i>${both.replace('$40<', '–<')}<s>old</s>${own.replace('$50<', '–<')}`)
})

test('what is a price, and one of before, is what patterns say of short pages', () => {
  const part = fc.constantFrom(
    ...[both, own, both.slice(0, -7), OPENED, `${OPENED}{}`, '<s>', '<s data-before>', '<s', '</s>', '<span>', '<s-x>', '>', '<', '"'],
    ...['text', ' ', '</span>', '<option value="eur"', '<span class="price">', '&quot;'],
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 16 }), (parts) => {
      const page = parts.join('')
      expect(pricedIn(page, 'eur')).toBe(pricedByPatterns(page, 'eur'))
    }),
    { numRuns: 20_000 },
  )
})

test.each(['<s>', '<s', `<s>${OPENED}`, OPENED, `${OPENED}">`, both, `<s>${own}</s>`, `<s>${own}`, '</s>', '<span class="price" '])(
  'a page of %s over and over takes time as it is long',
  (piece) => expectLinear((page) => pricedIn(page, 'eur'), piece),
)
