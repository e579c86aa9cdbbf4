/** The restrictions of coupons and promotions: named without "Ids" on the way in, with it on the way out. */
import type { Db } from '../../../db/driver.ts'
import { brands, categories, collections, products } from '../../../db/store/catalog.ts'
import { requireIds } from '../../http/input/references.ts'
import { Ids, Type, Uuid, type Static } from '../../http/schema.ts'

export const restrictionInput = {
  products: Type.Optional(Ids(500, { 'x-also': 'productIds' })),
  collections: Type.Optional(Ids(500, { 'x-also': 'collectionIds' })),
  categories: Type.Optional(Ids(500, { 'x-also': 'categoryIds' })),
  brands: Type.Optional(Ids(500, { 'x-also': 'brandIds' })),
}
const list = () => Type.Array(Uuid(), { description: 'Empty: no restriction' })
export const restrictionOutput = { productIds: list(), collectionIds: list(), categoryIds: list(), brandIds: list() }

interface Restrictions {
  productIds: string[]
  collectionIds: string[]
  categoryIds: string[]
  brandIds: string[]
}
type Input = { [K in keyof typeof restrictionInput]?: Static<(typeof restrictionInput)[K]> }

const TABLES = { products, collections, categories, brands } as const
const COLUMN = { products: 'productIds', collections: 'collectionIds', categories: 'categoryIds', brands: 'brandIds' } as const

/**
 * The restriction lists of a body, those it leaves out as `fallback` has them. Ids that are new must be in the store; one that was
 * there before and has been deleted since may stay: it matches nothing, and never widens the rest.
 */
export async function restrictionsOf(tx: Db, input: Input, fallback: Restrictions, known: Restrictions): Promise<Restrictions> {
  const { productIds, collectionIds, categoryIds, brandIds } = fallback
  const result = { productIds, collectionIds, categoryIds, brandIds }
  for (const field of Object.keys(TABLES) as (keyof typeof TABLES)[]) {
    const given = input[field]
    if (!given) continue
    const kept = new Set(known[COLUMN[field]])
    await requireIds(
      tx,
      TABLES[field],
      given.map((id) => (kept.has(id) ? null : id)),
      field,
    )
    result[COLUMN[field]] = given
  }
  return result
}

export const unrestricted: Restrictions = { productIds: [], collectionIds: [], categoryIds: [], brandIds: [] }
