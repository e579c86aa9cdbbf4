/** Fills a store through its own API, from the document's examples, so that identifiers lead somewhere. */
import type { Send } from '../harness.ts'
import { fill, isIdentifier, nobody, WORDS, type Json, type Operation } from './operations.ts'

/** Identifiers by the path of the collection that holds them: `/carts/{id}/items`. */
export type Known = Map<string, string>

/** How often a body is tried again without the field that was refused. */
const TRIES_MAX = 8
/** A PNG of one pixel. */
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

/** What ends or takes back something that the tests still need. */
const UNDOING = /\/(cancel|refunds|retry|finalize|transfer-ownership|unsubscribe)/

const words = (name: string) =>
  name
    .replace(/([A-Z])/g, ' $1')
    .toLowerCase()
    .split(' ')
/** `/tax-rates` holds what `taxRateId` means. */
const nounOf = (path: string) => path.split('/').at(-1)!.replaceAll('-', '').replace(/ies$/, 'y').replace(/s$/, '')

/** The known id that a field of that name refers to: `productVariantId` and `variants` mean a variant. */
export function referred(known: Known, field: string): string | undefined {
  const name = words(field.replace(/Ids?$/, '')).join('').replace(/ies$/, 'y').replace(/s$/, '')
  let best: string | undefined
  let fit = 0
  for (const [path, id] of known) {
    const noun = nounOf(path)
    // `productVariantId` is a variant; `shippingMethodId` is what /shipping holds, since there are no methods.
    const fits = name.endsWith(noun) || noun.endsWith(name) ? 100 + noun.length : name.startsWith(noun) ? noun.length : 0
    if (fits > fit) [best, fit] = [id, fits]
  }
  return best
}

/** A value with every UUID of the example replaced by a known one of its kind. */
export function linked(value: unknown, known: Known, field = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => linked(item, known, field))
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, linked(item, known, name)]))
  return typeof value === 'string' && /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(value) ? (referred(known, field) ?? value) : value
}

/** The identifier that a path parameter stands for, or one that nothing has. */
export const idFor = (known: Known) => (name: string, prefix: string) =>
  (/^\/(tickets|email-templates)/.test(prefix) ? known.get(prefix) : undefined) ??
  WORDS[name] ??
  known.get(prefix) ??
  known.get(`/${prefix.split('/').at(-1)}`) ??
  referred(known, name) ??
  nobody()

/** Sends the example until nothing in it is refused, leaving out each refused field that may be left out. */
async function tryBody(send: (body: unknown) => ReturnType<Send>, operation: Operation, known: Known) {
  let body = linked(operation.body?.example, known) as Json | undefined
  let answer = await send(body)
  for (let i = 0; i < TRIES_MAX && answer.status === 400 && body && typeof body === 'object'; i++) {
    const field = answer.body?.details?.[0]?.path?.[0] as string | undefined
    if (field === undefined || !(field in body)) break
    const { [field]: _, ...rest } = body
    body = rest
    answer = await send(body)
  }
  return answer
}

/** A form with the fields of its example, and a picture. */
function formOf({ example, field }: NonNullable<Operation['form']>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(example))
    form.append(name, name === field ? new Blob([PIXEL], { type: 'image/png' }) : String(value))
  return form
}

function remember(known: Known, path: string, value: any) {
  const id = value?.id ?? value?.variantId ?? value?.customerId ?? value?.event?.id
  if (typeof id === 'string') known.set(path, id)
}

/** What an answer holds beside itself: `variants` of a product, `items` of a cart. */
function rememberParts(known: Known, path: string, value: Json, param: string) {
  for (const [name, part] of Object.entries(value ?? {})) {
    if (Array.isArray(part) && typeof part[0]?.id === 'string') {
      if (!known.has(`/${name}`)) known.set(`/${name}`, part[0].id)
      known.set(`${path}/{${param}}/${name}`, part[0].id)
    } else if (part && typeof part === 'object' && typeof (part as Json).id === 'string' && !known.has(`/${name}s`))
      known.set(`/${name}s`, (part as Json).id)
  }
}

/** Buys seats of an event, whose code and token open paths of their own. */
async function buySeats(known: Known, send: Send, key: string) {
  const post = async (path: string, body: unknown) => (await send('POST', path, body, { key })).body
  const { event } = await post('/events', { name: 'Opening night', price: '25.00' })
  const variantId = (await send('GET', `/products/${event.id}`, undefined, { key })).body.variants[0].id
  const cart = await post('/carts', { items: [{ variantId, quantity: 2 }] })
  const { order } = await post(`/carts/${cart.id}/checkout`, { email: 'ada@example.com', name: 'Ada Lovelace', paymentMethod: 'test' })
  const found = await send('GET', `/tickets/${order.accessCode}?email=ada@example.com`, undefined, { key })
  known.set('/tickets', order.accessCode)
  known.set('/tickets/attendee', found.body.lines[0].seats[0].token)
}

