/** The demo store: what somebody who starts Stoa for the first time can look at and buy from. */
import type { Registry } from '../db/control/registry.ts'
import { openStore } from '../db/open.ts'
import { newStore, type CreatedStore } from './new-store.ts'
import { AMOUNTS, seedStore } from './seed.ts'

/** Makes the store with the slug `demo` and fills it. */
export async function makeDemoStore(registry: Registry): Promise<CreatedStore> {
  const created = await newStore(registry, {
    name: 'Demo store',
    slug: 'demo',
    plan: 'growth',
    currency: 'usd',
    locale: 'en-US',
    aiBuilt: false,
  })
  const live = await openStore(registry.location, created.id, 'live')
  try {
    await seedStore(live, AMOUNTS)
  } finally {
    live.close()
  }
  return created
}
