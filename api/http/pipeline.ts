/**
 * From a request to its answer, in a row: identify, limit, allow, open the store, recall, read, run, respond, note. Whatever is thrown on
 * the way is answered in one form.
 */
import type { Owner } from '../outside/files.ts'
import type { Session } from '../../db/control/registry.ts'
import { BucketError } from '../../db/bucket.ts'
import { troubleOf } from '../../db/errors.ts'
import type { Handle } from '../../db/open.ts'
import { Unusable } from '../../db/unusable.ts'
import { Refusal } from '../values/refusal.ts'
import { allow, authenticate, limit, mayCall, ownerOf, requirePlan } from './auth.ts'
import { callOf, countVisitor, requireTool, strangerIn, type Task } from './call.ts'
import { OVERVIEW } from './documentation.ts'
import { refusalOf } from './errors.ts'
import { BODY_MAX_BYTES, STRANGER_MAX_BYTES } from './input/body.ts'
import { STRANGERS } from './input/bytes.ts'
import { receives, refuseDeclared } from './input/form.ts'
import { parseQuery } from './input/check.ts'
import { Notes } from './input/notes.ts'
import { read, tell, type Read } from './read.ts'
import { bodyOf, readied, shownBy, type Ready } from './ready.ts'
import { Remembered } from './remembered.ts'
import { requestIdOf } from './request-id.ts'
import { jsonResponse, respond } from './respond.ts'
import { Reply, type AnyCall, type Route, type Via } from './route.ts'
import { run, timeless, type Reads, type Running } from './run.ts'
import type { Surroundings } from './surroundings.ts'
import { isBrowser, loggable, pathOf } from './url.ts'

/** One request on its way to its answer. */
interface Exchange {
  readonly ready: Ready
  readonly request: Request
  readonly params: Record<string, string>
  readonly requestId: string
  /** The headers of the answer so far. */
  readonly headers: Record<string, string>
  /** The start of the request in ms, by the monotonic clock. */
  readonly started: number
  /** Null until the key is known, and for a request without one. */
  session: Session | null
}

/** The facts about an answered request that the log and the metrics are told. */
type Told = Pick<Exchange, 'request' | 'requestId' | 'started' | 'session'>

export class Pipeline {
  readonly #ready = new Map<Route, Ready>()
  /** GET routes by path: what an `If-Match` is compared with. */
  readonly #reads: Reads = new Map()
  readonly #remembered: Remembered
  /** Requests that this process makes itself, for a storefront or a tool: whose they are is known without a key. */
  readonly #inside = new WeakMap<Request, { session: Session; via: Via }>()

  constructor(
    readonly app: Surroundings,
    routes: readonly Route[],
  ) {
    this.#remembered = new Remembered(app.rememberedBytes)
    for (const route of routes) {
      const ready = readied(route, app, shownBy(route, routes))
      this.#ready.set(route, ready)
      if (route.method === 'GET') this.#reads.set(route.path, ready)
    }
  }

