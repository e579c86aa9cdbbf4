/** The settings that a new store starts with (document 3, settings). */
import { randomBytes } from 'node:crypto'
import type { Plan } from '../../api/values/plans.ts'
import type { StoreRow } from './registry.ts'
import { settings } from '../store/store.ts'

/** The input from which a new store is made. */
export interface NewStore {
  name: string
  slug: string
  plan: Plan
  currency: string
  locale: string
  aiBuilt: boolean
}

export function firstSettings(store: StoreRow, input: NewStore): typeof settings.$inferInsert {
  return {
    id: 1,
    storeId: store.id,
    name: input.name,
    slug: input.slug,
    currency: input.currency,
    locale: input.locale,
    contactEmail: null,
    address: {},
    defaultLanguage: input.locale,
    enabledLanguages: { [input.locale]: true },
    enabledCurrencies: [input.currency],
    taxesIncluded: true,
    tools: { events: true, bookings: true, reviews: true, blog: true, loyalty: true, wishlist: true },
    checkout: { requirePhone: false, guestCheckout: true, cartTtlDays: 30, unpaidHours: 168 },
    payments: { testMode: true },
    email: { fromName: null, fromAddress: null, outboundEnabled: false, domain: null },
    emailDomainVerified: false,
    emailDomainToken: randomBytes(16).toString('hex'),
    booking: { cancellationHours: 24, bufferMinutes: 0, autoConfirm: true },
    welcomeOffer: { enabled: false, couponId: null },
    lowStockThreshold: 5,
    updatedAt: store.createdAt,
  }
}
