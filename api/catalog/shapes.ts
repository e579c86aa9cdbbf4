/** The shapes of the catalog on the wire, shared by its resources (document 3, Catalog). */
import { wrong } from '../values/refusal.ts'
import {
  Body,
  CountryCode,
  Label,
  Money,
  Named,
  Nullable,
  OneOf,
  RichDocument,
  Slug,
  Text,
  Type,
  Uuid,
  WebUrl,
  type Static,
} from '../http/schema.ts'

const LOCALE = '^[a-z]{2,3}-[A-Z]{2}$'
export const Lang = Type.Optional(
  Type.String({ pattern: LOCALE, description: 'Locale whose translations are laid over the content, such as `pl-PL`' }),
)
export const Currency = Type.Optional(Type.String({ pattern: '^[A-Za-z]{3}$', description: 'Enabled currency to price the answer in' }))

export const Seo = Named('Seo', {
  title: Type.Optional(Nullable(Text(0, 300))),
  description: Type.Optional(Nullable(Text(0, 1000))),
  canonical: Type.Optional(Nullable(Text(0, 2048, { pattern: '^(https?://.*|/.*)?$' }))),
})
/** The description of an image's URL in a request; `api/content/media/image-importer.ts` does the copying. */
const COPIED = "Copied to the store's media library when it is elsewhere"
export const Images = Type.Array(WebUrl(), { maxItems: 100, description: COPIED })
export const imageInput = Type.Optional(Nullable(WebUrl({ description: COPIED })))
/** Prices by lowercase currency code. */
const Prices = Type.Record(Type.String({ pattern: '^[A-Za-z]{3}$' }), Money(), { maxProperties: 200 })
export const Countries = Type.Array(CountryCode(), { maxItems: 250, uniqueItems: true })
/** Country codes of a request in upper case; refuses one that is there in other letters. */
export function countriesOf(given: Static<typeof Countries> = []): string[] {
  const codes = given.map((code) => code.toUpperCase())
  const repeat = codes.findIndex((code, i) => codes.indexOf(code) < i)
  if (repeat >= 0) throw wrong(`countries.${repeat}`, 'must not repeat a country')
  return codes
}

const Stock = Type.Object({
  tracked: Type.Boolean(),
  quantity: Type.Integer({ description: 'On the shelf' }),
  reserved: Type.Integer({ description: 'Held by unshipped orders' }),
  available: Type.Integer({ description: 'quantity less reserved' }),
  backorder: Type.Boolean(),
})
const Dimensions = Nullable(
  Type.Object({
    length: Nullable(Type.Number({ minimum: 0 })),
    width: Nullable(Type.Number({ minimum: 0 })),
    height: Nullable(Type.Number({ minimum: 0 })),
  }),
)
/** Names of 1-100 characters; as a pattern, since a record checks no lengths of its names. */
const Options = Type.Record(Type.String({ pattern: '^[\\s\\S]{1,100}$' }), Type.String({ maxLength: 200 }), {
  maxProperties: 20,
  additionalProperties: false,
})

export const Variant = Named('Variant', {
  id: Uuid(),
  productId: Uuid(),
  name: Type.String(),
  sku: Nullable(Type.String()),
  barcode: Nullable(Type.String()),
  price: Nullable(Type.Number()),
  compareAtPrice: Nullable(Type.Number()),
  prices: Prices,
  options: Options,
  stock: Stock,
  weightGrams: Nullable(Type.Integer()),
  dimensionsMm: Dimensions,
  shippable: Type.Boolean(),
  bookable: Type.Boolean(),
  taxRateId: Nullable(Uuid()),
  position: Type.Integer(),
  active: Type.Boolean(),
})

const StockInput = Named('StockInput', {
  tracked: Type.Boolean({ default: true }),
  quantity: Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 }),
  backorder: Type.Boolean({ default: false }),
})
/** Stock on PATCH: what is left out stays; the quantity is changed through the inventory. */
const StockPatch = Named('UpdateProductStock', {
  tracked: Type.Optional(Type.Boolean()),
  quantity: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
  backorder: Type.Optional(Type.Boolean()),
})

