import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../api/values/refusal.ts'
import { CURRENCIES, decimalsOf, isCurrency, parseMinor, share, split, toMajor, toMajorOrNull, toMinor } from '../../api/values/money.ts'

const VALUES = 100_000
/** Amounts up to what a price may be: 1,000,000,000 in major units. */
const minorOf = (currency: string) => 1_000_000_000 * 10 ** decimalsOf(currency)
/** A decimal number as a merchant writes it. */
const written = (minor: number, decimals: number) =>
  decimals === 0 ? String(minor) : `${Math.floor(minor / 10 ** decimals)}.${String(minor % 10 ** decimals).padStart(decimals, '0')}`

describe.each(['usd', 'jpy', 'kwd'])('%s', (currency) => {
  const decimals = decimalsOf(currency)

  test('parse, minor, major is the identity', () => {
    const check = (minor: number) => {
      const text = written(minor, decimals)
      const parsed = parseMinor(Number(text), currency)
      if (parsed !== minor || toMajor(minor, currency) !== Number(text))
        throw new Error(`${text} is read as ${parsed} and shown as ${toMajor(minor, currency)}`)
    }
    for (let minor = 0; minor < VALUES; minor++) check(minor)
    fc.assert(fc.property(fc.integer({ min: 0, max: minorOf(currency) }), check), { numRuns: VALUES })
  })

  test('what a list shows can be written back as it is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: minorOf(currency) }), (minor) => {
        const wire = JSON.parse(JSON.stringify(toMajor(minor, currency))) as number
        expect(parseMinor(wire, currency)).toBe(minor)
      }),
      { numRuns: 2_000 },
    )
  })

  test('more decimals than it has are refused, with the field', () => {
    const tooFine = Number(`1.${'0'.repeat(decimals)}1`)
    expect(parseMinor(tooFine, currency)).toBe(null)
    let refusal: unknown
    try {
      toMinor(tooFine, currency, 'items.3.price')
    } catch (error) {
      refusal = error
    }
    expect((refusal as Refusal).status).toBe(400)
    expect((refusal as Refusal).extra.details).toEqual([
      { code: 'custom', message: expect.stringContaining(`at most ${decimals} decimals`), path: ['items', '3', 'price'] },
    ])
  })
})

describe('minor units follow ISO 4217', () => {
  test('jpy has 0 decimals, kwd 3, usd 2', () => {
    expect(['jpy', 'kwd', 'usd', 'eur', 'isk', 'bhd', 'clp'].map(decimalsOf)).toEqual([0, 3, 2, 2, 0, 3, 0])
  })

  test('codes are taken in any case, others are none', () => {
    for (const code of ['usd', 'USD', 'Pln']) expect(isCurrency(code)).toBe(true)
    for (const code of ['', 'zzz', 'xau', 'us', 'usdt', '$']) expect(isCurrency(code)).toBe(false)
  })

  test('every currency has 0, 2 or 3 decimals, and is written in lowercase', () => {
    for (const [code, decimals] of CURRENCIES)
      expect([code, [0, 2, 3].includes(decimals)]).toEqual([expect.stringMatching(/^[a-z]{3}$/), true])
  })

  test.each([
    [19.99, 1999],
    [1.1, 110],
    [0.07, 7],
    [1.15, 115],
    [8.2, 820],
    [4.35, 435],
    [1e3, 100_000],
    [0.1 + 0.2, null],
    [1.005, null],
    [1e-7, null],
    [1e21, null],
    [Infinity, null],
    [NaN, null],
    [-1.5, -150],
    [-0, 0],
    [0, 0],
  ])('%d dollars are %s cents', (value, cents) => {
    expect(parseMinor(value, 'usd')).toBe(cents)
  })

  test('more than 2^53 minor units are refused', () => {
    expect(parseMinor(90_071_992_547_409, 'usd')).toBe(9_007_199_254_740_900)
    expect(parseMinor(90_071_992_547_410, 'usd')).toBe(null)
    expect(parseMinor(9_007_199_254_740_991, 'jpy')).toBe(9_007_199_254_740_991)
    expect(parseMinor(9_007_199_254_740_992, 'jpy')).toBe(null)
  })

  test('no price is no price', () => {
    expect([toMajorOrNull(null, 'usd'), toMajorOrNull(0, 'usd'), toMajorOrNull(1999, 'usd')]).toEqual([null, 0, 19.99])
  })
})

