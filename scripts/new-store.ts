/** A new store with its first keys: what `stoa store create` prints, and what the demo store is. */
import { slugOf, freeSlug } from '../api/values/slug.ts'
import { newKey } from '../db/control/keys.ts'
import type { NewStore } from '../db/control/first-settings.ts'
import { STOREFRONT_SCOPES, type FirstOfStore, type Registry } from '../db/control/registry.ts'

/** The slug of the demo store. */
export const DEMO = 'demo'

/** Secrets, known only now: unrestricted, the four storefront scopes, unrestricted on the sandbox. */
export interface FirstKeys {
  admin: string
  storefront: string
  staging: string
}
export interface CreatedStore {
  id: string
  slug: string
  keys: FirstKeys
}

const KEYS = [
  { name: 'admin', environment: 'live', scopes: null },
  { name: 'storefront', environment: 'live', scopes: STOREFRONT_SCOPES },
  { name: 'staging', environment: 'sandbox', scopes: null },
] as const

/** Makes a store; without a slug it gets the one of its name, or the next that is free. Throws when a given slug is taken. */
export async function newStore(
  registry: Registry,
  input: Omit<NewStore, 'slug'> & { slug?: string },
  fill?: FirstOfStore['fill'],
): Promise<CreatedStore> {
  const taken = (await registry.listStores()).map((store) => store.slug)
  if (input.slug && taken.includes(input.slug)) throw new Error(`the slug ${input.slug} is taken: choose another one`)
  const slug = input.slug ?? freeSlug(slugOf(input.name), taken)
  let secrets: string[] = []
  const keys = (storeId: string) => {
    const made = KEYS.map((key) => newKey({ ...key, storeId, scopes: key.scopes && [...key.scopes] }, new Date()))
    secrets = made.map(({ secret }) => secret)
    return made.map(({ row }) => row)
  }
  const { id } = await registry.createStore({ ...input, slug }, { keys, fill })
  const [admin, storefront, staging] = secrets as [string, string, string]
  return { id, slug, keys: { admin, storefront, staging } }
}
