/** The bench's catalog: groups, taxes, shipping, a coupon, and products with variants, stock, prices and search documents. */
import { indexProducts } from '../../api/catalog/search/index-products.ts'
import { refreshPrices } from '../../api/catalog/write.ts'
import { fold } from '../../api/values/slug.ts'
import { inserter, type Db } from '../../db/driver.ts'
import { collectionProducts, inventoryMovements, products, productTags, taxRates, variants } from '../../db/store/catalog.ts'
import { shippingMethods } from '../../db/store/checkout.ts'
import { coupons } from '../../db/store/marketing.ts'
import type { Choose } from './random.ts'
import { seedGroups, SENTENCE, type Groups } from './seed-groups.ts'

const VARIANTS_MAX = 3
/** More of each variant than any run sells. */
const QUANTITY_LEAST = 100_000
const QUANTITY_MOST = 200_000
const WORDS = {
  first: ['Soft', 'Heavy', 'Light', 'Classic', 'Modern', 'Rustic', 'Quiet', 'Bright', 'Nordic', 'Coastal'],
  second: ['Linen', 'Oak', 'Wool', 'Steel', 'Ceramic', 'Cotton', 'Leather', 'Glass', 'Cork', 'Bamboo'],
  third: ['Shirt', 'Lamp', 'Chair', 'Blanket', 'Mug', 'Backpack', 'Notebook', 'Vase', 'Cushion', 'Table'],
}
const TAGS = ['new', 'sale', 'gift', 'eco', 'handmade', 'limited', 'bestseller', 'outlet']
const SIZES = ['S', 'M', 'L']
const COLORS = ['Blue', 'Sand', 'Forest', 'Charcoal']

const insertTaxRate = inserter(taxRates)
const insertMethod = inserter(shippingMethods)
const insertCoupon = inserter(coupons)
const insertProduct = inserter(products)
const insertVariant = inserter(variants)
const insertTag = inserter(productTags)
const insertMember = inserter(collectionProducts)
const insertMovement = inserter(inventoryMovements)

/** A variant as orders and carts of the seed know it; amounts in minor units, the rate in percent times 10,000. */
export interface SeededVariant {
  id: string
  productId: string
  name: string
  sku: string
  price: number
  quantity: number
  reserved: number
}
export interface Catalog {
  productIds: string[]
  variants: SeededVariant[]
  taxRate: number
  method: { id: string; name: string; price: number }
  coupon: { id: string; code: string; percentage: number }
  groups: Groups
}

const RATE = 230_000
const SHIPPING_CENTS = 499
const COUPON = { code: 'WELCOME10', percentage: 10 }

async function seedVariants(
  tx: Db,
  choose: Choose,
  now: string,
  product: { id: string; name: string; number: number },
): Promise<SeededVariant[]> {
  const made: SeededVariant[] = []
  const count = choose.whole(1, VARIANTS_MAX)
  const color = choose.one(COLORS)
  const basePrice = choose.whole(5, 200) * 100 - 1
  for (let i = 0; i < count; i++) {
    const options: Record<string, string> = count === 1 ? {} : { size: SIZES[i]!, color }
    const price = basePrice + i * 200
    const variant: SeededVariant = {
      id: Bun.randomUUIDv7(),
      productId: product.id,
      name: Object.values(options).join(' / ') || product.name,
      sku: `SKU-${String(product.number).padStart(5, '0')}-${i + 1}`,
      price,
      quantity: choose.whole(QUANTITY_LEAST, QUANTITY_MOST),
      reserved: 0,
    }
    await insertVariant(tx, {
      ...variant,
      barcode: null,
      compareAtPrice: choose.chance(0.2) ? price + 1000 : null,
      prices: choose.chance(0.3) ? { eur: Math.round(price * 0.92) } : {},
      options,
      tracked: true,
      backorder: false,
      weightGrams: choose.whole(100, 5000),
      dimensionsMm: choose.chance(0.5) ? { length: 300, width: 200, height: 100 } : null,
      shippable: true,
      bookable: false,
      taxRateId: null,
      position: i,
      active: true,
      createdAt: now,
      updatedAt: now,
    })
    await insertMovement(tx, {
      id: Bun.randomUUIDv7(),
      variantId: variant.id,
      delta: variant.quantity,
      reason: 'initial stock',
      orderId: null,
      keyId: null,
      createdAt: now,
    })
    made.push(variant)
  }
  return made
}

