/** Answers the requests of the stores' own hosts: pages as they were built, pages that are filled in for a visitor, and the gateway. */
import { hasEscapedHost, pathOf, searchOf } from '../../http/url.ts'
import { decoded, straight } from '../../hosting/paths.ts'
import { prefersProblem } from '../../hosting/negotiate.ts'
import type { Log } from '../../server/log.ts'
import type { RateLimiter } from '../../server/rate-limit.ts'
import { inside } from '../../outside/storefronts.ts'
import { serveFile } from '../../content/media/cdn.ts'
import { Refusal } from '../../values/refusal.ts'
import { refusalOf } from '../../http/errors.ts'
import { FRAME_SCRIPT } from '../feedback/frame.ts'
import { frameScript } from '../feedback/scripts.ts'
import { cartView, checkoutView, noteCount, readCart } from './cart-view.ts'
import { act, GATEWAY, readableAt } from './gateway.ts'
import type { Host, Hosts } from './hosts.ts'
import { hostNameOf } from './hosts.ts'
import { isListQuery, listAt, listView, searchView, wishlistView } from './list-view.ts'
import { localPath } from './local-path.ts'
import { orderView, ticketView, ticketsView } from './order-view.ts'
import type { Outcome } from './outcome.ts'
import type { TicketLink } from '../../store/mails/shop-links.ts'
import { Renderer } from './rendering/renderer.ts'
import type { Place } from '../../hosting/shelf.ts'
import type { Shop } from './shop.ts'
import { trouble } from './trouble.ts'
import { Visit, type Surroundings } from './visit.ts'

const PATH_MAX = 2_048
/** Paths whose last part is a capability, with the page that shows what it opens. */
const CAPABILITY = /^\/(order|ticket)\/([\w-]{16,1000})$/

interface Limits {
  /** Requests of a visitor that are made for them, by address; null: no limit. */
  visitors: RateLimiter | null
  clientOf(request: Request): string
}

interface StorefrontNeeds extends Surroundings {
  log: Log
  hosts: Hosts
  limits: Limits
}

/** What was answered last at a URL: most of those who ask for it accept the same. */
interface Recent {
  accept: string | null
  packed: string | null
  /** It is the same whatever cookies say. */
  isOne: boolean
  /** On the shelf, which alone says how long: one answer has as many URLs as there are spellings of its host. */
  place: Place
}
const RECENT_MAX = 2_000

export class Storefront {
  readonly #recent = new Map<string, Recent>()
  readonly #renderer = new Renderer()
  /** The state of the registry that they hold for. */
  #epoch = -1

  constructor(readonly needs: StorefrontNeeds) {}

  /** What is answered without waiting for anything: most of what is asked for. Null for everything else. */
  quick(request: Request): Response | null {
    try {
      return this.#quick(request)
    } catch {
      // What can't be read is told by whoever answers at length.
      return null
    }
  }

  #quick(request: Request): Response | null {
    const { url, headers, method } = request
    if (method !== 'GET' || hasEscapedHost(request)) return null
    const epoch = this.needs.hosts.epochSeen()
    if (epoch === null) return null
    if (epoch !== this.#epoch) {
      this.#recent.clear()
      this.#epoch = epoch
    }
    const accept = headers.get('accept')
    const packed = headers.get('accept-encoding')
    const recent = this.#recent.get(url)
    if (recent && recent.accept === accept && recent.packed === packed && (recent.isOne || headers.get('cookie') === null)) {
      const { answer } = recent.place
      if (answer) return answer.get(request)
    }
    const found = this.needs.hosts.remembered(hostNameOf(request))
    if (!found || found === 'closed' || url.includes('?')) return null
    const path = pathOf(url)
    const built = path.includes('%') || path.startsWith('/api/') ? null : this.#built(request, found, path)
    if (!built) return null
    const { answer, place } = built
    const isOne = found.shop.deployment.currencies.length < 2
    if (place && url.length <= PATH_MAX && (isOne || headers.get('cookie') === null)) {
      if (this.#recent.size >= RECENT_MAX) this.#recent.clear()
      this.#recent.set(url, { accept, packed, isOne, place })
    }
    return answer.get(request)
  }

