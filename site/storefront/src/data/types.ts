/** What a storefront is built from, as the files in the folder STOA_DATA have it. */

/** A text of the store: plain, or rich text as safe HTML and as Markdown. */
export type Text = { text: string; html: null; markdown: null } | { text: null; html: string; markdown: string } | null

interface Seo {
  title?: string | null
  description?: string | null
  canonical?: string | null
}

export interface Language {
  code: string
  /** What the paths of its pages begin with, without slashes; empty for the store's own language. */
  path: string
}

export interface Shop {
  id: string
  /** Where the shop is, without a slash at the end. */
  base: string
  name: string
  /** The store's own, and all that it sells in, that one first; lowercase. */
  currency: string
  currencies: string[]
  locale: string
  languages: Language[]
  taxesIncluded: boolean
  timezone: string
  tools: Record<'events' | 'bookings' | 'reviews' | 'blog' | 'loyalty' | 'wishlist', boolean>
  contactEmail: string | null
  address: Partial<Record<'company' | 'line1' | 'line2' | 'city' | 'state' | 'postalCode' | 'country', string | null>>
  checkout: { requirePhone: boolean }
  testMode: boolean
  /** Whether the store sends mails. */
  mails: boolean
  /** Whether who signs up for the newsletter is asked by mail first. */
  asksSubscribers: boolean
  looks: {
    logo: string | null
    colors: Record<'background' | 'surface' | 'text' | 'muted' | 'accent' | 'onAccent', string>
    fonts: { heading: string | null; body: string | null }
  }
  socials: { network: string; url: string }[]
}

export interface Variant {
  id: string
  name: string
  sku: string | null
  barcode: string | null
  price: number | null
  compareAtPrice: number | null
  prices: Record<string, number>
  options: Record<string, string>
  stock: { tracked: boolean; available: number; backorder: boolean }
  bookable: boolean
  active: boolean
  position: number
}

interface Review {
  id: string
  author: string
  content: string
  rating: number
  createdAt: string
}

interface EventFields {
  startsAt: string | null
  location: string | null
  capacity: number | null
  guest?: string | null
  guestLabel?: string | null
}

export interface Product {
  id: string
  name: string
  slug: string
  summary: string | null
  content: Text
  badgeContent: string | null
  images: string[]
  price: number | null
  prices: Record<string, number>
  brandId: string | null
  categoryId: string | null
  collectionIds: string[]
  tags: string[]
  seo: Seo
  event: EventFields | null
  variants: Variant[]
  rating: { average: number | null; count: number }
  reviews?: Review[]
  createdAt: string
  updatedAt: string
}

export interface Group {
  id: string
  name: string
  slug: string
  description?: Text
  longDescription?: Text
  image?: string | null
  logo?: string | null
  parentId?: string | null
  kind?: 'products' | 'event-group'
  productIds?: string[]
  seo?: Seo
}

export interface Bundle {
  id: string
  name: string
  slug: string
  summary: string | null
  images: string[]
  discountPercentage: number
  content: Text
  seo: Seo
  parts: { variantId: string; quantity: number; productId: string; productName: string }[]
}

interface Comment {
  id: string
  author: string
  content: string
  createdAt: string
}

export interface Post {
  id: string
  title: string
  slug: string
  excerpt: string | null
  image: string | null
  categoryIds: string[]
  publishedAt: string | null
  content: Text
  seo: Seo
  commentCount: number
  comments?: Comment[]
  updatedAt: string
}

interface Slot {
  id: string
  productVariantId: string
  startsAt: string
  endsAt: string
  timezone: string
  spotsRemaining: number
  settings: { location: string | null; instructor: string | null; requirements: string | null }
}

export type LegalKind = 'terms' | 'privacy' | 'returns' | 'shipping' | 'imprint'

export interface Catalog {
  products: Product[]
  categories: Group[]
  collections: Group[]
  brands: Group[]
  bundles: Bundle[]
  posts: Post[]
  blogCategories: Group[]
  slots: Slot[]
  legal: Partial<Record<LegalKind, { title: string | null; content: Text; updatedAt: string }>>
}
