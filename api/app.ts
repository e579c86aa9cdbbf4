/** The store API: how requests reach its resources (resources.ts). */
import type { Handles } from '../db/handles.ts'
import { slowWrites } from '../db/watchdog.ts'
import { serveReview, type ReviewNeeds } from './builder/feedback/review.ts'
import { turns } from './builder/publishing/turn.ts'
import { serveInspector } from './builder/publishing/inspector.ts'
import { Hosts } from './builder/shop/hosts.ts'
import { Shelf } from './hosting/shelf.ts'
import { Storefront } from './builder/shop/storefront.ts'
import { serveFile } from './content/media/cdn.ts'
import { certificates } from './builder/domain/certificates.ts'
import { serveDoor } from './events/door/page.ts'
import { imageImport } from './content/media/image-import.ts'
import { Pipeline } from './http/pipeline.ts'
import { REMEMBERED_BYTES } from './http/remembered.ts'
import { Router } from './http/routing/router.ts'
import { describe } from './openapi/describe.ts'
import { createLog, type Log } from './server/log.ts'
import { health } from './server/health.ts'
import { Metrics, shareDisk, type Figures } from './server/metrics.ts'
import { Underway } from './server/underway.ts'
import { guess } from './server/guesses.ts'
import type { RateLimiter } from './server/rate-limit.ts'
import { Readiness } from './server/readiness.ts'
import type { Route } from './http/route.ts'
import { absolute, hasEscapedHost, loggable, pathOf } from './http/url.ts'
import type { Surroundings, Visitors } from './http/surroundings.ts'
import type { StoreServer, StoreServerNeeds } from './mcp/store-server.ts'
import { resources } from './resources.ts'
import { webhookEvents } from './webhook-events.ts'
import type { Services } from './outside/services.ts'
import { Refusal } from './values/refusal.ts'

/** The most bytes that pages of storefronts may take, ready to be sent. */
const SHELF_BYTES = 32 * 1024 * 1024
/** Where the API lives. */
const PREFIX = '/api/v1'

export interface AppOptions {
  services: Services
  handles: Handles
  log?: Log
  /** Counts the requests of each key; null or none: no limit. */
  limiter?: RateLimiter | null
  /** Counts the requests of clients without a key; null or none: no limit. */
  visitors?: Visitors | null
  /** Where data are kept: `/readyz` tells when these can't be written. */
  folders?: readonly string[]
  checkAnswers?: boolean
  /** The most bytes that remembered answers may take together; 16 MB unless told otherwise, with 0 none are remembered. */
  rememberedBytes?: number
  metrics?: boolean
  /** What counts in this process, the services included; one of its own when not given. */
  counts?: Metrics
  /** From how to tell the figures of this process, how to ask for those of all that share its port; none: it is alone. */
  scrape?: (own: () => Figures) => () => Promise<Figures>
  version: string
  /** Where the content site is, without a slash at the end. */
  contentUrl: string
}

export interface App {
  /** Answers at once what needs no waiting: pages of storefronts as they were built. Null for everything else. */
  quick(request: Request): Response | null
  fetch(request: Request): Promise<Response>
  routes: readonly Route[]
  /** Resolves when what follows answers that are given has ended. */
  settled(): Promise<void>
  /** No new work; resolves when what runs has ended. */
  drain(): Promise<void>
}

/** What is answered beside the operations of the API. */
type Beside = 'build' | 'cdn' | 'door' | 'mcp' | 'review' | 'shop'
type Watched = Pick<Surroundings, 'metrics' | 'log'>

/** Counts and logs what was answered beside the API, under the name of its route. */
function note(request: Request, route: Beside, { metrics, log }: Watched, { started, status }: { started: number; status: number }) {
  const ms = performance.now() - started
  metrics.count(request.method, route, status, ms / 1000)
  if (!log.enabled('info')) return
  const path = loggable(pathOf(request.url), 'unknown')
  log.write('info', 'request', { method: request.method, route, path, status, ms: Math.round(ms * 100) / 100 })
}

/** Answers what is no operation of the API; null when `serve` has nothing for the request. */
async function beside(request: Request, route: Beside, watched: Watched, serve: () => Promise<Response | null>): Promise<Response | null> {
  const started = performance.now()
  const response = await serve()
  if (response) note(request, route, watched, { started, status: response.status })
  return response
}

