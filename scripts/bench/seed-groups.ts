/** The bench's brands, categories and collections. */
import { inserter, type Db } from '../../db/driver.ts'
import { brands, categories, collections } from '../../db/store/catalog.ts'

const [BRANDS, CATEGORIES, COLLECTIONS] = [20, 30, 12]
export const SENTENCE = 'Made in small batches from materials that last, checked by hand and packed without plastic.'

const insertBrand = inserter(brands)
const insertCategory = inserter(categories)
const insertCollection = inserter(collections)

/** Ids of what products belong to. */
export interface Groups {
  brands: string[]
  categories: string[]
  collections: string[]
}

/** Makes them all. */
export async function seedGroups(tx: Db, now: string): Promise<Groups> {
  const group = (kind: string, i: number) => ({
    id: Bun.randomUUIDv7(),
    name: `${kind} ${i}`,
    slug: `${kind.toLowerCase()}-${i}`,
    description: SENTENCE,
    active: true,
    seo: {},
    createdAt: now,
    updatedAt: now,
  })
  const made: Groups = { brands: [], categories: [], collections: [] }
  for (let i = 1; i <= BRANDS; i++) made.brands.push(await keep(insertBrand, tx, { ...group('Brand', i), logo: null }))
  for (let i = 1; i <= CATEGORIES; i++) {
    const parentId = i > CATEGORIES / 3 ? made.categories[i % Math.floor(CATEGORIES / 3)]! : null
    made.categories.push(await keep(insertCategory, tx, { ...group('Category', i), longDescription: null, image: null, parentId }))
  }
  for (let i = 1; i <= COLLECTIONS; i++)
    made.collections.push(
      await keep(insertCollection, tx, { ...group('Collection', i), longDescription: null, image: null, kind: 'products' }),
    )
  return made
}

async function keep<R extends { id: string }>(insert: (tx: Db, row: R) => Promise<unknown>, tx: Db, row: R): Promise<string> {
  await insert(tx, row)
  return row.id
}
