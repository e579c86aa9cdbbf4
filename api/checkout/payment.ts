/** How a checkout is paid: `manual`, `test` with its magic tokens, and `stripe`. */
import type { Session } from '../../db/control/registry.ts'
import { Refusal, wrong } from '../values/refusal.ts'
import type { Settings } from '../http/route.ts'
import type { Provider } from '../outside/payment-provider.ts'
import { stepOf, toStripe } from '../outside/stripe-amount.ts'

export const PAYMENT_METHODS = ['manual', 'test', 'stripe'] as const
type PaymentMethod = (typeof PAYMENT_METHODS)[number]

/** The magic tokens of `test`, and what each one comes to. */
const TEST_TOKENS: Readonly<Record<string, string | null>> = {
  ok: null,
  decline: 'the card was declined',
  insufficient_funds: 'the card has insufficient funds',
  expired_card: 'the card has expired',
}

/** Refuses with 400 a method that this store can't be paid with. */
export function requirePayable(
  method: PaymentMethod,
  token: string | undefined,
  settings: Settings,
  session: Session,
  provider: Provider | null,
) {
  if (method === 'stripe') {
    if (!provider) throw wrong('paymentMethod', 'stripe is not configured: set STRIPE_SECRET_KEY')
    if (session.environment === 'sandbox' && !provider.testMode)
      throw wrong('paymentMethod', "stripe takes no live payments in a store's sandbox")
  }
  if (method !== 'test') return
  if (session.environment !== 'sandbox' && !settings.payments.testMode)
    throw wrong('paymentMethod', 'test payments are turned off: settings.payments.testMode')
  if (token !== undefined && !Object.hasOwn(TEST_TOKENS, token))
    throw wrong('paymentToken', `must be one of ${Object.keys(TEST_TOKENS).join(', ')}`)
}

/** Refuses with 400 a total that the provider can't take to the last digit. */
export function requireCarried(method: PaymentMethod, totalCents: number, currency: string) {
  if (method === 'stripe' && toStripe(totalCents, currency) === null)
    throw wrong('paymentMethod', `${stepOf(currency)}: pay the total of this cart another way`)
}

/** Refuses with 402 a test card that is declined. */
export function requireAccepted(method: PaymentMethod, token: string | undefined) {
  const reason = method === 'test' && token !== undefined ? TEST_TOKENS[token] : null
  if (reason) throw new Refusal(402, reason, { code: token })
}
