/** The demo store: what somebody who starts Stoa for the first time can look at and buy from. */
import { eq } from 'drizzle-orm'
import type { Registry } from '../db/control/registry.ts'
import { settings } from '../db/store/store.ts'
import { DEMO, newStore, type CreatedStore } from './new-store.ts'
import { AMOUNTS, seedStore } from './seed.ts'

const ABOUT = { name: 'Demo store', slug: DEMO, plan: 'growth', currency: 'usd', locale: 'en-US', aiBuilt: true } as const
/** It sells in a second language and currency, so that both can be seen. */
const MORE = {
  enabledLanguages: { 'en-US': true, 'de-DE': true },
  enabledCurrencies: ['usd', 'eur'],
  contactEmail: 'hello@demo.example',
  address: { company: 'Demo store', line1: '12 Harbour Street', city: 'Portland', state: 'OR', postalCode: '97205', country: 'US' },
}

/** Makes the store with the slug `demo`, filled: one that is cut off before it is whole was never there. */
export const makeDemoStore = (registry: Registry): Promise<CreatedStore> =>
  newStore(registry, ABOUT, async (live) => {
    await live.write(async (tx) => {
      await tx.update(settings).set(MORE).where(eq(settings.id, 1))
    })
    await seedStore(live, AMOUNTS)
  })