const amount = fc.oneof(
  fc.integer({ min: 0, max: 1_000 }),
  fc.integer({ min: 0, max: 10 ** 12 }),
  fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
)

describe('share: rounded half up', () => {
  /** amount * numerator / denominator + 1/2, rounded down. */
  const exact = (a: number, n: number, d: number) => Number((2n * BigInt(a) * BigInt(n) + BigInt(d)) / (2n * BigInt(d)))

  test('is what exact arithmetic gives', () => {
    fc.assert(
      fc.property(amount, fc.integer({ min: 0, max: 10 ** 9 }), fc.integer({ min: 1, max: 10 ** 9 }), (a, n, d) => {
        fc.pre((BigInt(a) * BigInt(n)) / BigInt(d) < BigInt(Number.MAX_SAFE_INTEGER))
        if (share(a, n, d) !== exact(a, n, d)) throw new Error(`${a} * ${n} / ${d} is ${share(a, n, d)}, not ${exact(a, n, d)}`)
      }),
      { numRuns: VALUES },
    )
  })

  test('of exact halves goes up', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 6 }), (n) => {
        expect(share(2 * n + 1, 1, 2)).toBe(n + 1)
      }),
      { numRuns: 5_000 },
    )
    expect([share(1, 1, 2), share(3, 1, 2), share(5, 1, 10), share(4, 1, 10), share(25, 1, 10), share(0, 1, 3), share(7, 0, 3)]).toEqual([
      1, 2, 1, 0, 3, 0, 0,
    ])
  })

  test('of a negative amount is the opposite of the positive one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 ** 12 }),
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 1, max: 10_000 }),
        (a, n, d) => {
          fc.pre((a * n) / d < Number.MAX_SAFE_INTEGER)
          expect(share(-a, n, d)).toBe(-share(a, n, d))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('of nothing over nothing is nothing', () => {
    expect(share(5, 3, 0)).toBe(0)
  })
})

describe('split: the parts always add up to the whole', () => {
  const weights = fc.array(fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 10 ** 9 })), { minLength: 1, maxLength: 30 })

  test('none is negative, none is further from its share than one unit, and a weight of 0 takes nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 12 }), weights, (whole, parts) => {
        const result = split(whole, parts)
        const total = parts.reduce((sum, part) => sum + part, 0)
        expect(result.length).toBe(parts.length)
        expect(result.reduce((sum, part) => sum + part, 0)).toBe(whole)
        for (const [i, part] of result.entries()) {
          if (total === 0) continue
          const floor = Number((BigInt(whole) * BigInt(parts[i]!)) / BigInt(total))
          expect(part === floor || part === floor + 1).toBe(true)
          if (parts[i] === 0) expect(part).toBe(0)
        }
      }),
      { numRuns: 10_000 },
    )
  })

  test('equal parts differ by one at most, the larger ones first', () => {
    expect(split(1000, [1, 1, 1])).toEqual([334, 333, 333])
    expect(split(2, [5, 5, 5])).toEqual([1, 1, 0])
    expect(split(0, [1, 2])).toEqual([0, 0])
    expect(split(7, [0, 0])).toEqual([7, 0])
    expect(split(7, [])).toEqual([])
    expect(split(100, [1, 2, 0])).toEqual([33, 67, 0])
  })

  test('is the same every time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 9 }), weights, (whole, parts) => {
        expect(split(whole, parts)).toEqual(split(whole, [...parts]))
      }),
      { numRuns: 500 },
    )
  })
})