/** Writes what is put under a name instead of made, and a mail for which somebody waits. */
async function putPages(known: Known, send: Send, key: string) {
  const put = (path: string, body: unknown) => send('PUT', path, body, { key })
  await put('/legal-pages/terms', { title: 'Terms', content: { type: 'doc', content: [{ type: 'paragraph' }] } })
  await put('/email-templates/order-confirmation', { subject: 'Order {{orderNumber}}', body: 'Thank you.' })
  known.set('/email-templates', 'order-confirmation')
  known.set('/wishlists', known.get('/customers')!)
  const soldOut = { name: 'Sold out', status: 'published', price: 5, stock: { quantity: 0 } }
  const { body: product } = await send('POST', '/products', soldOut, { key })
  const wanted = { variantId: product.variants[0].id, email: 'ada@example.com' }
  remember(known, '/availability-notifications', (await send('POST', '/availability-notifications', wanted, { key })).body)
  await put(`/wishlists/${known.get('/customers')}/items/${known.get('/variants')}`, undefined)
}

/** Publishes, once the review that has locked the workspace is over. */
async function publishOnce(known: Known, send: Send, key: string) {
  await send('POST', `/feedback-sessions/${known.get('/feedback-sessions')}/cancel`, undefined, { key })
  const { body } = await send('POST', '/publish', undefined, { key })
  if (body.publishId) known.set('/publish', body.publishId)
}

/** Books a place of a slot, whose order stands under it. */
async function bookPlace(known: Known, send: Send, key: string) {
  const post = async (path: string, body: unknown) => (await send('POST', path, body, { key })).body
  const product = await post('/products', { name: 'Haircut', status: 'published', variants: [{ price: 30, bookable: true }] })
  const variantId = product.variants[0].id
  const times = { startsAt: '2099-12-05T10:00:00Z', endsAt: '2099-12-05T11:00:00Z' }
  const slot = await post('/booking-slots', { productVariantId: variantId, ...times, maxCapacity: 3, status: 'published' })
  const cart = await post('/carts', { items: [{ variantId, bookingSlotId: slot.id }] })
  const { order } = await post(`/carts/${cart.id}/checkout`, { email: 'ada@example.com', paymentMethod: 'test' })
  known.set('/booking-slots', slot.id)
  known.set('/booking-slots/{id}/bookings', order.id)
}

/** Has something on its way to the webhook that is there in the end, and somewhere in the background. */
async function tellWebhook(known: Known, send: Send, key: string) {
  const { body } = await send('POST', `/webhooks/${known.get('/webhooks')}/test`, undefined, { key })
  remember(known, '/webhooks/{id}/deliveries', body)
  // Its delivery is work in the background.
  const { body: waiting } = await send('GET', '/jobs?state=waiting', undefined, { key })
  remember(known, '/jobs', waiting.data[0])
}

/**
 * Calls every POST with its example, twice, so that what depends on another resource finds it; then reads every list. At last somebody who
 * is invited accepts.
 */
export async function seed(operations: readonly Operation[], send: Send, key: string): Promise<Known> {
  const known: Known = new Map()
  const reads = new Set(operations.filter(({ method }) => method === 'GET').map(({ path }) => path))
  /** `/carts` for `POST /carts/{id}/checkout`: what an action is done to. */
  const subject = ({ path }: Operation) => (reads.has(path) ? null : (/^(.*)\/\{\w+\}\/[\w-]+$/.exec(path)?.[1] ?? null))
  const posts = operations
    .filter(({ method, path }) => method === 'POST' && !UNDOING.test(path))
    .toSorted((a, b) => a.params.length - b.params.length)
  const spent = new Set<string>()
  for (const round of [0, 1]) {
    for (const operation of posts) {
      const about = subject(operation)
      if (round && (about || (operation.params.length === 0 && known.has(operation.path) && !spent.has(operation.path)))) continue
      const path = fill(operation.path, idFor(known))
      const answer = operation.form
        ? await send('POST', path, undefined, { key, raw: formOf(operation.form) })
        : await tryBody((body) => send('POST', path, body, { key }), operation, known)
      if (about && answer.status < 300) spent.add(about)
      if (answer.status === 201) {
        const reader = operations.find(
          ({ method, path: other, params }) =>
            method === 'GET' && other.startsWith(`${operation.path}/{`) && params.length === operation.params.length + 1,
        )
        remember(known, operation.path, answer.body)
        rememberParts(known, operation.path, answer.body, reader?.params.at(-1) ?? 'id')
      }
    }
    for (const { method, path, params, isPublic } of operations) {
      if (method !== 'GET' || isPublic || !params.every((name) => isIdentifier(name))) continue
      const { status, body } = await send('GET', fill(path, idFor(known)), undefined, { key })
      const first = (body?.data ?? body?.items)?.[0]
      if (status === 200 && first && !known.has(path)) remember(known, path, first)
    }
  }
  await tellWebhook(known, send, key)
  await publishOnce(known, send, key)
  await buySeats(known, send, key)
  await bookPlace(known, send, key)
  await putPages(known, send, key)
  const { body: invited } = await send('POST', '/team/invitations', { email: 'grace@example.com', role: 'admin' }, { key })
  remember(known, '/team', (await send('POST', '/team/invitations/accept', { token: invited.token, name: 'Grace Hopper' })).body)
  return known
}
