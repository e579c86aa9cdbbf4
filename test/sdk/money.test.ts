import { expect, test } from 'vitest'
import { CURRENCIES } from '../../api/values/money.ts'
import { decimalsOf, formatCents, formatPrice } from '../../scripts/sdk/src/money.ts'

test('each currency has the decimals that the API gives it', () => {
  expect([...CURRENCIES.keys()].map((currency) => [currency, decimalsOf(currency)])).toEqual([...CURRENCIES])
  expect(decimalsOf('JPY')).toBe(0)
})

test('amounts are shown with all of them, also where Intl has fewer', () => {
  expect([formatPrice(49.9, 'usd', 'en-US'), formatCents(1250, 'jpy', 'en-US')]).toEqual(['$49.90', '¥1,250'])
  expect([formatCents(1250, 'KWD', 'en-US'), formatCents(199_050, 'huf', 'en-US')]).toEqual(['KWD\u00a01.250', 'HUF\u00a01,990.50'])
})
