/** What visitors do with their carts, up to the order. */
import { checkoutView, needsShipping, noteCount, readCart, type Cart } from './cart-view.ts'
import { orderLinkOf } from '../../orders/mails/order-link.ts'
import { orderPath } from './order-view.ts'
import { reads } from './proven.ts'
import { refused, type Outcome } from './outcome.ts'
import type { Visit } from './visit.ts'

export type Form = URLSearchParams
const text = (form: Form, name: string) => form.get(name)?.trim() ?? ''
/**
 * A whole number, of whatever size the API counts with; `otherwise` where nothing was entered. What is none is NaN, which the API refuses in
 * its own words: a number that nobody has entered is never put in its place.
 */
function whole(form: Form, name: string, otherwise: number): number {
  const given = text(form, name)
  if (!given) return otherwise
  const number = /^\d{1,20}$/.test(given) ? Number(given) : NaN
  return Number.isSafeInteger(number) ? number : NaN
}

/** After a change of a cart: its cookie, and how many things are in it. */
async function changed(visit: Visit, cart: Cart, location: string, said: string): Promise<Outcome> {
  visit.seal('cart', { id: cart.id })
  noteCount(visit, cart)
  return { location, said }
}

/** Puts something into the cart; the first thing makes it. */
export async function addItem(visit: Visit, form: Form): Promise<Outcome> {
  visit.comesFrom(form.get('from') ?? undefined)
  const item = {
    ...(text(form, 'bundleId') ? { bundleId: text(form, 'bundleId') } : { variantId: text(form, 'variantId') }),
    quantity: whole(form, 'quantity', 1),
    ...(text(form, 'bookingSlotId') ? { bookingSlotId: text(form, 'bookingSlotId') } : {}),
  }
  let cart = await readCart(visit)
  if (!cart) {
    const made = await visit.ask<Cart>('POST', '/carts', { currency: visit.currency })
    if (made.status !== 201) return refused(made)
    cart = made.body
  }
  const added = await visit.ask('POST', `/carts/${cart.id}/items`, item)
  if (added.status >= 400) return refused(added, added.status === 409 ? 'sold_out' : 'other')
  return changed(visit, (await visit.ask<Cart>('GET', `/carts/${cart.id}`)).body, visit.at('/cart'), 'added')
}

const gone = { notice: { code: 'gone', text: 'the cart is gone' }, status: 404 } as const satisfies Outcome

/** Changes how many there are of a line, or removes it. */
export async function changeItem(visit: Visit, form: Form, id: string): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const cart = await readCart(visit)
  if (!cart) return gone
  const quantity = form.has('remove') ? 0 : whole(form, 'quantity', 1)
  const answered = await visit.ask('PATCH', `/carts/${cart.id}/items/${encodeURIComponent(id)}`, { quantity })
  if (answered.status >= 400) return refused(answered, answered.status === 409 ? 'sold_out' : 'other')
  return changed(visit, (await visit.ask<Cart>('GET', `/carts/${cart.id}`)).body, from, 'changed')
}

/** Uses a coupon, or takes it back. */
export async function useCoupon(visit: Visit, form: Form, isRemoved: boolean): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const cart = await readCart(visit)
  if (!cart) return gone
  const code = text(form, 'code')
  const answered = isRemoved
    ? await visit.ask('DELETE', `/carts/${cart.id}/coupons/${encodeURIComponent(code)}`)
    : await visit.ask('POST', `/carts/${cart.id}/coupons`, { code })
  if (answered.status >= 400) return { ...refused(answered, 'coupon'), form: { code } }
  return changed(visit, (await visit.ask<Cart>('GET', `/carts/${cart.id}`)).body, from, 'changed')
}

/** Pays a part with loyalty points. */
export async function usePoints(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const cart = await readCart(visit)
  if (!cart) return gone
  // Neither the balance of an address nor whether it is a customer's is for anybody who knows it.
  if (!reads(visit, cart.email))
    return { notice: { code: 'points', text: 'open the shop by the link in one of our mails first' }, status: 403 }
  const answered = await visit.ask('PUT', `/carts/${cart.id}/loyalty`, { points: whole(form, 'points', 0) })
  return answered.status >= 400 ? refused(answered, 'points') : { location: from, said: 'changed' }
}

