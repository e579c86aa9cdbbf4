/**
 * `/feedback/{token}`: the review as whoever has the link sees it, and what they do in it. A token opens one review of one store; wrong
 * ones are counted against guessing, and all that is sent in against the address that it comes from.
 */
import type { Handle } from '../../../db/open.ts'
import type { Visitors } from '../../http/surroundings.ts'
import { refusalOf } from '../../http/errors.ts'
import { readBytes } from '../../http/input/bytes.ts'
import { decoded, storable } from '../../http/input/json.ts'
import { isBrowser, pathOf } from '../../http/url.ts'
import type { Services } from '../../outside/services.ts'
import { guess } from '../../server/guesses.ts'
import type { RateLimiter } from '../../server/rate-limit.ts'
import { ownerOfToken } from '../../store/links/link-token.ts'
import { done } from '../../store/links/page.ts'
import { missing, Refusal } from '../../values/refusal.ts'
import { isUuid } from '../../values/uuid.ts'
import { isForeign } from '../shop/gateway.ts'
import { addComment, commentIn, commentsOf, isOwn, removeComment, requireOpen, type CommentRow } from './comment.ts'
import { policyOf, reviewPage } from './page.ts'
import { pageScript } from './scripts.ts'
import { hashOf, move, previewUrl, REVIEW_PATH, sessionOfToken, type SessionRow } from './session.ts'
import { isShown } from './transitions.ts'

const SCRIPT = `${REVIEW_PATH}review.js`
const PATH = /^\/feedback\/([\w-]{1,200})(?:\/(comments|submit)(?:\/([\w-]{1,64}))?)?$/
/** A comment of 2,000 characters, in bytes and escapes, with its pin. */
const BODY_MAX_BYTES = 32 * 1_024
const BODY_MS = 15_000
const COOKIE = 'feedback'
const COOKIE_BYTES = 20
/** A review takes days or weeks. */
const COOKIE_SECONDS = 90 * 86_400
const ALWAYS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
}

export interface ReviewNeeds {
  services: Services
  /** Runs something with the live database of a store. */
  store<T>(storeId: string, fn: (store: Handle) => Promise<T>): Promise<T>
  /** Null: no limits. */
  visitors: Visitors | null
}

/** A request to a review that is there. */
interface Review {
  request: Request
  services: Services
  store: Handle
  storeId: string
  storeName: string
  session: SessionRow
  /** The part of the path behind `comments`; undefined without one. */
  id: string | undefined
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers: { ...ALWAYS, ...headers } })

/** Refuses with 429 when a client has asked too often. */
function count(limiter: RateLimiter | null | undefined, name: string) {
  const wait = limiter?.take(name).retryAfterSeconds
  if (wait) throw new Refusal(429, `too many requests: wait ${wait} s`, {}, { 'retry-after': String(wait) })
}

/** The review that a token opens. 404 when it opens none; after too many wrong tokens of a client, right ones are refused, too. */
async function reviewOf(token: string, request: Request, { services, store, visitors }: ReviewNeeds) {
  const names = [`reviews of ${visitors?.clientOf(request)}`]
  const found = await guess({ limiter: visitors?.guesses ?? null, names, what: 'links that lead nowhere' }, async () => {
    const owner = ownerOfToken(token)
    const named = owner?.environment === 'live' ? await services.registry.store(owner.storeId) : null
    const session = named ? await store(named.id, ({ read }) => sessionOfToken(read, token)) : null
    return session && { storeId: named!.id, storeName: named!.name, session }
  })
  if (!found) throw missing('review')
  return found
}

/** The cookie that tells whose comments are whose; null without one. */
const cookieOf = ({ headers }: Request) => /(?:^|;\s?)feedback=([\w-]{27})(?:;|$)/.exec(headers.get('cookie') ?? '')?.[1] ?? null
const newCookie = () => Buffer.from(crypto.getRandomValues(new Uint8Array(COOKIE_BYTES))).toString('base64url')

