/** The store API: how requests reach its resources (resources.ts). */
import type { Handles } from '../db/handles.ts'
import { serveFile } from './content/cdn.ts'
import { givenImages } from './content/given-images.ts'
import { Pipeline } from './http/pipeline.ts'
import { REMEMBERED_BYTES } from './http/remembered.ts'
import { Router } from './http/routing/router.ts'
import { describe } from './openapi/describe.ts'
import { createLog, type Log } from './server/log.ts'
import { exposition, Metrics, type Figures } from './server/metrics.ts'
import type { RateLimiter } from './server/rate-limit.ts'
import { Readiness } from './server/readiness.ts'
import type { Route } from './http/route.ts'
import { absolute, pathOf } from './http/url.ts'
import type { Visitors } from './http/surroundings.ts'
import { resources } from './resources.ts'
import type { Services } from './outside/services.ts'

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
  /** What answers that are remembered may take; 64 MB unless told otherwise, 0: none are. */
  rememberedBytes?: number
  metrics?: boolean
  /** From how to tell the figures of this process, how to ask for those of all that share its port; none: it is alone. */
  scrape?: (own: () => Figures) => () => Promise<Figures>
  version: string
  /** Where the content site is, without a slash at the end. */
  contentUrl: string
}

export interface App {
  fetch(request: Request): Promise<Response>
  routes: readonly Route[]
  /** Resolves when what follows answers that are given has ended. */
  settled(): Promise<void>
  /** No new work; resolves when what runs has ended. */
  drain(): Promise<void>
}

const plain = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  })

/** Makes the API over open databases. It listens to nothing: `fetch` answers one request. */
export function createApp(options: AppOptions): App {
  const { services } = options
  services.registry.onChange = () => options.handles.suspect()
  const metrics = new Metrics()
  const tasks = new Set<Promise<void>>()
  const log = options.log ?? createLog('silent')
  const listed = resources.flatMap((resource) => resource.routes)
  const routes = [...listed, ...describe(listed, { baseUrl: PREFIX, version: options.version, contentUrl: options.contentUrl }).routes]
  const readiness = new Readiness({ handles: options.handles, folders: options.folders ?? [], log })
  const pipeline = new Pipeline(
    {
      services,
      images: givenImages,
      handles: options.handles,
      log,
      metrics,
      readiness,
      checkAnswers: options.checkAnswers ?? false,
      rememberedBytes: options.rememberedBytes ?? REMEMBERED_BYTES,
      contentUrl: options.contentUrl,
      limiter: options.limiter ?? null,
      visitors: options.visitors
        ? { ...options.visitors, clientOf: (request) => options.visitors!.clientOf(sentAs.get(request) ?? request) }
        : null,
      after(task) {
        const running: Promise<void> = task()
          .catch((error) => log.write('warn', 'a task after an answer failed', { error: String(error) }))
          .finally(() => tasks.delete(running))
        tasks.add(running)
      },
    },
    routes,
  )

  let draining = false
  let inFlight = 0
  const idle: (() => void)[] = []
  /** The request as it came, of one that had to be made anew: what the server knows of its connection goes by that. */
  const sentAs = new WeakMap<Request, Request>()
  const router = new Router(PREFIX, routes, pipeline)

  const figures = () =>
    metrics.figures({
      stoa_open_stores: options.handles.size,
      stoa_in_flight: inFlight,
      process_resident_memory_bytes: process.memoryUsage().rss,
    })
  const scrape = options.scrape?.(figures) ?? (async () => figures())

  async function health(path: string): Promise<Response | null> {
    if (path === '/healthz') return plain(200, { ok: true, version: options.version })
    if (path === '/readyz') {
      const error = draining ? 'draining' : await readiness.problem()
      return error ? plain(503, { ok: false, error }) : plain(200, { ok: true })
    }
    if (path === '/metrics' && options.metrics) {
      return scrape().then(
        (all) => new Response(exposition(all), { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } }),
        (error) => plain(503, { ok: false, error: error.message }),
      )
    }
    return null
  }

  async function file(request: Request): Promise<Response | null> {
    const started = performance.now()
    const response = await serveFile(services.files, request)
    if (!response) return null
    const ms = performance.now() - started
    const { status } = response
    metrics.count(request.method, 'cdn', status, ms / 1000)
    log.write('info', 'request', {
      method: request.method,
      route: 'cdn',
      path: pathOf(request.url),
      status,
      ms: Math.round(ms * 100) / 100,
    })
    return response
  }

  async function fetch(sent: Request): Promise<Response> {
    inFlight++
    try {
      const request = absolute(sent)
      if (request !== sent) sentAs.set(request, sent)
      const path = pathOf(request.url)
      if (!path.startsWith(PREFIX)) return (await health(path)) ?? (await file(request)) ?? router.unknown(request)
      if (request.method !== 'HEAD') return await router.answer(request, path)
      const get = new Request(request.url, { method: 'GET', headers: request.headers })
      sentAs.set(get, sent)
      const response = await router.answer(get, path)
      const { byteLength } = await response.arrayBuffer()
      if (byteLength) response.headers.set('content-length', String(byteLength))
      return new Response(null, { status: response.status, headers: response.headers })
    } finally {
      if (--inFlight === 0) for (const tell of idle.splice(0)) tell()
    }
  }

  async function settled() {
    while (tasks.size) await Promise.all(tasks)
  }

  return {
    fetch,
    routes,
    settled,
    async drain() {
      draining = true
      if (inFlight > 0) await new Promise<void>((resolve) => idle.push(resolve))
      await settled()
      log.flush()
    },
  }
}
