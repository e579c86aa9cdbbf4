/** Holds the floor to its word: before anything is measured, it must give the answers that Stoa gives. */
import { isDeepStrictEqual } from 'node:util'
import { requests, paths } from './requests.ts'
import type { Side } from './rows.ts'
import type { Seeded } from './seed.ts'

const SAMPLES = 25
/** Fields that each side draws for itself: ids, instants, secrets. */
const DRAWN = new Set(['id', 'orderId', 'expiresAt', 'createdAt', 'updatedAt', 'accessCode', 'checkedInAt'])

type Body = Record<string, unknown>

async function call({ port }: Side, method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text
}

/** A purchase on one side: the answers to cart, item and checkout. */
async function purchase(side: Side, ask: ReturnType<typeof requests>, seeded: Seeded): Promise<string[]> {
  const bodyOf = (bytes: Buffer) => JSON.parse(bytes.toString().split('\r\n\r\n')[1]!) as Body
  const post = (path: string, body: unknown) => call(side, 'POST', `/api/v1${path}`, ask.buyer, body)
  const cart = await post('/carts', {})
  const item = await post(`/carts/${(JSON.parse(cart) as Body).id}/items`, { variantId: seeded.variantIds[0], quantity: 2 })
  const answers = [cart, item]
  for (const known of [0, 1]) {
    const cartId = side.carts.ids[side.carts.used++]!
    answers.push(await post(`/carts/${cartId}/checkout`, bodyOf(ask.checkout(cartId, known).first)))
  }
  const ticketCart = side.ticketCarts.ids[side.ticketCarts.used++]!
  answers.push(await post(`/carts/${ticketCart}/checkout`, bodyOf(ask.checkout(ticketCart, 0).first)))
  const token = side.tokens.ids[side.tokens.used++]!
  answers.push(await call(side, 'POST', `/api/v1/tickets/attendee/${token}/checkin`, ask.team, { by: 'Door 1' }))
  return answers
}

/** Throws when the two sides differ in any field of products, orders, carts or checkouts; both are left with the same new orders. */
export async function requireSame(floor: Side, stoa: Side, seeded: Seeded) {
  const ask = requests(seeded)
  const compare = (what: string, a: string, b: string, drawn: ReadonlySet<string> = new Set()) => {
    const [left, right] = [a, b].map((text) => JSON.parse(text, (name, value) => (drawn.has(name) ? typeof value : value)))
    if (!isDeepStrictEqual(left, right)) throw new Error(`${what}: the floor answers\n${a}\nand Stoa\n${b}`)
  }
  const reads = [
    { path: paths.list, headers: ask.buyer },
    ...seeded.productIds.slice(0, SAMPLES).map((id) => ({ path: paths.product(id), headers: ask.buyer })),
    ...seeded.orderIds.slice(0, SAMPLES).map((id) => ({ path: paths.order(id), headers: ask.team })),
  ]
  for (const { path, headers } of reads) compare(path, await call(floor, 'GET', path, headers), await call(stoa, 'GET', path, headers))
  const theirs = await purchase(floor, ask, seeded)
  const ours = await purchase(stoa, ask, seeded)
  for (const [i, text] of theirs.entries()) compare(`purchase, answer ${i + 1}`, text, ours[i]!, DRAWN)
}
