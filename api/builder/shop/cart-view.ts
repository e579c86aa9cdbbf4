/** The cart and the checkout, as their pages show them. */
import { settingsIn } from '../../http/call.ts'
import { COUNTRIES } from '../../values/countries.ts'
import { takesStripe } from './payment.ts'
import { pointsOf, reads } from './proven.ts'
import type { Visit } from './visit.ts'

interface Item {
  id: string
  variantId: string | null
  productId: string | null
  name: string
  image: string | null
  quantity: number
  unitPriceCents: number
  discountCents: number
  totalCents: number
  bookingSlotId: string | null
  bundleId: string | null
}
interface Address {
  name?: string | null
  line1?: string | null
  line2?: string | null
  city?: string | null
  state?: string | null
  postalCode?: string | null
  country?: string | null
  phone?: string | null
}
export interface Cart {
  id: string
  currency: string
  email: string | null
  items: Item[]
  coupons: { code: string; discountCents: number }[]
  promotions: { name: string; discountCents: number }[]
  loyaltyPoints: number
  shippingMethodId: string | null
  pickupLocationId: string | null
  shippingAddress: Address | null
  note: string | null
  subtotalCents: number
  discountCents: number
  shippingCents: number
  taxCents: number
  totalCents: number
  warnings: { message: string }[]
  orderId: string | null
}

/** The cart of the visitor's cookie; null when there is none, or it has become an order. */
export async function readCart(visit: Visit): Promise<Cart | null> {
  const known = visit.sealed<{ id: string }>('cart')
  if (!known) return null
  const { status, body } = await visit.ask<Cart>('GET', `/carts/${known.id}`)
  if (status !== 200 || body.orderId) return null
  if (!body.loyaltyPoints || reads(visit, body.email)) return body
  // Its address was changed since: points of whoever that is are not the visitor's.
  const without = await visit.ask<Cart>('PUT', `/carts/${known.id}/loyalty`, { points: 0 })
  return without.status === 200 ? without.body : null
}

/** Notes for the badge of the header how many things are in the cart. */
export function noteCount(visit: Visit, cart: Cart | null) {
  const count = cart?.items.reduce((sum, { quantity }) => sum + quantity, 0) ?? 0
  visit.setCookie('cart_count', count ? String(count) : null, { forScripts: true })
}

interface Shown {
  name: string
  slug: string
  variants: { id: string; name: string; options: Record<string, string>; shippable: boolean }[]
  event: unknown
}

/** The products of a cart, each asked for once. */
async function productsOf(visit: Visit, { items }: Cart) {
  const products = new Map<string, Shown | null>()
  for (const { productId } of items)
    if (productId && !products.has(productId)) {
      const { status, body } = await visit.ask<Shown>('GET', `/products/${productId}?${visit.query({ currency: undefined })}`)
      products.set(productId, status === 200 ? body : null)
    }
  return products
}

/** Whether something in a cart has to be sent; of a set that is not looked into, it does. */
export async function needsShipping(visit: Visit, cart: Cart | null): Promise<boolean> {
  if (!cart) return false
  const products = await productsOf(visit, cart)
  return cart.items.some(({ productId, variantId, bundleId }) => {
    const variant = productId ? products.get(productId)?.variants.find(({ id }) => id === variantId) : undefined
    return bundleId !== null || (variant?.shippable ?? true)
  })
}

/** What the lines of a cart are called and lead to. */
async function linesOf(visit: Visit, cart: Cart) {
  const { items, currency } = cart
  const products = await productsOf(visit, cart)
  const pictures = await visit.renditions(items.map(({ image }) => image))
  return items.map((item) => {
    const product = item.productId ? products.get(item.productId) : null
    const variant = product?.variants.find(({ id }) => id === item.variantId)
    return {
      id: item.id,
      name: product?.name ?? item.name,
      options: variant ? Object.values(variant.options).join(', ') : '',
      href: product ? visit.at(`/${product.event ? 'events' : 'products'}/${product.slug}`) : visit.at('/cart'),
      image: (item.image && pictures.get(item.image)?.src) ?? item.image,
      quantity: item.quantity,
      unit: visit.money(item.unitPriceCents, currency),
      total: visit.money(item.totalCents, currency),
      before: item.discountCents > 0 ? visit.money(item.totalCents + item.discountCents, currency) : null,
      bookingSlotId: item.bookingSlotId,
    }
  })
}

/** When booked things are: in the zone of their slots. */
async function withSlots(visit: Visit, lines: Awaited<ReturnType<typeof linesOf>>) {
  const shown: object[] = []
  for (const { bookingSlotId, ...line } of lines) {
    const slot = bookingSlotId ? await visit.ask<{ startsAt: string; timezone: string }>('GET', `/booking-slots/${bookingSlotId}`) : null
    shown.push({ ...line, slot: slot?.status === 200 ? visit.when(slot.body.startsAt, slot.body.timezone) : null })
  }
  return shown
}

