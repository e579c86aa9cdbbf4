/** The pages of a store's own shop that mails lead to, and the tokens that open what is one person's alone. */
import type { Owner } from '../../outside/files.ts'
import type { Services } from '../../outside/services.ts'
import type { Secrets } from '../../outside/secrets.ts'

/** What the link to an order's page stands for. */
export interface OrderLink {
  id: string
  /** The access code, with which the buyer's tickets open; nothing for an order without any. */
  code?: string | null
  email?: string
  /** It stands in a mail: who opens it reads the mail of this address. */
  mailed?: true
}

/** What opens the tickets of an order. */
export interface TicketLink {
  code: string
  email: string
}

const VERSION = 'v1.'
const TOKEN_MAX_LENGTH = 1_000
const placeOf = (storeId: string, kind: string) => `storefront ${storeId} ${kind}`

/** A token for a link of a store's shop: whoever has it may see what it stands for. */
export const shopToken = (secrets: Secrets, storeId: string, kind: string, value: unknown): string =>
  secrets.seal(value, placeOf(storeId, kind)).slice(VERSION.length)

/** What a token stands for; null for one that this store has not made for this kind of page. */
export const openShopToken = <T>(secrets: Secrets, storeId: string, kind: string, token: string): T | null =>
  token.length > TOKEN_MAX_LENGTH ? null : secrets.open<T>(VERSION + token, placeOf(storeId, kind))

/** Addresses in the shop; each is null where the shop has no such page. */
export interface ShopLinks {
  home: string
  /** The page of a product, or of an event, by its slug in the shop's language. */
  product(slug: string): string | null
  order(link: OrderLink): string | null
  tickets(link: TicketLink): string | null
  /** The page of one guest's ticket. */
  ticket(token: string): string | null
}

/** The pages of a store's shop in a language, else in its own; null while the store has no shop that is open. */
export async function shopLinks(
  { storefronts, secrets }: Pick<Services, 'storefronts' | 'secrets'>,
  { storeId, environment }: Owner,
  locale: string | null,
): Promise<ShopLinks | null> {
  const shop = environment === 'live' ? await storefronts.openShop(storeId) : null
  if (!shop) return null
  const { base, languages } = shop
  const spoken = languages.find(({ code }) => code === locale) ?? languages.find(({ code }) => code.split('-')[0] === locale?.split('-')[0])
  const prefix = spoken?.path ? `/${spoken.path}` : ''
  const page = (path: string, rest = '') => (shop.has(prefix + path) ? base + encodeURI(prefix + path) + rest : null)
  return {
    home: base + (prefix || '/'),
    product: (slug) => page(`/products/${slug}`) ?? page(`/events/${slug}`),
    order: (link) => page('/order', `/${shopToken(secrets, storeId, 'order', link)}`),
    tickets: (link) => page('/tickets', `?open=${shopToken(secrets, storeId, 'tickets', link)}`),
    ticket: (token) => page('/ticket', `/${token}`),
  }
}
