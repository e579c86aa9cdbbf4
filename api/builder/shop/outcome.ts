/** What comes of a form that a visitor has sent. */
import type { Answered } from './visit.ts'

/** Why something was not done: a code that the storefront has words for, and the API's own words. */
interface Notice {
  code: 'sold_out' | 'coupon' | 'price' | 'declined' | 'field' | 'many' | 'gone' | 'not_found' | 'other'
  text: string
}

/** Done: where the visitor goes, and the code of what is said. Or not: what is wrong, and the page that says so. */
export type Outcome =
  | { location: string; said?: string; data?: object }
  | { notice: Notice; status: number; errors?: Record<string, string>; form?: Record<string, string> }

interface Refusal {
  error?: string
  details?: { path: string[]; message: string }[]
  variantId?: string
}

/** The refusal of the API as something that a visitor is told; `is`: what it is about where its status does not tell. */
export function refused({ status, body: said }: Answered, is: Notice['code'] = 'other'): Extract<Outcome, { notice: Notice }> {
  const body = said as Refusal | null
  const text = typeof body?.error === 'string' ? body.error : 'it was not possible'
  const errors = Object.fromEntries((body?.details ?? []).map(({ path, message }) => [path.at(-1) ?? '', message]))
  const code: Notice['code'] =
    status === 429
      ? 'many'
      : status === 402
        ? 'declined'
        : /price.?changed|total.*changed/i.test(text)
          ? 'price'
          : /sold out|out of stock|only \d+|not in stock|no longer/i.test(text)
            ? 'sold_out'
            : status === 400 && is === 'other'
              ? 'field'
              : is
  return { notice: { code, text }, status: status >= 500 ? 502 : status, ...(Object.keys(errors).length ? { errors } : {}) }
}