  /** Answers one request of a route. Never throws. */
  async answer(route: Route, request: Request, params: Record<string, string>): Promise<Response> {
    const requestId = requestIdOf(request, this.app.services.clock)
    const exchange: Exchange = {
      ready: this.#ready.get(route)!,
      request,
      params,
      requestId,
      headers: { 'x-request-id': requestId },
      started: performance.now(),
      session: null,
    }
    let response: Response
    try {
      response = await (route.options.scope === 'public' ? this.#public(exchange) : this.#keyed(exchange))
    } catch (error) {
      response = this.#refuse(error, exchange, exchange.ready.documentation, route.options.refusalPage)
    }
    this.#note(exchange, route.path, response.status)
    return response
  }

  /** Has a request answered for a session, without a key and without counting it. */
  vouchFor(request: Request, session: Session, via: Via = 'http') {
    this.#inside.set(request, { session, via })
  }

  /** Refuses a request that belongs to no route. */
  refuseUnrouted(request: Request, error: unknown): Response {
    const requestId = requestIdOf(request, this.app.services.clock)
    const told = { request, requestId, headers: { 'x-request-id': requestId }, started: performance.now(), session: null }
    const response = this.#refuse(error, told, this.app.contentUrl + OVERVIEW)
    this.#note(told, 'unknown', response.status)
    return response
  }

  /** A request with a key: it is about the key's store. */
  async #keyed(exchange: Exchange): Promise<Response> {
    const { app } = this
    const { ready, request, headers } = exchange
    const { options } = ready.route
    const inside = this.#inside.get(request)
    const session = (exchange.session = inside?.session ?? (await authenticate(app.services.registry, request, app.services.clock.now())))
    if (app.limiter && !inside) limit(app.limiter, session.key.id, headers)
    allow(ready.route, session)
    requirePlan(ready.route, session)
    return this.#open(ownerOf({ session }), async (handle, tasks) => {
      const version = options.stored && this.#remembered.maxBytes ? handle.version() : null
      const memory = version === null ? null : this.#remembered.of(handle, version, session, request)
      const recalled = memory?.recall(headers)
      if (recalled) return recalled
      const keyed = { ...exchange, session, via: inside?.via ?? 'http', handle, tasks, ...(version === null ? {} : { version }) }
      if (options.tool) await requireTool(keyed, options.tool)
      const said = await read(ready, request, { share: session.store.id, maxBytes: BODY_MAX_BYTES }, headers)
      const call = callOf(ready.route, keyed, app, said.query, said)
      await this.#compare(exchange, call, said)
      const own = options.stored && app.checkAnswers ? timeless(call, ready.route) : call
      return run(this.#running(exchange, handle, said, memory), own)
    })
  }

  /** A request without a key: it says itself which store it is about, or is about none. */
  async #public(exchange: Exchange): Promise<Response> {
    const { visitors } = this.app
    if (!visitors) return this.#visited(exchange)
    const client = visitors.clientOf(exchange.request)
    const isFree = exchange.ready.route.options.limited === 'refusals'
    if (!isFree) limit(visitors.limiter, client, exchange.headers)
    try {
      return await this.#visited(exchange)
    } catch (error) {
      // What a provider signed is taken whoever has guessed from its address: it is refusals that are counted.
      if (isFree) limit(visitors.limiter, client, exchange.headers)
      throw error
    }
  }

  async #visited(exchange: Exchange): Promise<Response> {
    const { checkAnswers, services, log } = this.app
    const { clock } = services
    const { ready, request, params, requestId, headers } = exchange
    const { owner: find, ownerByPath } = ready.route.options
    const known = { params, request, requestId, services, log, clock, now: clock.now().toISOString(), prepared: undefined }
    refuseDeclared(ready, request)
    const named = ownerByPath && (await find!(known as never))
    if (named instanceof Reply) return respond(ready, request, checkAnswers, named, headers)
    const share = named && receives(ready) ? named.storeId : STRANGERS
    const said = await read(ready, request, { share, maxBytes: STRANGER_MAX_BYTES }, headers)
    const { query, body, file } = said
    // Whoever counts before the store is known counts by the client alone.
    let about: Owner | null = named || null
    const countSubmission = () => countVisitor(this.app.visitors, request, about)
    const call = { ...known, query, body, file, countSubmission } as AnyCall
    const owner = named || (await find?.(call))
    if (owner instanceof Reply) return respond(ready, request, checkAnswers, owner, headers)
    if (!owner) return respond(ready, request, checkAnswers, await ready.route.handler(call), headers)
    about = owner
    return this.#open(owner, (handle, tasks) =>
      run(this.#running(exchange, handle, said, null), strangerIn(handle, call, { route: ready.route, prepared: owner.prepared, tasks })),
    )
  }

  /** Opens a store for as long as it takes to answer; then starts what was to follow. */
  async #open({ storeId, environment }: Owner, answer: (handle: Handle, tasks: Task[]) => Promise<Response>): Promise<Response> {
    const { handles, log, after } = this.app
    const tasks: Task[] = []
    let succeeded = false
    try {
      const response = await handles.use(storeId, environment, (handle) => answer(handle, tasks))
      succeeded = response.status < 400
      return response
    } finally {
      // What follows a change waits for its commit: a refusal leaves nothing to follow.
      for (const { run, when } of tasks)
        if (when === 'undo') {
          if (!succeeded) await run().catch((error) => log.write('warn', 'not undone', { error: String(error) }))
        } else if (succeeded || when === 'always') after(() => handles.use(storeId, environment, run))
    }
  }

  /** Says what was sent of fields that only answers have, unless they are as they were read. What a POST makes can't have been read. */
  async #compare({ ready: { route }, headers }: Exchange, call: AnyCall, { notes }: Read) {
    const reading = route.method === 'POST' || !notes.hasShown ? undefined : this.#reads.get(route.path)
    if (!reading) return
    // Whoever may not read it is not told which of their guesses are right: what they send is compared with what they are answered.
    if (!mayCall(reading.route, call.session)) return notes.compareLater()
    const query = parseQuery('', reading.query, new Notes())
    notes.compare(bodyOf(reading, await reading.route.handler({ ...call, query })))
    notes.refuse()
    tell(notes, headers)
  }

  #running({ ready, request, headers }: Exchange, handle: Handle, { text, notes }: Read, memory: Running['memory']): Running {
    const { services, checkAnswers } = this.app
    return { ready, request, headers, handle, text, notes, memory, secrets: services.secrets, checkAnswers, reads: this.#reads }
  }

  /** The answer to anything thrown. What is not a refusal tells the client nothing but its request id. */
  #refuse(
    error: unknown,
    { request, requestId, headers, session }: Told & Pick<Exchange, 'headers'>,
    documentation: string,
    page?: Route['options']['refusalPage'],
  ): Response {
    const { readiness, log } = this.app
    let refusal = refusalOf(error)?.at(documentation)
    const trouble = troubleOf(error)
    if (trouble) readiness.note(trouble, requestId, session && { storeId: session.store.id, environment: session.environment })
    if (error instanceof BucketError) log.write('warn', 'the S3 store failed', { requestId, error: error.message })
    if (error instanceof Unusable)
      log.write('warn', 'a database is not usable', { requestId, database: error.database, error: error.message })
    if (!refusal) {
      log.write('warn', 'unexpected error', {
        requestId,
        error: String(error),
        stack: error instanceof Error ? error.stack : undefined,
      })
      refusal = new Refusal(500, 'internal error', { requestId })
    }
    if (page && isBrowser(request)) {
      const shown = page(refusal)
      return new Response(shown.body as string, { status: refusal.status, headers: { ...headers, ...refusal.headers, ...shown.headers } })
    }
    return jsonResponse(refusal.status, JSON.stringify(refusal.body), { ...headers, ...refusal.headers })
  }

  /** Counts and logs an answered request; `pattern` is its route, so that the number of series stays bounded. */
  #note({ request, requestId, started, session }: Told, pattern: string, status: number) {
    const ms = performance.now() - started
    this.app.metrics.count(request.method, pattern, status, ms / 1000)
    // What is asked from inside, by a build or for a page, is a part of something that is logged.
    const via = this.#inside.get(request)?.via
    const level = status < 500 && via === 'http' ? 'debug' : 'info'
    if (!this.app.log.enabled(level)) return
    // What is wrong with the store or the disk has a line of its own.
    const isWarning = status >= 500 && status !== 503 && status !== 507
    this.app.log.write(isWarning ? 'warn' : level, 'request', {
      requestId,
      method: request.method,
      route: pattern,
      path: loggable(pathOf(request.url), pattern),
      status,
      ms: Math.round(ms * 100) / 100,
      storeId: session?.store.id,
      keyId: session?.key.id,
      ...(via === 'mcp' ? { via } : {}),
    })
  }
}
