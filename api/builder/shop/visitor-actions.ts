/** What visitors write and ask for: reviews, comments, letters, sign-ups, wishes, orders and tickets that they look for. */
import type { Form } from './cart-actions.ts'
import { WISHES_MAX, wishesOf } from './list-view.ts'
import { findOrder, orderPath, ticketsView } from './order-view.ts'
import type { TicketLink } from '../../store/mails/shop-links.ts'
import { Refusal } from '../../values/refusal.ts'
import { refused, type Outcome } from './outcome.ts'
import type { Visit } from './visit.ts'

const text = (form: Form, name: string) => form.get(name)?.trim() ?? ''
/** What the fields of a form that people write in are called. */
const fields = (form: Form, ...names: string[]) => Object.fromEntries(names.map((name) => [name, text(form, name)]))
const signs = (form: Form) => ({
  ...(text(form, '_form') ? { _form: text(form, '_form') } : {}),
  ...(form.has('_url') ? { _url: text(form, '_url') } : {}),
})
/** What a form is filled in with again when something was wrong with it. */
const again = (form: Form, action: string, ...names: string[]) => ({ action, ...fields(form, ...names) })
const language = (visit: Visit) => (visit.language.path ? `?lang=${visit.language.code}` : '')

/** Goes to the page that says thanks, and leads back from there. */
const thanks = (visit: Visit, what: string, from: string): Outcome => ({
  location: `${visit.at('/thanks')}?for=${what}&back=${encodeURIComponent(from)}`,
  said: what,
})

export async function writeReview(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const body = { ...fields(form, 'author', 'email', 'content'), rating: Number(text(form, 'rating')) || 0, ...signs(form) }
  const answered = await visit.ask('POST', `/products/${encodeURIComponent(text(form, 'about'))}/reviews${language(visit)}`, body)
  const given = again(form, 'reviews', 'about', 'rating', 'author', 'email', 'content')
  return answered.status >= 400 ? { ...refused(answered), form: given } : thanks(visit, 'reviews', from)
}

export async function writeComment(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const body = { ...fields(form, 'author', 'email', 'content'), ...signs(form) }
  const answered = await visit.ask('POST', `/posts/${encodeURIComponent(text(form, 'about'))}/comments${language(visit)}`, body)
  const given = again(form, 'comments', 'about', 'author', 'email', 'content')
  return answered.status >= 400 ? { ...refused(answered), form: given } : thanks(visit, 'comments', from)
}

export async function writeLetter(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const answered = await visit.ask('POST', '/contact-messages', { ...fields(form, 'name', 'email', 'subject', 'message'), ...signs(form) })
  const given = again(form, 'contact', 'name', 'email', 'subject', 'message')
  return answered.status >= 400 ? { ...refused(answered), form: given } : thanks(visit, 'contact', from)
}

export async function subscribe(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const answered = await visit.ask('POST', '/subscribers', { email: text(form, 'email'), source: 'storefront' })
  return answered.status >= 400 ? { ...refused(answered), form: again(form, 'newsletter', 'email') } : thanks(visit, 'newsletter', from)
}

export async function notify(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const answered = await visit.ask('POST', '/availability-notifications', {
    variantId: text(form, 'variantId'),
    email: text(form, 'email'),
    lang: visit.language.code,
  })
  const given = again(form, 'notify', 'variantId', 'email')
  return answered.status >= 400 ? { ...refused(answered), form: given } : thanks(visit, 'notify', from)
}

/** Saves a variant, or takes it off. */
export async function wish(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const [id, isRemoved] = [text(form, 'variantId').toLowerCase(), form.has('remove')]
  const said = isRemoved ? 'changed' : 'wishlist'
  const known = await visit.ask('GET', `/variants/${encodeURIComponent(id)}`)
  if (known.status !== 200 && !isRemoved) return refused(known, 'not_found')
  const rest = wishesOf(visit).filter((other) => other !== id)
  const wishes = (isRemoved ? rest : [id, ...rest]).slice(0, WISHES_MAX)
  visit.setCookie('wishes', wishes.length ? wishes.join('.') : null)
  return { location: from, said }
}

