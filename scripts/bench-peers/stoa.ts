/** Stoa on a store with the catalog: remembering its answers, and making each anew. */
import { openRegistry } from '../../db/control/open.ts'
import { makeDataDir } from '../../db/data-dir.ts'
import { callerOf } from '../bench/call.ts'
import { startStoa } from '../bench/servers.ts'
import { FORGETFUL } from '../../site/lib/measured.ts'
import { newStore } from '../new-store.ts'
import { CARTS, catalog, LIST, readAt } from './catalog.ts'
import { requireGoing } from './processes.ts'
import { centsOf, type Variant } from './variants.ts'

const API = '/api/v1'
const UNITS = 1_000_000

async function makeStore(dataDir: string) {
  makeDataDir(dataDir)
  const { registry, close } = await openRegistry({ url: `file:${dataDir}/{name}.db` })
  const { keys } = await newStore(registry, { name: 'Bench store', plan: 'growth', currency: 'eur', locale: 'en-US', aiBuilt: false })
  close()
  return keys
}

/** Adds the catalog by the API; the ids of the first variants. The newest come first in a list, as on no other side: that costs nothing. */
async function addCatalog(call: ReturnType<typeof callerOf>): Promise<string[]> {
  const ids: string[] = []
  for (const { name, slug, description, variants } of catalog) {
    const made = await call('POST', '/products', {
      ...{ name, slug, summary: description, status: 'published' },
      variants: variants.map(({ cents, ...variant }) => ({ ...variant, price: cents / 100, stock: { quantity: UNITS } })),
    })
    ids.push(made.variants[0].id)
  }
  return ids
}

const product = ({ slug, variants }: any) => ({ slug, cents: centsOf(variants[0].price) })

function variantsAt(port: number, key: string, cartIds: readonly string[], variant: string): Variant[] {
  const get = (path: string) => ({ method: 'GET', path: `${API}${path}`, headers: { authorization: `Bearer ${key}` } }) as const
  const about = { system: 'stoa', variant, port } as const
  return [
    {
      ...about,
      call: 'list',
      ask: (n) => get(`/products?limit=${LIST}&offset=${n * LIST}`),
      found: ({ data }) => data.map(product),
    },
    { ...about, call: 'product', ask: (n) => get(`/products/${readAt(n).slug}`), found: (body) => [product(body)] },
    {
      ...about,
      call: 'cart',
      ask: (n) => get(`/carts/${cartIds[n]}`),
      found: ({ items }) => items.map(({ totalCents, quantity }: any) => ({ slug: null, cents: totalCents, quantity })),
    },
  ]
}

/** Makes the store, starts both, and tells what can be asked of them. */
export async function startStoas(dataDir: string): Promise<Variant[]> {
  const keys = await makeStore(dataDir)
  requireGoing()
  const shipped = await startStoa(dataDir)
  requireGoing()
  const anew = await startStoa(dataDir, { isCold: true })
  const variantIds = await addCatalog(callerOf(shipped, keys.admin))
  const call = callerOf(shipped, keys.storefront)
  const cartIds: string[] = []
  for (const variantId of variantIds.slice(0, CARTS))
    cartIds.push((await call('POST', '/carts', { items: [{ variantId, quantity: 1 }] })).id)
  return [
    ...variantsAt(shipped.port, keys.storefront, cartIds, 'remembering answers'),
    ...variantsAt(anew.port, keys.storefront, cartIds, FORGETFUL),
  ]
}