async function seedProduct(
  tx: Db,
  choose: Choose,
  groups: Groups,
  about: { number: number; now: string; currency: string },
): Promise<{ id: string; variants: SeededVariant[] }> {
  const { number, now } = about
  const id = Bun.randomUUIDv7()
  const name = `${choose.one(WORDS.first)} ${choose.one(WORDS.second)} ${choose.one(WORDS.third)} ${number}`
  const slug = fold(name).toLowerCase().replaceAll(' ', '-')
  const tags = [...new Set([choose.one(TAGS), choose.one(TAGS), choose.one(TAGS)])]
  const ratingCount = choose.whole(0, 40)
  await insertProduct(tx, {
    id,
    name,
    foldedName: fold(name),
    slug,
    summary: `${name}. ${SENTENCE}`,
    badgeContent: choose.chance(0.1) ? 'New' : null,
    status: 'published',
    content: {
      type: 'doc',
      content: [1, 2, 3].map(() => ({ type: 'paragraph', content: [{ type: 'text', text: `${SENTENCE} ${SENTENCE}` }] })),
    },
    images: [1, 2].map((n) => `https://cdn.shop.example/products/${slug}-${n}.jpg`),
    brandId: choose.one(groups.brands),
    categoryId: choose.one(groups.categories),
    tags,
    seo: { title: name, description: SENTENCE },
    isEvent: false,
    inStock: true,
    ratingSum: ratingCount * 4,
    ratingCount,
    createdAt: now,
    updatedAt: now,
  })
  const made = await seedVariants(tx, choose, now, { id, name, number })
  for (const tag of tags) await insertTag(tx, { tag, productId: id })
  for (const collectionId of new Set([choose.one(groups.collections), choose.one(groups.collections)]))
    await insertMember(tx, { collectionId, productId: id, position: number })
  await refreshPrices(tx, id, about.currency)
  return { id, variants: made }
}

/** Fills an empty store with all that a checkout asks for, but for products. */
export async function seedCatalog(tx: Db, now: string): Promise<Catalog> {
  const dated = { createdAt: now, updatedAt: now }
  await insertTaxRate(tx, { id: Bun.randomUUIDv7(), name: 'VAT', rate: RATE, countries: [], default: true, ...dated })
  const method = { id: Bun.randomUUIDv7(), name: 'Courier', price: SHIPPING_CENTS }
  await insertMethod(tx, {
    ...method,
    folded: fold(`${method.name}\n`),
    description: null,
    type: 'courier',
    freeShippingThreshold: null,
    minShippingTime: 1,
    maxShippingTime: 3,
    countries: [],
    taxRateId: null,
    position: 0,
    currencyPrices: {},
    ...dated,
  })
  const coupon = { id: Bun.randomUUIDv7(), ...COUPON }
  await insertCoupon(tx, {
    ...coupon,
    folded: fold(coupon.code),
    type: 'percentage',
    amount: null,
    timesRedeemed: 0,
    maxUses: null,
    startDate: null,
    endDate: null,
    minProductCount: null,
    maxProductCount: null,
    productIds: [],
    collectionIds: [],
    categoryIds: [],
    brandIds: [],
    currencyAmounts: {},
    ...dated,
  })
  return { productIds: [], variants: [], taxRate: RATE, method, coupon, groups: await seedGroups(tx, now) }
}

/** Adds products, published ones. */
export async function seedProducts(tx: Db, choose: Choose, catalog: Catalog, about: { count: number; now: string; currency: string }) {
  const ids: string[] = []
  for (let i = 0; i < about.count; i++) {
    const number = catalog.productIds.length + i + 1
    const product = await seedProduct(tx, choose, catalog.groups, { number, now: about.now, currency: about.currency })
    ids.push(product.id)
    catalog.variants.push(...product.variants)
  }
  await indexProducts(tx, ids)
  catalog.productIds.push(...ids)
}
