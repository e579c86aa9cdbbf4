/** What comes of a form that a visitor has sent. */
import type { Answered } from './visit.ts'

/** Why something was not done: a code that the storefront has words for, and the API's own words. */
interface Notice {
  code: 'sold_out' | 'coupon' | 'price' | 'currency' | 'declined' | 'field' | 'many' | 'gone' | 'not_found' | 'points' | 'other'
  text: string
}

/** Done: where the visitor goes, and the code of what is said. Or not: what is wrong, and the page that says so. */
export type Outcome =
  | { location: string; said?: string; data?: object }
  | { notice: Notice; status: number; errors?: Record<string, string>; form?: Record<string, string> }

interface Refusal {
  error?: string
  code?: string
  details?: { path: string[]; message: string }[]
  warning?: { code: string }
}

/** What the API's own codes, of refusals and of the warnings that they name, are here. */
const CODES: Readonly<Record<string, Notice['code']>> = {
  price_changed: 'price',
  no_price: 'currency',
  coupon: 'coupon',
  loyalty: 'points',
  out_of_stock: 'sold_out',
  slot_full: 'sold_out',
  slot_closed: 'sold_out',
  unavailable: 'sold_out',
}

/** The refusal of the API as something that a visitor is told; `is`: what it is about where neither status nor code tell. */
export function refused({ status, body: said }: Answered, is: Notice['code'] = 'other'): Extract<Outcome, { notice: Notice }> {
  const body = said as Refusal | null
  const text = typeof body?.error === 'string' ? body.error : 'it was not possible'
  const errors = Object.fromEntries((body?.details ?? []).map(({ path, message }) => [path.at(-1) ?? '', message]))
  const named = CODES[body?.warning?.code ?? ''] ?? CODES[body?.code ?? '']
  const code: Notice['code'] =
    status === 429 ? 'many' : status === 402 ? 'declined' : (named ?? (status === 400 && is === 'other' ? 'field' : is))
  return { notice: { code, text }, status: status >= 500 ? 502 : status, ...(Object.keys(errors).length ? { errors } : {}) }
}
