import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromStripe, stepOf, toStripe } from '../../api/outside/stripe-amount.ts'
import { CURRENCIES, decimalsOf } from '../../api/values/money.ts'

const currencies = fc.constantFrom(...CURRENCIES.keys())
const amounts = fc.oneof(fc.integer({ min: 0, max: 200_000 }), fc.maxSafeNat())

describe('an amount at Stripe', () => {
  test.each([
    ['usd', 1999, 1999],
    ['jpy', 1500, 1500],
    ['isk', 5000, 500_000],
    ['ugx', 1, 100],
    ['mga', 450_000, 4500],
    ['mga', 450_050, null],
    ['kwd', 1230, 1230],
    ['kwd', 1234, null],
    ['bhd', 10, 10],
    ['tnd', 5, null],
    ['iqd', 1000, null],
    ['lyd', 1000, null],
    ['isk', Number.MAX_SAFE_INTEGER, null],
    ['usd', 0, 0],
  ])('of %s %d is %s', (currency, cents, amount) => {
    expect(toStripe(cents, currency)).toBe(amount)
  })

  test('there and back is the same amount, for every currency, and keeps its order', () => {
    fc.assert(
      fc.property(currencies, amounts, amounts, (currency, a, b) => {
        const [x, y] = [toStripe(a, currency), toStripe(b, currency)]
        if (x !== null) expect(fromStripe(x, currency)).toBe(a)
        if (x !== null && y !== null) expect(Math.sign(x - y)).toBe(Math.sign(a - b))
      }),
      { numRuns: 20_000 },
    )
  })

  test('back and there is the same amount, or none at all', () => {
    fc.assert(
      fc.property(currencies, amounts, (currency, amount) => {
        const cents = fromStripe(amount, currency)
        const again = cents === null ? null : toStripe(cents, currency)
        if (again !== null) expect(again).toBe(amount)
      }),
      { numRuns: 20_000 },
    )
  })

  test("follows Stripe's rule of steps, and is otherwise the amount of ISO 4217", () => {
    const step: Record<string, number> = { isk: 100, ugx: 100, bhd: 10, jod: 10, kwd: 10, omr: 10, tnd: 10 }
    fc.assert(
      fc.property(currencies, amounts, (currency, cents) => {
        const amount = toStripe(cents, currency)
        if (amount !== null) expect(amount % (step[currency] ?? 1)).toBe(0)
        if (!step[currency] && currency !== 'mga' && decimalsOf(currency) < 3) expect(amount).toBe(cents)
      }),
      { numRuns: 20_000 },
    )
  })

  test('is named in words by its steps', () => {
    expect(['kwd', 'mga', 'iqd', 'isk', 'usd'].map(stepOf)).toEqual([
      'stripe takes KWD in steps of 0.010',
      'stripe takes MGA in steps of 1',
      'stripe takes no IQD',
      'stripe takes ISK in steps of 1',
      'stripe takes USD in steps of 0.01',
    ])
  })
})
