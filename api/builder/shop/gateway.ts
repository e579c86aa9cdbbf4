/**
 * `/_shop/`: the way of a shop's visitors to the API. Forms are sent here and lead to a page; scripts get JSON. Nothing can be done that the
 * four storefront scopes do not allow, and the browser holds no key.
 */
import { addItem, changeItem, checkOut, chooseShipping, setAddress, useCoupon, usePoints, type Form } from './cart-actions.ts'
import { hasDots } from '../../hosting/paths.ts'
import { readBytes, STRANGERS } from '../../http/input/bytes.ts'
import { Refusal } from '../../values/refusal.ts'
import type { Outcome } from './outcome.ts'
import { payOrder } from './payment.ts'
import type { Visit } from './visit.ts'
import {
  changeTicket,
  checkIn,
  chooseCurrency,
  lookUpOrder,
  lookUpTickets,
  nameGuests,
  notify,
  subscribe,
  wish,
  writeComment,
  writeLetter,
  writeReview,
} from './visitor-actions.ts'

export const GATEWAY = '/_shop/'
/** A form of a shop is a few fields. */
const FORM_MAX_BYTES = 64 * 1024
/** It comes at once: nobody types while it is sent. */
const FORM_DEADLINE_MS = 15_000
const tooLarge = () => new Refusal(413, 'the form is too large')

/** An action, and the page that tells what went wrong with it. */
interface Action {
  run(visit: Visit, form: Form, rest: string): Promise<Outcome>
  page: string
}
const ACTIONS: Readonly<Record<string, Action>> = {
  'cart/items': { run: addItem, page: '/thanks' },
  'cart/coupons': { run: (visit, form) => useCoupon(visit, form, false), page: '/cart' },
  'cart/coupons/remove': { run: (visit, form) => useCoupon(visit, form, true), page: '/cart' },
  'cart/points': { run: usePoints, page: '/cart' },
  'checkout/address': { run: setAddress, page: '/checkout' },
  'checkout/shipping': { run: chooseShipping, page: '/checkout' },
  checkout: { run: checkOut, page: '/checkout' },
  reviews: { run: writeReview, page: '/thanks' },
  comments: { run: writeComment, page: '/thanks' },
  contact: { run: writeLetter, page: '/thanks' },
  newsletter: { run: subscribe, page: '/thanks' },
  notify: { run: notify, page: '/thanks' },
  wishlist: { run: wish, page: '/thanks' },
  currency: { run: chooseCurrency, page: '/thanks' },
  order: { run: lookUpOrder, page: '/order' },
  'order/payment': { run: payOrder, page: '/order' },
  tickets: { run: lookUpTickets, page: '/tickets' },
  'tickets/names': { run: nameGuests, page: '/tickets' },
  ticket: { run: changeTicket, page: '/thanks' },
  'ticket/checkin': { run: checkIn, page: '/thanks' },
}
const LINE = /^cart\/items\/([0-9a-f-]{36})$/i

/** What the API answers to anybody who may read the storefront, and to nobody as somebody: no carts, orders, tickets or wishes. */
const READABLE =
  /^(me|products|variants|categories|collections|brands|bundles|search|posts|blog-categories|legal-pages|events|booking-slots|shipping|pickup-locations|photofeed|forms)(\/|$)/
/** Documents of a ticket, whose token is in their path. */
const DOCUMENT = /^tickets\/attendee\/[\w-]{16,200}\/ticket\.pdf$/

/**
 * A request that a script or a form of another origin has sent: what it carries is not its visitor's will. Its own is the host that it asks
 * for, by the scheme of a public URL of ours, since a proxy may have taken TLS off.
 */
export function isForeign({ headers, url }: Request, publicUrl: string): boolean {
  const origin = headers.get('origin')
  if (origin !== null) {
    const own = new URL(`${new URL(publicUrl).protocol}//${new URL(url).host}`)
    return URL.parse(origin)?.origin !== own.origin
  }
  const site = headers.get('sec-fetch-site')
  return site !== null && site !== 'same-origin' && site !== 'none'
}

async function formOf(request: Request): Promise<Form | null> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded' || Number(request.headers.get('content-length') ?? 0) > FORM_MAX_BYTES) return null
  try {
    const bytes = await readBytes(request, { maxBytes: FORM_MAX_BYTES, tooLarge, share: STRANGERS, deadlineMs: FORM_DEADLINE_MS })
    return new URLSearchParams(Buffer.from(bytes).toString('utf8'))
  } catch (error) {
    if (error instanceof Refusal && error.status === 413) return null
    throw error
  }
}

interface Acted {
  outcome: Outcome
  /** The page that shows what went wrong. */
  page: string
}

/** Runs what a form asks for; a response where there is nothing to run. */
export async function act(visit: Visit): Promise<Acted | Response> {
  const name = visit.url.pathname.slice(GATEWAY.length)
  const line = LINE.exec(name)?.[1]
  const action = line
    ? { run: (it: Visit, form: Form) => changeItem(it, form, line), page: '/cart' }
    : Object.hasOwn(ACTIONS, name)
      ? ACTIONS[name]!
      : null
  if (!action) return Response.json({ error: `nothing can be sent to ${visit.url.pathname}` }, { status: 404 })
  if (isForeign(visit.request, visit.shop.served.base))
    return Response.json({ error: 'forms of other sites are not taken' }, { status: 403 })
  const form = await formOf(visit.request)
  if (!form)
    return Response.json({ error: `send a form of at most ${FORM_MAX_BYTES} bytes, as application/x-www-form-urlencoded` }, { status: 415 })
  return { outcome: await action.run(visit, form, name), page: action.page }
}

/** The path of the API that a path of the gateway reads; null when it reads none. */
export function readableAt(pathname: string): string | null {
  const path = pathname.slice(GATEWAY.length)
  if (hasDots(path)) return null
  return READABLE.test(path) || DOCUMENT.test(path) ? `/api/v1/${path}` : null
}
