/** Where money comes from: what the rest of the code knows of a payment provider. */
import type Stripe from 'stripe'

/** A payment provider; `null` stands for none wherever one is taken. */
export interface Provider {
  stripe: Stripe
  webhookSecret: string | null
  testMode: boolean
}