function setCookie(value: string, { storefronts }: Services): string {
  const isSecure = storefronts.place.apiUrl.startsWith('https:')
  return `${COOKIE}=${value}; Path=/feedback; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

/** Who somebody is, in one review: nothing tells that they are the same in another. */
const visitorOf = ({ session }: Review, cookie: string | null) => (cookie === null ? '' : hashOf(`${session.id} ${cookie}`))

const shown = ({ id, content, author, pagePath, pin, createdAt, visitor }: CommentRow, reader: string) => ({
  ...{ id, content, author, pagePath, pin, createdAt },
  mine: reader !== '' && visitor === reader,
})

async function page(review: Review): Promise<Response> {
  const { request, services, session, storeName } = review
  const { storefronts } = services
  const preview = isShown(session.status) ? previewUrl(services, session) : null
  const script = `${SCRIPT}?v=${await pageScript.version()}`
  const known = cookieOf(request)
  return new Response(reviewPage({ storeName, status: session.status, preview, script }), {
    headers: {
      ...ALWAYS,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyOf(preview && storefronts.urlOf(storefronts.hostOf('*'))),
      'permissions-policy': 'camera=(), microphone=(), geolocation=()',
      // Given before the first comment: two that are sent at once are of the same reviewer.
      ...(known === null && session.status === 'in_progress' ? { 'set-cookie': setCookie(newCookie(), services) } : {}),
    },
  })
}

async function list(review: Review): Promise<Response> {
  const reader = visitorOf(review, cookieOf(review.request))
  const rows = await commentsOf(review.store.read, review.session.id)
  return json({ data: rows.map((row) => shown(row, reader)), meta: { count: rows.length }, status: review.session.status })
}

/** The JSON of a body, bounded before it is read. */
async function bodyOf({ request, storeId }: Review): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw new Refusal(415, 'send application/json')
  const tooLarge = () => new Refusal(413, `a comment has at most ${BODY_MAX_BYTES} bytes`)
  return storable(decoded(await readBytes(request, { maxBytes: BODY_MAX_BYTES, tooLarge, share: storeId, deadlineMs: BODY_MS })))
}

async function add(review: Review): Promise<Response> {
  const { request, services, store, session } = review
  await requireOpen(store.read, session.id)
  const comment = commentIn(await bodyOf(review))
  const known = cookieOf(request)
  const cookie = known ?? newCookie()
  const visitor = visitorOf(review, cookie)
  const { clock } = services
  const row = await store.write((tx) =>
    addComment(tx, { clock, now: clock.now().toISOString() }, { sessionId: session.id, visitor, comment }),
  )
  return json(shown(row, visitor), 201, known === null ? { 'set-cookie': setCookie(cookie, services) } : {})
}

async function remove(review: Review): Promise<Response> {
  const { request, store, session } = review
  const of = { sessionId: session.id, visitor: visitorOf(review, cookieOf(request)), id: review.id!.toLowerCase() }
  if (!of.visitor || !isUuid(of.id) || !(await isOwn(store.read, of))) throw missing('comment')
  await store.write((tx) => removeComment(tx, of))
  return json({ ok: true, deleted: 1 })
}

async function submit({ store, session, services }: Review): Promise<Response> {
  await requireOpen(store.read, session.id)
  const now = services.clock.now().toISOString()
  const moved = await store.write((tx) => move(tx, session.id, 'submit', { now }))
  if (!moved) throw new Refusal(409, 'this review is not open for comments')
  return json({ ok: true, status: moved.status })
}

interface Action {
  run(review: Review): Promise<Response>
  /** It changes something: counted as such, and for requests of the page itself alone. */
  writes: boolean
}
/** What can be done at a path: `''` is the page. */
const ACTIONS: Readonly<Record<string, Readonly<Record<string, Action>>>> = {
  '': { GET: { run: page, writes: false } },
  comments: { GET: { run: list, writes: false }, POST: { run: add, writes: true } },
  'comments/{id}': { DELETE: { run: remove, writes: true } },
  submit: { POST: { run: submit, writes: true } },
}

async function answer(request: Request, needs: ReviewNeeds, found: RegExpExecArray): Promise<Response> {
  const [, token, part = '', id] = found
  const methods = ACTIONS[id === undefined ? part : `${part}/{id}`]
  if (!methods) throw missing('page')
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const action = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (!action) throw new Refusal(405, `${request.method} is not possible here`, {}, { allow: Object.keys(methods).join(', ') })
  const { visitors, services } = needs
  const client = visitors?.clientOf(request)
  if (action.writes) count(visitors?.submissions, `reviewed by ${client}`)
  else count(visitors?.shoppers, `reviews read by ${client}`)
  if (action.writes && isForeign(request, services.storefronts.place.apiUrl))
    throw new Refusal(403, 'this is for the page of the review alone')
  const review = await reviewOf(token!, request, needs)
  return needs.store(review.storeId, (store) => action.run({ ...review, request, services, store, id }))
}

/** What a refusal looks like: a page for a person whose browser has followed a link, JSON for everybody else. */
function refused(request: Request, { status, body, headers }: Refusal, isPage: boolean): Response {
  if (!isPage || !isBrowser(request)) return json(body, status, headers)
  const [title, text] =
    status === 404 ? ['This link leads nowhere', 'Perhaps it was cut off: ask for it again.'] : ['Not now', String(body.error)]
  const shownPage = done(title, `${text}`, status)
  return new Response(shownPage.body as string, { status, headers: { ...shownPage.headers, ...ALWAYS, ...headers } })
}

/** Answers a request for a review; null when it is for something else. */
export async function serveReview(request: Request, needs: ReviewNeeds): Promise<Response | null> {
  const path = pathOf(request.url)
  if (!path.startsWith(REVIEW_PATH)) return null
  if (path === SCRIPT && (request.method === 'GET' || request.method === 'HEAD')) return pageScript.answer(request)
  const found = PATH.exec(path)
  if (!found) return null
  try {
    const response = await answer(request, needs, found)
    return request.method === 'HEAD' ? new Response(null, response) : response
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    return refused(request, refusal, found[2] === undefined)
  }
}
