/** A new store with its first keys: what `stoa store create` prints, and what the demo store is. */
import { slugOf, freeSlug } from '../api/slug.ts'
import { STOREFRONT_SCOPES, type NewStore, type Registry } from '../db/control/registry.ts'

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

/** Makes a store; without a slug it gets the one of its name, or the next that is free. Throws when a given slug is taken. */
export async function newStore(registry: Registry, input: Omit<NewStore, 'slug'> & { slug?: string }): Promise<CreatedStore> {
  const taken = (await registry.listStores()).map((store) => store.slug)
  if (input.slug && taken.includes(input.slug)) throw new Error(`the slug ${input.slug} is taken: choose another one`)
  const store = await registry.createStore({ ...input, slug: input.slug ?? freeSlug(slugOf(input.name), taken) })
  const key = async (name: string, environment: 'live' | 'sandbox', scopes: string[] | null) =>
    (await registry.createKey({ storeId: store.id, name, environment, scopes })).secret
  return {
    id: store.id,
    slug: store.slug,
    keys: {
      admin: await key('admin', 'live', null),
      storefront: await key('storefront', 'live', STOREFRONT_SCOPES),
      staging: await key('staging', 'sandbox', null),
    },
  }
}