/** The headers of an answer without its body. */
async function headOf(response: Response): Promise<Response> {
  const { byteLength } = await response.arrayBuffer()
  if (byteLength) response.headers.set('content-length', String(byteLength))
  return new Response(null, { status: response.status, headers: response.headers })
}

/** How to ask for the figures of all processes that share the port. */
function scraping({ handles, scrape, folders = [] }: AppOptions, metrics: Metrics, underway: Underway): () => Promise<Figures> {
  const own = () => {
    shareDisk(metrics, folders[0])
    const { running, waiting } = turns()
    return metrics.figures({
      stoa_builds_running: running,
      stoa_builds_waiting: waiting,
      stoa_open_stores: handles.size,
      stoa_in_flight: underway.requests,
      stoa_slow_writes: slowWrites().slow,
      stoa_ended_writes: slowWrites().ended,
      process_resident_memory_bytes: process.memoryUsage().rss,
    })
  }
  return scrape?.(own) ?? (async () => own())
}

/** The visitors, known by the request as it came of one that had to be made anew; `direct` are those of a storefront of ours. */
const asSent = (visitors: Visitors, sentAs: WeakMap<Request, Request>, direct: WeakSet<Request>): Visitors => ({
  ...visitors,
  clientOf: (request) => visitors.clientOf(sentAs.get(request) ?? request),
  isForwarded: (request) => direct.has(request) || visitors.isForwarded(sentAs.get(request) ?? request),
})

/** Requests that were made anew, each with the one that came: what the server knows of its connection goes by that. */
interface Anew {
  sentAs: WeakMap<Request, Request>
  /** Those of our own storefronts: their visitors are the clients. */
  direct: WeakSet<Request>
}

/** The surroundings of the API, and the routes in them. */
function routing(options: AppOptions, watched: Pick<Surroundings, 'log' | 'metrics' | 'readiness' | 'after'>, { sentAs, direct }: Anew) {
  const { services, handles, contentUrl, version, visitors = null } = options
  const listed = resources.flatMap((resource) => resource.routes)
  const routes = [...listed, ...describe(listed, { baseUrl: PREFIX, version, contentUrl, events: webhookEvents }).routes]
  const surroundings: Surroundings = {
    ...watched,
    services,
    images: imageImport,
    handles,
    checkAnswers: options.checkAnswers ?? false,
    rememberedBytes: options.rememberedBytes ?? REMEMBERED_BYTES,
    contentUrl,
    limiter: options.limiter ?? null,
    visitors: visitors && asSent(visitors, sentAs, direct),
  }
  const pipeline = new Pipeline(surroundings, routes)
  const router = new Router(PREFIX, routes, pipeline)
  services.storefronts.answerWith(
    (session, request, sent) => {
      pipeline.vouchFor(request, session)
      if (sent) {
        sentAs.set(request, sentAs.get(sent) ?? sent)
        direct.add(request)
      }
      return router.answer(request, pathOf(request.url))
    },
    (session, request, path) => {
      const found = router.readAt(path)
      if (!found) return null
      pipeline.vouchFor(request, session)
      direct.add(request)
      return pipeline.answer(found.route, request, found.params)
    },
  )
  const answerFor: StoreServerNeeds['answer'] = (route, { request, params }, { session, sent }) => {
    pipeline.vouchFor(request, session, 'mcp')
    sentAs.set(request, sentAs.get(sent) ?? sent)
    return pipeline.answer(route, request, params)
  }
  const needs: StoreServerNeeds = { surroundings, routes: listed, prefix: PREFIX, version, answer: answerFor }
  return { surroundings, routes, router, mcp: mcpOver(needs) }
}

/** The MCP server, which is loaded with its first request. */
function mcpOver(needs: StoreServerNeeds) {
  let server: Promise<StoreServer> | undefined
  return async (request: Request): Promise<Response | null> => {
    if (pathOf(request.url) !== '/mcp') return null
    server ??= import('./mcp/store-server.ts').then(({ StoreServer }) => new StoreServer(needs))
    return (await server).answer(request)
  }
}