const variantFields = {
  name: Type.Optional(Label(300)),
  sku: Type.Optional(Nullable(Label(100))),
  barcode: Type.Optional(Nullable(Label(100))),
  compareAtPrice: Type.Optional(Nullable(Money())),
  prices: Type.Optional(Prices),
  options: Type.Optional(Options),
  weightGrams: Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: 100_000_000 }))),
  dimensionsMm: Type.Optional(DimensionsInput()),
  shippable: Type.Optional(Type.Boolean()),
  bookable: Type.Optional(Type.Boolean()),
  taxRateId: Type.Optional(Nullable(Uuid())),
  position: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  active: Type.Optional(Type.Boolean()),
}
function DimensionsInput() {
  const side = () => Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 1_000_000 })))
  return Nullable(Named('DimensionsMmInput', { length: side(), width: side(), height: side() }))
}
export const VariantInput = Body(
  'VariantInput',
  [{ name: 'Linen shirt, L', price: 49.9, sku: 'LINEN-L', options: { size: 'L' }, stock: { quantity: 8 } }],
  {
    price: Money(),
    stock: Type.Optional(StockInput),
    ...variantFields,
    shippable: Type.Optional(Type.Boolean({ default: true })),
    bookable: Type.Optional(Type.Boolean({ default: false })),
    active: Type.Optional(Type.Boolean({ default: true })),
  },
)
export const VariantPatch = Body(
  'VariantPatch',
  [{ price: 19.99, compareAtPrice: 19.99, weightGrams: 250, shippable: true, bookable: true }],
  { price: Type.Optional(Money()), stock: Type.Optional(StockPatch), ...variantFields },
)
export type VariantInput = Static<typeof VariantInput>
export type VariantPatch = Static<typeof VariantPatch>

/** What makes a product an event (document 2). */
export const EventFields = Named('EventFields', {
  enabled: Type.Boolean(),
  startsAt: Nullable(Type.String()),
  location: Nullable(Type.String()),
  capacity: Nullable(Type.Integer({ description: 'Null is no limit' })),
  guestLabel: Nullable(Type.String()),
  guest: Nullable(Type.String()),
})

export const PRODUCT_STATUSES = ['draft', 'published', 'hidden'] as const
const productFields = {
  id: Uuid(),
  name: Type.String(),
  slug: Type.String(),
  summary: Nullable(Type.String()),
  badgeContent: Nullable(Type.String()),
  status: OneOf(PRODUCT_STATUSES),
  images: Type.Array(Type.String()),
  price: Nullable(Type.Number(), { description: 'Cheapest active variant' }),
  prices: Prices,
  brandId: Nullable(Uuid()),
  categoryId: Nullable(Uuid()),
  collectionIds: Type.Array(Uuid()),
  tags: Type.Array(Type.String()),
  seo: Seo,
  event: Nullable(EventFields, { examples: [null] }),
  variants: Type.Array(Variant),
  rating: Named('Rating', { average: Nullable(Type.Number()), count: Type.Integer() }),
  createdAt: Type.String(),
  updatedAt: Type.String(),
}
export const ProductItem = Named('ProductItem', productFields)
export const Product = Named('Product', { ...productFields, content: Nullable(RichDocument()) })

const productInput = {
  slug: Type.Optional(Slug()),
  summary: Type.Optional(Nullable(Text(0, 5000))),
  content: Type.Optional(Nullable(RichDocument())),
  badgeContent: Type.Optional(Nullable(Text(0, 200))),
  status: Type.Optional(OneOf(PRODUCT_STATUSES)),
  images: Type.Optional(Images),
  brandId: Type.Optional(Nullable(Uuid())),
  categoryId: Type.Optional(Nullable(Uuid())),
  collectionIds: Type.Optional(Type.Array(Uuid(), { maxItems: 100, uniqueItems: true })),
  tags: Type.Optional(Type.Array(Label(100), { maxItems: 100, uniqueItems: true })),
  seo: Type.Optional(Seo),
  sku: Type.Optional(Nullable(Label(100))),
  price: Type.Optional(Money()),
  compareAtPrice: Type.Optional(Nullable(Money())),
  prices: Type.Optional(Prices),
}
export const ProductInput = Named(
  'ProductInput',
  {
    name: Label(300),
    ...productInput,
    status: Type.Optional(OneOf(PRODUCT_STATUSES, { default: 'published' })),
    stock: Type.Optional(StockInput),
    variants: Type.Optional(Type.Array(VariantInput, { minItems: 1, maxItems: 200 })),
  },
  {
    examples: [
      {
        name: 'Linen shirt',
        summary: 'Made from European linen.',
        status: 'published',
        price: 49.9,
        sku: 'LINEN-M',
        stock: { quantity: 12 },
        tags: ['linen'],
      },
    ],
  },
)
export const ProductPatch = Body('ProductPatch', [{ name: 'Linen shirt, washed', status: 'published', tags: ['linen', 'summer'] }], {
  name: Type.Optional(Label(300)),
  ...productInput,
  stock: Type.Optional(StockPatch),
})
export type ProductInput = Static<typeof ProductInput>
export type ProductPatch = Static<typeof ProductPatch>