/** The view `cart`. */
export async function cartView(visit: Visit, cart: Cart | null) {
  if (!cart || cart.items.length === 0) return { empty: true, warnings: [], lines: [], coupons: [] }
  const { currency } = cart
  const money = (cents: number) => visit.money(cents, currency)
  const named = [
    ...cart.promotions.map(({ name, discountCents }) => ({ name, discountCents })),
    ...cart.coupons.map(({ code, discountCents }) => ({ name: code, discountCents })),
  ]
  const balance = await pointsOf(visit, cart.email)
  const rest = cart.discountCents - named.reduce((sum, { discountCents }) => sum + discountCents, 0)
  return {
    empty: false,
    lines: await withSlots(visit, await linesOf(visit, cart)),
    subtotal: money(cart.subtotalCents),
    reductions: named
      .filter(({ discountCents }) => discountCents > 0)
      .map(({ name, discountCents }) => ({ name, amount: money(discountCents) })),
    otherDiscount: rest > 0 ? money(rest) : null,
    coupons: cart.coupons.map(({ code }) => ({ code })),
    points: cart.loyaltyPoints,
    balance,
    canRedeem: balance > 0,
    shipping: cart.shippingMethodId ? money(cart.shippingCents) : null,
    tax: cart.taxCents > 0 ? money(cart.taxCents) : null,
    total: money(cart.totalCents),
    totalCents: cart.totalCents,
    warnings: cart.warnings.map(({ message }) => message),
  }
}

interface Option {
  id: string
  name: string
  type: 'courier' | 'pickup_point' | 'in_store'
  addonName: string | null
  description: string | null
  priceCents: number
  currency: string
  minShippingTime: number | null
  maxShippingTime: number | null
}

/** Where the state stands behind the city, and the postal code behind both. */
const STATE_BEHIND: ReadonlySet<string | null | undefined> = new Set(['US', 'CA', 'AU'])
const joined = (parts: (string | null | undefined)[], by: string) => parts.filter(Boolean).join(by)

/** City, state and postal code as the post of a country writes them. */
const placeLines = ({ city, state, postalCode, country }: Pick<Address, 'city' | 'state' | 'postalCode' | 'country'>) =>
  STATE_BEHIND.has(country) ? [joined([city, joined([state, postalCode], ' ')], ', ')] : [joined([postalCode, city], ' '), state]

/** An address as its lines, the country by its name. */
export const addressLines = (visit: Visit, { name, line1, line2, city, state, postalCode, country }: Address): string[] =>
  [
    ...[name, line1, line2, ...placeLines({ city, state, postalCode, country })],
    country ? new Intl.DisplayNames(visit.language.code, { type: 'region', fallback: 'code' }).of(country) : null,
  ].filter((line): line is string => Boolean(line))

/** The view `checkout`: `given` is what was sent and not taken. */
export async function checkoutView(
  visit: Visit,
  cart: Cart | null,
  given: { form?: Record<string, string>; errors?: Record<string, string> } = {},
) {
  const address = cart?.shippingAddress ?? {}
  const form = {
    email: cart?.email ?? '',
    ...Object.fromEntries(
      ['name', 'phone', 'line1', 'line2', 'city', 'state', 'postalCode', 'country'].map((name) => [
        name,
        address[name as keyof Address] ?? '',
      ]),
    ),
    note: cart?.note ?? '',
    ...given.form,
  } as Record<string, string>
  const offered = cart?.items.length
    ? ((await visit.ask<{ data: Option[] }>('GET', `/carts/${cart.id}/shipping-options`)).body.data ?? [])
    : []
  // A carrier's points are chosen in a widget of the carrier's, which is no part of the starter.
  const options = offered.filter(({ type, addonName }) => type !== 'pickup_point' || addonName === null)
  const places = options.some(({ type }) => type === 'in_store')
    ? ((await visit.ask<{ data: { id: string; name: string }[] }>('GET', '/pickup-locations?limit=100')).body.data ?? [])
    : []
  const needsAddress = await needsShipping(visit, cart)
  const isKnown = form.email !== '' && form.name !== '' && (!needsAddress || (form.line1 !== '' && form.country !== ''))
  const step = !isKnown || given.errors || visit.url.searchParams.get('step') === 'address' ? 'address' : 'pay'
  const store = await visit.app.store(visit.session.store.id, ({ read }) => settingsIn(read))
  const names = new Intl.DisplayNames([visit.language.code], { type: 'region' })
  const locale = visit.language.code.split('-')[1]
  const countries = [...COUNTRIES]
    .map((code) => ({ code, name: names.of(code) ?? code }))
    .toSorted((a, b) => a.name.localeCompare(b.name, visit.language.code))
  return {
    cart: await cartView(visit, cart),
    form: { ...form, country: form.country || store.address.country || locale || '' },
    errors: given.errors ?? {},
    step,
    countries,
    addressLines: addressLines(visit, { ...form, name: null }),
    needsAddress,
    needsShipping: needsAddress,
    shipping: options.map((option, at) => ({
      id: option.id,
      name: option.name,
      description: option.description ?? '',
      price: option.priceCents ? visit.money(option.priceCents, option.currency) : null,
      places: option.type === 'in_store' ? places.map(({ id, name }) => ({ id, name, checked: id === cart?.pickupLocationId })) : [],
      asksPoint: option.type === 'pickup_point',
      // What is there at once says nothing of days.
      min: option.minShippingTime ?? option.maxShippingTime,
      max: option.maxShippingTime || null,
      checked: cart?.shippingMethodId ? option.id === cart.shippingMethodId : at === 0,
    })),
    payments: {
      test: store.payments.testMode,
      stripe: takesStripe(visit),
      manual: true,
      // Stripe's needs scripts, which choose it where there are some.
      chosen: store.payments.testMode ? 'test' : 'manual',
    },
  }
}
