/** Amounts as Stripe counts them, which is not always as ISO 4217 does (document 3, Clarifications, Amounts at Stripe). */
import { decimalsOf } from '../values/money.ts'

/** How many decimals an amount has at Stripe, and of what it must be a multiple there. */
interface Rule {
  decimals: number
  step: number
}

const named = (codes: string, rule: Rule) => codes.split(' ').map((code) => [code, rule] as const)
/** The currencies that Stripe does not count as ISO 4217 does, or takes in larger steps. */
const RULES: ReadonlyMap<string, Rule> = new Map([
  ...named('isk ugx', { decimals: 2, step: 100 }),
  ...named('mga', { decimals: 0, step: 1 }),
  ...named('bhd jod kwd omr tnd', { decimals: 3, step: 10 }),
])

/** The rule of a currency; null for one with three decimals that Stripe does not know: nobody can tell how it would count them. */
function ruleOf(currency: string): Rule | null {
  const decimals = decimalsOf(currency)
  return RULES.get(currency) ?? (decimals > 2 ? null : { decimals, step: 1 })
}

/** `amount` in units of another number of decimals; null when it is not whole there. */
function rescaled(amount: number, from: number, to: number): number | null {
  const factor = 10 ** Math.abs(to - from)
  if (to < from && amount % factor !== 0) return null
  const scaled = to < from ? amount / factor : amount * factor
  return Number.isSafeInteger(scaled) ? scaled : null
}

/** The number for Stripe of an amount in minor units of ISO 4217; null when Stripe can't carry that amount. */
export function toStripe(cents: number, currency: string): number | null {
  const rule = ruleOf(currency)
  const amount = rule && rescaled(cents, decimalsOf(currency), rule.decimals)
  return rule && amount !== null && amount % rule.step === 0 ? amount : null
}

/** Minor units of ISO 4217 of what Stripe says; null when the currency has none so small. */
export function fromStripe(amount: number, currency: string): number | null {
  const rule = ruleOf(currency)
  return rule && rescaled(amount, rule.decimals, decimalsOf(currency))
}

/** The amounts of a currency that Stripe carries, in words for a refusal. */
export function stepOf(currency: string): string {
  const rule = ruleOf(currency)
  const code = currency.toUpperCase()
  if (!rule) return `stripe takes no ${code}`
  const shown = Math.min(rule.decimals, decimalsOf(currency))
  return `stripe takes ${code} in steps of ${(rule.step / 10 ** rule.decimals).toFixed(shown)}`
}
