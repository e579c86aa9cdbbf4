/** The seed's catalog: groups, taxes and products. What is there already is used, not made again. */
import { eq, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { indexGroup, type Group } from '../../api/catalog/groups/groups.ts'
import { storeProduct } from '../../api/catalog/insert-product.ts'
import type { ProductInput, VariantInput } from '../../api/catalog/shapes.ts'
import { slugFor } from '../../api/http/input/references.ts'
import { toMajor } from '../../api/values/money.ts'
import { slugOf } from '../../api/values/slug.ts'
import type { Db, Reader } from '../../db/driver.ts'
import { brands, categories, collections, products, taxRates } from '../../db/store/catalog.ts'
import { actingAt, amount, DAY_MS, FOUNDED_DAYS_AGO, type Seeding } from './seeding.ts'
import { BRANDS, COLLECTIONS, DEPARTMENTS, QUALITIES, SENTENCES, TAGS, type Department } from './words.ts'

/** Ids of what products belong to; categories by the name of the part of a department. */
interface Groups {
  brands: string[]
  collections: string[]
  parts: { department: Department; part: string; categoryId: string }[]
  reducedRateId: string | null
}

async function group(
  tx: Db,
  kind: Group,
  table: typeof categories | typeof brands | typeof collections,
  seeding: Seeding,
  name: string,
  more: object,
): Promise<string> {
  const slug = slugOf(name)
  const [known] = await tx
    .select({ id: table.id })
    .from(table as typeof brands)
    .where(eq(table.slug, slug))
  if (known) return known.id
  const { clock, now } = actingAt(seeding.nowMs - FOUNDED_DAYS_AGO * DAY_MS)
  const row = {
    id: clock.id(),
    name,
    slug,
    description: `${name}. ${seeding.choose.one(SENTENCES)}`,
    active: true,
    seo: {},
    createdAt: now,
    updatedAt: now,
    ...more,
  }
  await tx.insert(table as SQLiteTable).values(row)
  await indexGroup(tx, kind, row)
  return row.id
}

/** The groups that products belong to. */
export async function seedGroups(tx: Db, seeding: Seeding): Promise<Groups> {
  const groups: Groups = { brands: [], collections: [], parts: [], reducedRateId: null }
  for (const name of BRANDS) groups.brands.push(await group(tx, 'brand', brands, seeding, name, { logo: null }))
  for (const name of COLLECTIONS)
    groups.collections.push(
      await group(tx, 'collection', collections, seeding, name, { longDescription: null, image: null, kind: 'products' }),
    )
  for (const department of DEPARTMENTS) {
    const parentId = await group(tx, 'category', categories, seeding, department.name, {
      longDescription: null,
      image: null,
      parentId: null,
    })
    for (const part of Object.keys(department.parts)) {
      groups.parts.push({
        department,
        part,
        categoryId: await group(tx, 'category', categories, seeding, part, { longDescription: null, image: null, parentId }),
      })
    }
  }
  groups.reducedRateId = await seedTaxes(tx, seeding)
  return groups
}

/** Tax rates, unless the store has some; returns the reduced one of the seed. */
async function seedTaxes(tx: Db, { nowMs }: Seeding): Promise<string | null> {
  const { clock, now } = actingAt(nowMs - FOUNDED_DAYS_AGO * DAY_MS)
  if (await tx.$count(taxRates))
    return (await tx.select({ id: taxRates.id }).from(taxRates).where(eq(taxRates.name, 'Reduced')))[0]?.id ?? null
  const row = (name: string, rate: number) => ({
    id: clock.id(),
    name,
    rate,
    countries: [],
    default: name === 'Standard',
    createdAt: now,
    updatedAt: now,
  })
  const reduced = row('Reduced', 80_000)
  await tx.insert(taxRates).values([row('Standard', 200_000), reduced])
  return reduced.id
}

/** Up to `count` different choices of a department's options. */
function combinations({ options }: Department, { choose }: Seeding, count: number): Record<string, string>[] {
  const all = Object.entries(options).reduce<Record<string, string>[]>(
    (sets, [option, values]) => sets.flatMap((set) => values.map((value) => ({ ...set, [option]: value }))),
    [{}],
  )
  return choose.some(all, count)
}

function variantsOf(
  seeding: Seeding,
  department: Department,
  about: { slug: string; price: number; reducedRateId: string | null },
): VariantInput[] {
  const {
    choose,
    settings: { currency, enabledCurrencies },
  } = seeding
  const others = enabledCurrencies.filter((code) => code !== currency)
  const count = choose.whole(1, 6)
  const sets: Record<string, string>[] = count === 1 ? [{}] : combinations(department, seeding, count)
  const onSale = choose.chance(0.2)
  return sets.map((options): VariantInput => ({
    options,
    price: toMajor(about.price, currency),
    prices: Object.fromEntries(others.map((code) => [code, toMajor(amount(about.price, code), code)])),
    compareAtPrice: onSale ? toMajor(Math.ceil((about.price * 1.25) / 100) * 100, currency) : null,
    sku: [about.slug, ...Object.values(options).map(slugOf)].join('-').toUpperCase().slice(-100),
    weightGrams: choose.whole(10, 300) * 10,
    taxRateId: department.name === 'Paper' ? about.reducedRateId : null,
    stock: { tracked: true, quantity: choose.chance(0.08) ? choose.whole(0, 4) : choose.whole(15, 250), backorder: false },
  }))
}

/**
 * Adds one product, in any case a published one or as it comes, through the function that the API adds products with. The caller
 * indexes it.
 */
export async function seedProduct(tx: Db, seeding: Seeding, groups: Groups, { atMs, isPublished }: { atMs: number; isPublished: boolean }) {
  const { choose, settings } = seeding
  const { department, part, categoryId } = choose.one(groups.parts)
  const { things, least, most } = department.parts[part]!
  const name = `${choose.one(QUALITIES)} ${choose.one(department.materials)} ${choose.one(things)}`
  const slug = await slugFor(tx, products, undefined, name)
  const price = amount(choose.whole(Math.floor(least / 100), Math.floor(most / 100)) * 100 + 90, settings.currency)
  const [summary, ...sentences] = choose.some(SENTENCES, 4)
  const status = choose.chance(0.04) ? 'draft' : choose.chance(0.02) ? 'hidden' : 'published'
  const body: ProductInput = {
    name,
    slug,
    summary,
    content: { type: 'doc', content: sentences.map((text) => ({ type: 'paragraph', content: [{ type: 'text', text }] })) },
    status: isPublished ? 'published' : status,
    brandId: choose.one(groups.brands),
    categoryId,
    collectionIds: choose.some(groups.collections, choose.whole(0, 2)),
    tags: choose.some(TAGS, choose.whole(0, 3)),
    badgeContent: choose.chance(0.1) ? 'New' : null,
    seo: { title: name, description: summary },
    variants: variantsOf(seeding, department, { slug, price, reducedRateId: groups.reducedRateId }),
  }
  const about = actingAt(Math.floor(atMs))
  return storeProduct(tx, about as never, settings, body)
}

/** What can be ordered: at most so many variants of published products, in an order that does not depend on ids. */
export async function sellable(db: Reader, limit = 20_000): Promise<string[]> {
  return (
    await db.all<{ id: string }>(
      sql`select v.id as id from variants v join products p on p.id = v.product_id where v.active = 1 and p.status = 'published' and p.is_event = 0 order by v.sku, v.id limit ${limit}`,
    )
  ).map((row) => Object.values(row)[0]!)
}