/** The stores' own hosts, over the same databases. */
function storefrontOver({ services, handles, visitors, log }: Surroundings): Storefront {
  const { registry, storefronts } = services
  const { stripeKey } = storefronts.place
  const hosts = new Hosts(registry, storefronts, new Shelf(SHELF_BYTES), stripeKey !== null)
  storefronts.openBy((storeId) => hosts.openShop(storeId))
  return new Storefront({
    services,
    log,
    hosts,
    store: (storeId, fn) => handles.use(storeId, 'live', fn),
    guess: (request, look) =>
      guess({ limiter: visitors?.guesses ?? null, names: [`orders looked up by ${visitors?.clientOf(request)}`] }, look),
    mayPay: (request) =>
      !visitors || visitors.submissions.take(`payments looked at by ${visitors.clientOf(request)}`).retryAfterSeconds === 0,
    stripeKey,
    limits: { visitors: visitors?.shoppers ?? null, clientOf: (request) => visitors?.clientOf(request) ?? '' },
  })
}

/** The reviews of previews, over the same databases. */
const reviewsOver = ({ services, handles, visitors }: Surroundings): ReviewNeeds => ({
  services,
  store: (storeId, fn) => handles.use(storeId, 'live', fn),
  visitors,
})

/** Minds what the databases tell: that the registry has changed; and, for the log, which writes hold a store for long, or were ended. */
function listenTo({ handles, services }: AppOptions, log: Log) {
  services.registry.onChange = () => handles.suspect()
  handles.onSlow = ({ name, seconds, isEnded }, storeId, environment) =>
    log.write('warn', isEnded ? 'a write was ended that held its store' : 'a write holds its store', {
      ...{ route: name, seconds, storeId, environment },
    })
  services.registry.control.onSlow = ({ name, seconds, isEnded }) =>
    log.write('warn', isEnded ? 'a write was ended that held the registry' : 'a write holds the registry', { route: name, seconds })
}

/** Makes the API over open databases. It listens to nothing: `fetch` answers one request. */
export function createApp(options: AppOptions): App {
  const { services, handles, version, log = createLog('silent') } = options
  listenTo(options, log)
  const metrics = options.counts ?? new Metrics()
  const underway = new Underway(log)
  const readiness = new Readiness({ handles, folders: options.folders ?? [], log })
  const anew: Anew = { sentAs: new WeakMap(), direct: new WeakSet() }
  const watched = { log, metrics, readiness, after: (task: () => Promise<void>) => underway.follow(task) }
  const { surroundings, routes, router, mcp } = routing(options, watched, anew)
  const [storefront, reviews] = [storefrontOver(surroundings), reviewsOver(surroundings)]
  const scrape = options.metrics ? scraping(options, metrics, underway) : null
  /** Whether anybody reads what is noted of a page that is answered at once. */
  const isNoted = scrape !== null || log.enabled('info')

  async function answer(sent: Request): Promise<Response> {
    const request = absolute(sent)
    if (request !== sent) anew.sentAs.set(request, sent)
    if (hasEscapedHost(request)) return router.pipeline.refuseUnrouted(request, new Refusal(400, 'the Host has percent escapes in it'))
    const path = pathOf(request.url)
    if (!path.startsWith(PREFIX))
      return (
        (await beside(request, 'mcp', surroundings, () => mcp(request))) ??
        (await beside(request, 'shop', surroundings, () => storefront.answer(request))) ??
        (await health(path, { version, underway, readiness, scrape })) ??
        (await certificates(path, request, surroundings)) ??
        (await beside(request, 'build', surroundings, () => serveInspector(request, services))) ??
        (await beside(request, 'review', surroundings, () => serveReview(request, reviews))) ??
        (await beside(request, 'cdn', surroundings, () => serveFile(services.files, request, log))) ??
        (await beside(request, 'door', surroundings, () => serveDoor(request))) ??
        router.unknown(request)
      )
    if (request.method !== 'HEAD') return router.answer(request, path)
    const get = new Request(request.url, { method: 'GET', headers: request.headers, signal: request.signal })
    anew.sentAs.set(get, sent)
    return headOf(await router.answer(get, path))
  }

  return {
    quick(request) {
      if (!isNoted) return storefront.quick(request)
      const started = performance.now()
      const response = storefront.quick(request)
      if (response) note(request, 'shop', surroundings, { started, status: response.status })
      return response
    },
    async fetch(sent) {
      underway.begin()
      services.load.note()
      try {
        return await answer(sent)
      } finally {
        underway.end()
        services.load.note()
      }
    },
    routes,
    settled: () => underway.settled(),
    drain: () => underway.drain(),
  }
}