  /** Answers a request of a store's host; null when its host is none. */
  async answer(request: Request): Promise<Response | null> {
    const found = await this.#find(request)
    if (found === null || found instanceof Response) return found
    try {
      return await this.#answer(request, found)
    } catch (error) {
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      if (isRead && isGone(error) && !this.needs.services.storefronts.deployments.isHere(found.shop.deployment.id))
        return this.#again(request)
      return this.#failed(request, found, error)
    }
  }

  /** The host that is asked for, or what is said where there is no shop to show; null when it is none. */
  async #find(request: Request): Promise<Host | Response | null> {
    const { hosts, log } = this.needs
    const name = hostNameOf(request)
    try {
      const found = await hosts.find(name)
      return found === 'closed'
        ? new Response('This preview has ended.\n', { status: 410, headers: { 'cache-control': 'no-store', 'x-robots-tag': 'noindex' } })
        : found
    } catch (error) {
      log.write('warn', 'a shop could not be opened', { host: name, error: String(error) })
      return trouble(request, 'en', refusalOf(error))
    }
  }

  /** The same once more, when files of the shop were not there: they may be had from elsewhere. */
  async #again(request: Request): Promise<Response | null> {
    this.needs.hosts.forget()
    this.#recent.clear()
    const found = await this.#find(request)
    if (found === null || found instanceof Response) return found
    return this.#answer(request, found).catch((error) => this.#failed(request, found, error))
  }

  #failed(request: Request, found: Host, error: unknown): Response {
    const refusal = refusalOf(error)
    // A path may be a capability: it is not written down.
    if (!refusal)
      this.needs.log.write('warn', 'a page of a shop could not be made', { storeId: found.session.store.id, error: String(error) })
    return trouble(request, found.shop.languageAt(pathOf(request.url)).code, refusal)
  }

  #built(request: Request, { shop }: Host, path: string) {
    const page = shop.page(path)
    const entry = page?.view ? undefined : shop.file(path)
    if (!entry || path === '/404') return null
    return shop.prepared(request, path, entry, page ? currencyOf(request, shop) : null)
  }

  async #answer(request: Request, host: Host): Promise<Response> {
    const raw = pathOf(request.url)
    const path = raw.length > PATH_MAX ? null : decoded(raw)
    if (path === null) return new Response('The path can not be read.\n', { status: 400, headers: { 'cache-control': 'no-store' } })
    if (path === FRAME_SCRIPT && host.shop.served.reviewedAt) return frameScript.answer(request)
    if (path.startsWith(GATEWAY)) return this.#direct(request, host, path) ?? this.#gateway(request, host)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return Response.json({ error: `${request.method} is not possible here` }, { status: 405, headers: { allow: 'GET, HEAD' } })
    if (path.startsWith(`/cdn/${host.session.store.id}/`)) {
      const file = await serveFile(this.needs.services.files, request, this.needs.log)
      if (file) return file
    }
    const list = isListQuery(searchOf(request.url)) ? listAt(host.shop.deployment, host.shop.withoutLanguage(path)) : null
    if (!list) {
      const built = this.#built(request, host, path)
      if (built) return built.answer.answer(request)
    }
    const live = await this.#live(request, host, path, list)
    if (live) return live
    const target = straight(path)
    if (target !== null && host.shop.page(target)) {
      const at = request.url.indexOf('?')
      return new Response(null, { status: 308, headers: { location: encodeURI(target) + (at < 0 ? '' : request.url.slice(at)) } })
    }
    return this.#missing(request, host)
  }

  #limit(request: Request) {
    const { visitors, clientOf } = this.needs.limits
    if (!visitors) return
    const { retryAfterSeconds: wait } = visitors.take(`visits of ${clientOf(request)}`)
    if (wait) throw new Refusal(429, `too many requests: wait ${wait} s`, {}, { 'retry-after': String(wait) })
  }

  /** A page that is filled in for this visitor; null when there is none at the path. */
  async #live(request: Request, host: Host, path: string, list: ReturnType<typeof listAt>): Promise<Response | null> {
    const plain = host.shop.withoutLanguage(path)
    const [, capability, token] = CAPABILITY.exec(plain) ?? []
    const prefix = path.slice(0, path.length - plain.length)
    const template = list ? `${prefix}/list` : capability ? `${prefix}/${capability}` : path
    const name = host.shop.page(template)?.view
    if (!name) return null
    this.#limit(request)
    const visit = new Visit(request, host, this.needs)
    const view = await this.#view(visit, name, { list, token: token ?? null })
    if (!view) return this.#missing(request, host)
    return this.#shown(visit, template, view)
  }

  /** What a page is filled in with; null when there is nothing to show. */
  async #view(
    visit: Visit,
    name: string,
    { list, token }: { list: ReturnType<typeof listAt>; token: string | null },
  ): Promise<object | null> {
    const params = visit.url.searchParams
    switch (name) {
      case 'cart': {
        const cart = await readCart(visit)
        noteCount(visit, cart)
        return { cart: await cartView(visit, cart), form: {} }
      }
      case 'checkout':
        return checkoutView(visit, await readCart(visit))
      case 'order':
        return token ? orderView(visit, token) : { order: null, form: {} }
      case 'tickets': {
        const link = visit.opened<TicketLink>('tickets', params.get('open') ?? '')
        return (link && (await ticketsView(visit, link)).view) ?? { bundle: null, form: { code: params.get('code')?.slice(0, 200) ?? '' } }
      }
      case 'ticket':
        return token ? ticketView(visit, token) : null
      case 'search':
        return searchView(visit)
      case 'list':
        return list ? listView(visit, list) : null
      case 'wishlist':
        return wishlistView(visit)
      case 'thanks':
        return { what: params.get('for') ?? '', back: localPath(params.get('back') ?? undefined) }
      default:
        return {}
    }
  }

  async #shown(visit: Visit, template: string, view: object, status = 200): Promise<Response> {
    const { shop, request } = visit
    const key = `${shop.deployment.id} ${shop.served.base} ${shop.served.canonical} ${template}`
    const text = () => shop.text(template)
    const html = await this.#renderer.render(visit.session.store.id, { key, text, view: { here: hereOf(visit), ...view } })
    const response = shop.made(request, html, { path: template, status })
    return withCookies(visit, response)
  }

  /** What the API answers to this storefront, at a path of the gateway; null for what is no plain reading. */
  #direct(request: Request, { session }: Host, path: string): Promise<Response> | null {
    const readable = request.method === 'GET' ? readableAt(path) : null
    if (!readable) return null
    this.#limit(request)
    return this.needs.services.storefronts.read(session, request, readable)
  }

  async #gateway(request: Request, host: Host): Promise<Response> {
    this.#limit(request)
    const visit = new Visit(request, host, this.needs)
    if (request.method === 'GET' || request.method === 'HEAD') return this.#read(visit)
    if (request.method !== 'POST')
      return Response.json({ error: `${request.method} is not possible here` }, { status: 405, headers: { allow: 'GET, HEAD, POST' } })
    const acted = await act(visit)
    if (acted instanceof Response) return acted
    const { outcome, page } = acted
    if (request.headers.get('accept')?.includes('application/json')) return withCookies(visit, told(outcome))
    if ('location' in outcome)
      return withCookies(visit, new Response(null, { status: 303, headers: { location: outcome.location, 'cache-control': 'no-store' } }))
    return this.#told(visit, page, outcome)
  }

  /** What the API answers to this storefront, as JSON. */
  async #read(visit: Visit): Promise<Response> {
    const path = readableAt(visit.url.pathname)
    if (!path) return Response.json({ error: `nothing can be read at ${visit.url.pathname}` }, { status: 404 })
    const { headers, method } = visit.request
    const kept = ['if-none-match', 'accept', 'accept-encoding', 'range'].flatMap((name) =>
      headers.has(name) ? [[name, headers.get(name)!]] : [],
    )
    const inner = inside(path + visit.url.search, { headers: Object.fromEntries(kept) })
    const answered = await this.needs.services.storefronts.ask(visit.session, inner, visit.request)
    return method === 'HEAD' ? new Response(null, answered) : answered
  }

  /** The page that says what went wrong, with what was entered. */
  async #told(visit: Visit, page: string, outcome: Extract<Outcome, { notice: unknown }>): Promise<Response> {
    const template = visit.at(page)
    const { status, errors, form } = outcome
    // Fields are marked where they are shown; elsewhere the API's own words say which one it is.
    const isMarked = page === '/checkout' || form?.action !== undefined
    const notice = outcome.notice.code === 'field' && !isMarked ? { ...outcome.notice, code: 'other' as const } : outcome.notice
    const base =
      page === '/checkout'
        ? await checkoutView(visit, await readCart(visit), { form, errors: errors && marks(errors) })
        : page === '/cart'
          ? { cart: await cartView(visit, await readCart(visit)), form: form ?? {} }
          : { form: form ?? {}, errors: marks(errors ?? {}), order: null, bundle: null, back: visit.from }
    return this.#shown(visit, visit.shop.page(template) ? template : page, { ...base, notice }, status)
  }

  #missing(request: Request, { shop }: Host): Response {
    if (prefersProblem(request.headers.get('accept')))
      return Response.json(
        { error: 'nothing is at this address', hint: `${shop.served.base}/llms.txt lists the pages` },
        { status: 404, headers: { 'cache-control': 'no-store' } },
      )
    // A page: a file of that name has no bound.
    const html = shop.page('/404') ? shop.text('/404') : '<!doctype html><title>Not found</title><p>Not found</p>'
    return shop.made(request, html, { path: '/404', status: 404 })
  }
}

