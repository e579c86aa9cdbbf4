/** The connection to Stripe, through its official package. */
import Stripe from 'stripe'
import type { Provider } from './payment-provider.ts'

/** The configuration of Stripe; `apiBase` is another address that speaks its wire format. */
export interface StripeConfig {
  secretKey: string
  webhookSecret: string | null
  apiBase: string | null
}

/** The provider for a configuration; each call is tried three times and takes at most 20 s. */
export function stripeProvider({ secretKey, webhookSecret, apiBase }: StripeConfig): Provider {
  const base = apiBase ? new URL(apiBase) : null
  const address = base
    ? {
        host: base.hostname,
        protocol: base.protocol.replace(':', '') as 'http' | 'https',
        port: Number(base.port) || (base.protocol === 'https:' ? 443 : 80),
      }
    : {}
  const stripe = new Stripe(secretKey, {
    ...address,
    httpClient: Stripe.createFetchHttpClient(),
    maxNetworkRetries: 2,
    timeout: 20_000,
    telemetry: false,
  })
  return { stripe, webhookSecret, testMode: secretKey.startsWith('sk_test_') || secretKey.startsWith('rk_test_') }
}
