/** The demo store: what somebody who starts Stoa for the first time can look at and buy from. */
import type { Registry } from '../db/control/registry.ts'
import { newStore, type CreatedStore } from './new-store.ts'
import { AMOUNTS, seedStore } from './seed.ts'

const ABOUT = { name: 'Demo store', slug: 'demo', plan: 'growth', currency: 'usd', locale: 'en-US', aiBuilt: false } as const

/** Makes the store with the slug `demo`, filled: one that is cut off before it is whole was never there. */
export const makeDemoStore = (registry: Registry): Promise<CreatedStore> => newStore(registry, ABOUT, (live) => seedStore(live, AMOUNTS))