/** What is said at each field that is not as it should be. */
const marks = (errors: Record<string, string>) =>
  Object.fromEntries(Object.entries(errors).map(([name, message]) => [name, message.endsWith('required') ? 'required' : 'wrong']))

/** Whether a file is not there that should be. */
const isGone = (error: unknown) => (error as { code?: string } | null)?.code === 'ENOENT'

/** The page that a form of the footer leads back to; after thanks, the home page. */
const hereOf = (visit: Visit): string =>
  visit.path === '/thanks' || visit.path.startsWith(GATEWAY) ? visit.at('/') : (localPath(visit.url.pathname + visit.url.search) ?? '/')

/** What a script is told of what came of its form. */
function told(outcome: Outcome): Response {
  const headers = { 'cache-control': 'no-store' }
  if ('location' in outcome)
    return Response.json({ ok: true, code: outcome.said ?? null, location: outcome.location, ...outcome.data }, { headers })
  return Response.json(
    { error: outcome.notice.text, code: outcome.notice.code, errors: outcome.errors ?? {} },
    { status: outcome.status, headers },
  )
}

function withCookies(visit: Visit, response: Response): Response {
  for (const cookie of visit.cookies) response.headers.append('set-cookie', cookie)
  return response
}

/** Of cookies that scripts may read: by https one that no other host can have set, as a visit names it. */
const CURRENCY = { http: /(?:^|; ?)currency=([a-z]{3})(?:;|$)/, https: /(?:^|; ?)__Host-currency=([a-z]{3})(?:;|$)/ }

/** The currency that a visitor has chosen, where it is another one than the shop's own. */
function currencyOf({ headers }: Request, { deployment: { currencies }, served }: Shop): string | null {
  if (currencies.length < 2) return null
  const cookie = CURRENCY[served.base.startsWith('https:') ? 'https' : 'http']
  const chosen = cookie.exec(headers.get('cookie') ?? '')?.[1]
  return chosen && chosen !== currencies[0] && currencies.includes(chosen) ? chosen : null
}