/** Chooses the currency that prices are shown in; a cart that is there follows. */
export async function chooseCurrency(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const currency = text(form, 'currency').toLowerCase()
  const { currencies } = visit.shop.deployment
  if (!currencies.includes(currency)) return { notice: { code: 'not_found', text: 'the shop does not sell in this currency' }, status: 400 }
  visit.setCookie('currency', currency === currencies[0] ? null : currency, { forScripts: true })
  const cart = visit.sealed<{ id: string }>('cart')
  if (cart) await visit.ask('PATCH', `/carts/${cart.id}`, { currency })
  return { location: from }
}

const notFound = (form: Form): Outcome => ({
  notice: { code: 'not_found', text: 'nothing was found under this' },
  status: 404,
  form: Object.fromEntries([...form].filter(([name]) => name !== 'from')),
})
const tooMany: Outcome = { notice: { code: 'many', text: 'too many wrong guesses' }, status: 429 }

/** Finds an order by its number and address. Wrong guesses are counted. */
export async function lookUpOrder(visit: Visit, form: Form): Promise<Outcome> {
  visit.comesFrom(form.get('from') ?? undefined)
  try {
    const found = await visit.app.guess(visit.request, () => findOrder(visit, text(form, 'number'), text(form, 'email')))
    return found ? { location: orderPath(visit, found) } : notFound(form)
  } catch (error) {
    if (error instanceof Refusal && error.status === 429) return tooMany
    throw error
  }
}

/** Opens the tickets of an order by the code of the mail and its address. */
export async function lookUpTickets(visit: Visit, form: Form): Promise<Outcome> {
  visit.comesFrom(form.get('from') ?? undefined)
  const link: TicketLink = { code: text(form, 'code'), email: text(form, 'email') }
  const { status, view } = link.code && link.email ? await ticketsView(visit, link) : { status: 404, view: null }
  if (status === 429) return tooMany
  return view ? { location: `${visit.at('/tickets')}?open=${visit.token('tickets', link)}` } : notFound(form)
}

/** Writes the guests' names on the tickets of an order that is open in this browser. */
export async function nameGuests(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const open = text(form, 'open')
  const link = visit.opened<TicketLink>('tickets', open)
  if (!link) return notFound(form)
  const [names, emails] = [form.getAll('name'), form.getAll('email')]
  const seats = form.getAll('token').map((token, at) => ({ token, name: names[at] ?? '', email: emails[at] || null }))
  const answered = await visit.ask('PATCH', `/tickets/${encodeURIComponent(link.code)}`, { email: link.email, seats })
  return answered.status >= 400 ? refused(answered) : { location: `${from.split('?')[0]}?open=${open}`, said: 'changed' }
}

/** Changes what a guest says on their own ticket. */
export async function changeTicket(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const own = fields(form, 'name', 'email', 'bio', 'socialProfileUrl')
  const body = {
    name: own.name,
    email: own.email || null,
    bio: own.bio || null,
    socialProfileUrl: own.socialProfileUrl || null,
    listed: form.has('listed'),
  }
  const answered = await visit.ask('PATCH', `/tickets/attendee/${encodeURIComponent(text(form, 'token'))}`, body)
  return answered.status >= 400 ? refused(answered) : { location: from, said: 'changed' }
}

/** Checks a guest in. */
export async function checkIn(visit: Visit, form: Form): Promise<Outcome> {
  const from = visit.comesFrom(form.get('from') ?? undefined)
  const answered = await visit.ask('POST', `/tickets/attendee/${encodeURIComponent(text(form, 'token'))}/checkin`, {})
  return answered.status >= 400 ? refused(answered) : { location: from }
}
