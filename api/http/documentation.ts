/** Where the content site explains the API: the page of each operation, and its place there. */
import { slug } from 'github-slugger'
import type { Room, Route } from './route.ts'

const REFERENCE = '/docs/api-reference/'
/** The page about all that operations share, and about those that have no page of their own. */
export const OVERVIEW = `${REFERENCE}overview`

/** The pages of what is called otherwise than its page, or has one for its operations alone: by the first part of a path. */
const PAGES: Readonly<Record<string, string>> = {
  me: 'store',
  'audit-log': 'store',
  usage: 'store',
  carts: 'carts-operations',
  orders: 'orders-operations',
  payments: 'orders-operations',
  loyalty: 'loyalty-operations',
  newsletters: 'newsletters-operations',
  products: 'products-operations',
  settings: 'settings-operations',
  photofeed: 'media',
  wishlists: 'wishlist',
  'support-replies': 'support-cases',
  'booking-slots': 'booking-slots-operations',
  bookings: 'booking-slots-operations',
  openapi: 'overview',
  docs: 'overview',
}
/** Parts of a resource that have a page of their own. */
const PARTS: Readonly<Record<string, string>> = {
  variants: 'variants',
  translations: 'localization',
  reviews: 'reviews',
  comments: 'post-comments',
}
/** Resources that one page is about, whatever their parts are called. */
const WHOLE = new Set(['feedback-sessions'])

/** The page where a room begins. */
const ROOM_PAGES: Readonly<Record<Room, string>> = {
  store: 'store',
  catalog: 'products',
  checkout: 'carts',
  orders: 'orders',
  marketing: 'coupons',
  content: 'media',
  events: 'events',
  builder: 'publish',
}
export const roomPage = (room: Room) => REFERENCE + ROOM_PAGES[room]

/** The page about an operation, and the anchor of its heading there, which is its summary. */
export function placeOf({ path, options }: Pick<Route, 'path' | 'options'>): string {
  const [first, ...parts] = path.split('/').slice(1)
  const part = WHOLE.has(first!) ? undefined : parts.find((name) => Object.hasOwn(PARTS, name))
  const page = REFERENCE + (part ? PARTS[part] : (PAGES[first!] ?? first))
  return page === OVERVIEW ? page : `${page}#${slug(options.summary)}`
}
