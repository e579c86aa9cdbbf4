/** Money: integer minor units everywhere inside, decimal numbers in major units only on the wire. */
import { wrong } from './refusal.ts'

const digits = (count: number, codes: string) => codes.split(' ').map((code) => [code, count] as const)

/** Active ISO 4217 currencies and how many decimals each has. */
export const CURRENCIES: ReadonlyMap<string, number> = new Map([
  ...digits(
    2,
    'aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd btn bwp byn bzd cad cdf chf cny cop crc cup cve czk dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gtq gyd hkd hnl htg huf idr ils inr irr jmd kes kgs khr kpw kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mop mru mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd rub sar sbd scr sdg sek sgd shp sle sos srd ssp stn svc syp szl thb tjs tmt top try ttd twd tzs uah usd uyu uzs ved ves wst xcd yer zar zmw zwg',
  ),
  ...digits(0, 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx vnd vuv xaf xof xpf'),
  ...digits(3, 'bhd iqd jod kwd lyd omr tnd'),
])

export const isCurrency = (code: string) => CURRENCIES.has(code.toLowerCase())

/** How many decimals a currency has. */
export const decimalsOf = (currency: string) => CURRENCIES.get(currency) ?? 2

/**
 * Minor units of a decimal number, exactly as it is written: `19.99` is 1999, though 19.99 * 100 is 1998.9999…. Null when it
 * has more decimals than the currency, or does not fit a safe integer.
 */
export function parseMinor(value: number, currency: string): number | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value))
  if (!match) return null
  const decimals = decimalsOf(currency)
  const [, sign, whole, part = ''] = match
  if (part.length > decimals) return null
  const minor = Number(whole + part.padEnd(decimals, '0'))
  return Number.isSafeInteger(minor) ? (sign ? -minor : minor) : null
}

/** Minor units of a request's amount; refuses with 400 at `path`. */
export function toMinor(value: number, currency: string, path: string): number {
  const minor = parseMinor(value, currency)
  if (minor === null) throw wrong(path, `must be an amount with at most ${decimalsOf(currency)} decimals (${currency.toUpperCase()})`)
  return minor
}

/** The decimal number of an amount: the double nearest to it, which prints as the amount. */
export const toMajor = (minor: number, currency: string): number => minor / 10 ** decimalsOf(currency)
export const toMajorOrNull = (minor: number | null, currency: string) => (minor === null ? null : toMajor(minor, currency))

/** `amount * numerator / denominator`, rounded half up (away from zero for a negative amount); exact beyond 2^53. */
export function share(amount: number, numerator: number, denominator: number): number {
  if (denominator === 0) return 0
  if (amount < 0) return -share(-amount, numerator, denominator)
  const product = amount * numerator
  if (product <= Number.MAX_SAFE_INTEGER / 2) {
    const quotient = Math.floor(product / denominator)
    return product - quotient * denominator >= denominator / 2 ? quotient + 1 : quotient
  }
  const d = BigInt(denominator)
  return Number((BigInt(amount) * BigInt(numerator) * 2n + d) / (2n * d))
}

/** Percent as millionths of a whole: four decimals of a percent, as an integer. */
export const millionths = (percent: number) => Math.round(percent * 10_000)

/**
 * Splits an amount of at least 0 in proportion to weights of at least 0 so that the parts add up to it: largest remainder, the
 * earlier part first where two are equal. With no weight at all the first part takes everything.
 */
export function split(amount: number, weights: readonly number[]): number[] {
  if (!weights.length) return []
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return weights.map((_, i) => (i === 0 ? amount : 0))
  const count = weights.length
  return amount * total <= EXACT && total * count <= EXACT ? splitSmall(amount, weights, total) : splitLarge(amount, weights, total)
}

/** Up to here the whole part of a quotient of two integers is what their quotient as doubles says. */
const EXACT = 2 ** 51

/** Where every product is exact: a key holds the remainder and, because the earlier part goes first, the place from the end. */
function splitSmall(amount: number, weights: readonly number[], total: number): number[] {
  const count = weights.length
  const keys = new Float64Array(count)
  const parts = new Array<number>(count)
  let rest = amount
  for (let i = 0; i < count; i++) {
    const product = amount * weights[i]!
    const part = Math.floor(product / total)
    keys[i] = (product - part * total) * count + (count - 1 - i)
    parts[i] = part
    rest -= part
  }
  if (rest === 0) return parts
  largestLast(keys, rest)
  for (let k = count - rest; k < count; k++) {
    const key = keys[k]!
    parts[count - 1 - (key - Math.floor(key / count) * count)]!++
  }
  return parts
}

/** Moves the `many` largest of some numbers, no two of which are equal, to the end (quickselect: they need no order among them). */
function largestLast(keys: Float64Array, many: number) {
  const at = keys.length - many
  let [low, high] = [0, keys.length - 1]
  while (low < high) {
    const pivot = keys[(low + high) >> 1]!
    let [i, j] = [low, high]
    while (i <= j) {
      while (keys[i]! < pivot) i++
      while (keys[j]! > pivot) j--
      if (i > j) break
      const key = keys[i]!
      keys[i++] = keys[j]!
      keys[j--] = key
    }
    if (at <= j) high = j
    else if (at >= i) low = i
    else return
  }
}

function splitLarge(amount: number, weights: readonly number[], total: number): number[] {
  const parts: number[] = []
  const remainders: { i: number; remainder: bigint }[] = []
  const whole = BigInt(total)
  let rest = amount
  weights.forEach((weight, i) => {
    const product = BigInt(amount) * BigInt(weight)
    const part = Number(product / whole)
    parts.push(part)
    rest -= part
    remainders.push({ i, remainder: product % whole })
  })
  remainders.sort((a, b) => (a.remainder === b.remainder ? a.i - b.i : a.remainder > b.remainder ? -1 : 1))
  for (let k = 0; k < rest; k++) parts[remainders[k]!.i]!++
  return parts
}