const ADDRESS = ['line1', 'line2', 'city', 'state', 'postalCode', 'country'] as const

/** Notes who orders, and where it goes. */
export async function setAddress(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const cart = await readCart(visit)
  if (!cart) return gone
  const given = Object.fromEntries(['email', 'name', 'phone', ...ADDRESS].map((name) => [name, text(form, name)]))
  const isSent = form.has('line1') && (await needsShipping(visit, cart))
  const needed = ['email', 'name', ...(isSent ? ['line1', 'postalCode', 'city', 'country'] : [])]
  const missing = Object.fromEntries(needed.filter((name) => !given[name]).map((name) => [name, 'required']))
  const address = {
    name: given.name,
    phone: given.phone || null,
    ...Object.fromEntries(ADDRESS.flatMap((name) => (form.has(name) ? [[name, given[name] || null]] : []))),
  }
  const answered = Object.keys(missing).length
    ? {
        status: 400,
        body: { error: 'something is missing', details: Object.entries(missing).map(([name, message]) => ({ path: [name], message })) },
      }
    : await visit.ask('PATCH', `/carts/${cart.id}`, { email: given.email, shippingAddress: address })
  if (answered.status >= 400) return { ...refused(answered, 'field'), form: given }
  // The first method that serves the address is chosen, so that the total is one that can be paid.
  const { shipping, needsShipping: isShipped } = await checkoutView(visit, await readCart(visit))
  const [first] = shipping
  if (isShipped && first)
    await visit.ask('PATCH', `/carts/${cart.id}`, { shippingMethodId: (shipping.find(({ checked }) => checked) ?? first).id })
  return { location: from.split('?')[0]! }
}

/** Chooses how it is sent, before anything is ordered: the total shows it. */
export async function chooseShipping(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const cart = await readCart(visit)
  if (!cart) return gone
  const answered = await visit.ask('PATCH', `/carts/${cart.id}`, { shippingMethodId: text(form, 'shippingMethodId') })
  return answered.status >= 400 ? refused(answered) : { location: from }
}

interface Placed {
  order: { id: string }
}

/** Places the order. */
export async function checkOut(visit: Visit, form: Form): Promise<Outcome> {
  visit.comesFrom(form.get('from') ?? undefined)
  let cart = await readCart(visit)
  if (!cart) return gone
  const method = text(form, 'shippingMethodId')
  const expected = whole(form, 'expectedTotalCents', cart.totalCents)
  const [place, point] = [text(form, `place-${method}`), text(form, `point-${method}`)]
  if (method && (method !== cart.shippingMethodId || place || point)) {
    const pickup = { pickupLocationId: place || null, pickupPoint: point ? { name: point.slice(0, 200) } : null }
    const chosen = await visit.ask('PATCH', `/carts/${cart.id}`, { shippingMethodId: method, ...pickup })
    if (chosen.status >= 400) return refused(chosen)
    // Without scripts the total is told with the method that was chosen before: who changes it is asked once more.
    const now = await readCart(visit)
    if (!now) return gone
    if (now.totalCents !== expected)
      return { notice: { code: 'price', text: 'the total has changed with the shipping method' }, status: 409 }
    cart = now
  }
  const answered = await visit.ask<Placed>('POST', `/carts/${cart.id}/checkout`, {
    email: cart.email,
    name: cart.shippingAddress?.name ?? undefined,
    phone: cart.shippingAddress?.phone ?? undefined,
    ...(cart.shippingMethodId ? { shippingMethodId: cart.shippingMethodId } : {}),
    paymentMethod: text(form, 'paymentMethod') || undefined,
    ...(text(form, 'paymentToken') === 'decline' ? { paymentToken: 'decline' } : {}),
    ...(form.has('expectedTotalCents') ? { expectedTotalCents: expected } : {}),
    ...(text(form, 'note') ? { note: text(form, 'note').slice(0, 1_000) } : {}),
    lang: visit.language.code,
  })
  if (answered.status !== 201) return refused(answered as never)
  const { order } = answered.body
  visit.setCookie('cart', null)
  noteCount(visit, null)
  const { email } = cart
  const link = await visit.app.store(visit.session.store.id, ({ read }) => orderLinkOf(read, { id: order.id, email }))
  const location = orderPath(visit, link)
  return { location: `${location}?new=1` }
}
