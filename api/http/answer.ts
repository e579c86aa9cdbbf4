/** From a request to its answer: key, rate, scope, query, body, handler, conditions, and the one form of errors. */
import type { Session } from '../../db/control/registry.ts'
import { troubleOf } from '../../db/errors.ts'
import { Unusable } from '../../db/unusable.ts'
import { allow, authenticate, limit, requirePlan } from './auth.ts'
import { STRANGERS } from './input/bytes.ts'
import { abandoned, callOf, joined, requireTool, strangerIn, type AnyCall, type Keyed, type Task } from './call.ts'
import { parseQuery } from './input/check.ts'
import { OVERVIEW } from './documentation.ts'
import { constraintRefusal, refusalOf } from './errors.ts'
import { etagOf, stillMatches } from './etag.ts'
import { answered, attemptOf, once, replayed } from './idempotency.ts'
import { isStrict, Notes } from './input/notes.ts'
import { Refusal } from '../values/refusal.ts'
import { requestIdOf } from './request-id.ts'
import { read, tell, type Read } from './read.ts'
import { encoded, readied, shownBy, statusOf, type Ready } from './ready.ts'
import { respond } from './respond.ts'
import { jsonResponse, notModified } from './response.ts'
import { Reply, type Route } from './route.ts'
import type { Surroundings } from './surroundings.ts'
import { remember, unchangedSince, validatorOf } from './validators.ts'
import { loggable, pathOf, searchOf } from './url.ts'

const CONDITIONAL = new Set(['PATCH', 'PUT', 'DELETE'])

export class Answering {
  readonly #ready = new Map<Route, Ready>()
  /** GET routes by path: what an `If-Match` is compared with. */
  readonly #reads = new Map<string, Ready>()

  constructor(
    readonly app: Surroundings,
    routes: readonly Route[],
  ) {
    for (const route of routes) {
      const ready = readied(route, app.contentUrl, shownBy(route, routes))
      this.#ready.set(route, ready)
      if (route.method === 'GET') this.#reads.set(route.path, ready)
    }
  }

  /** Answers one request of a route. Never throws. */
  async answer(route: Route, request: Request, params: Record<string, string>): Promise<Response> {
    const started = performance.now()
    const requestId = requestIdOf(request, this.app.clock)
    const headers: Record<string, string> = { 'x-request-id': requestId }
    const ready = this.#ready.get(route)!
    let session: Session | null = null
    let response: Response
    try {
      if (route.options.scope === 'public') response = await this.#public(ready, request, params, requestId, headers)
      else {
        session = await authenticate(this.app.registry, request, this.app.clock.now())
        if (this.app.limiter) limit(this.app.limiter, session.key.id, headers)
        allow(route, session)
        requirePlan(route, session)
        response = await this.#inStore(ready, session, { request, requestId, params, headers })
      }
    } catch (error) {
      response = this.#refuse(error, requestId, headers, ready.documentation, session)
    }
    this.#note(request, route.path, response.status, started, requestId, session)
    return response
  }

  /** Refuses a request that belongs to no route. */
  refuseUnrouted(request: Request, error: unknown): Response {
    const started = performance.now()
    const requestId = requestIdOf(request, this.app.clock)
    const response = this.#refuse(error, requestId, { 'x-request-id': requestId }, this.app.contentUrl + OVERVIEW)
    this.#note(request, 'unknown', response.status, started, requestId, null)
    return response
  }

  /** The answer to anything thrown. What is not a refusal tells the client nothing but its request id. */
  #refuse(
    error: unknown,
    requestId: string,
    headers: Record<string, string>,
    documentation: string,
    session: Session | null = null,
  ): Response {
    let refusal = refusalOf(error)?.at(documentation)
    const trouble = troubleOf(error)
    if (trouble) this.app.readiness.note(trouble, requestId, session && { storeId: session.store.id, environment: session.environment })
    if (error instanceof Unusable)
      this.app.log.write('warn', 'a database is not usable', { requestId, database: error.database, error: error.message })
    if (!refusal) {
      this.app.log.write('warn', 'unexpected error', {
        requestId,
        error: String(error),
        stack: error instanceof Error ? error.stack : undefined,
      })
      refusal = new Refusal(500, 'internal error', { requestId })
    }
    return jsonResponse(refusal.status, JSON.stringify(refusal.body), { ...headers, ...refusal.headers })
  }

  /** Counts and logs an answered request; `pattern` is its route, so that the number of series stays bounded. */
  #note(request: Request, pattern: string, status: number, started: number, requestId: string, session: Session | null) {
    const ms = performance.now() - started
    this.app.metrics.count(request.method, pattern, status, ms / 1000)
    if (!this.app.log.enabled('info')) return
    // What is wrong with the store or the disk has a line of its own.
    const isWarning = status >= 500 && status !== 503 && status !== 507
    this.app.log.write(isWarning ? 'warn' : 'info', 'request', {
      requestId,
      method: request.method,
      route: pattern,
      path: loggable(pathOf(request.url), pattern),
      status,
      ms: Math.round(ms * 100) / 100,
      storeId: session?.store.id,
      keyId: session?.key.id,
    })
  }

  async #public(ready: Ready, request: Request, params: Record<string, string>, requestId: string, headers: Record<string, string>) {
    const { visitors } = this.app
    if (!visitors) return this.#visited(ready, request, params, requestId, headers)
    const client = visitors.clientOf(request)
    const free = ready.route.options.limited === 'refusals'
    if (!free) limit(visitors.limiter, client, headers)
    try {
      return await this.#visited(ready, request, params, requestId, headers)
    } catch (error) {
      // What a provider signed is taken whoever has guessed from its address: it is refusals that are counted.
      if (free) limit(visitors.limiter, client, headers)
      throw error
    }
  }

  async #visited(ready: Ready, request: Request, params: Record<string, string>, requestId: string, headers: Record<string, string>) {
    const { clock } = this.app
    const { query, body, file, text, notes } = await read(ready, request, STRANGERS, headers)
    const now = clock.now().toISOString()
    const call = { query, body, file, params, request, requestId, clock, now, prepared: undefined } as never
    const owner = await ready.route.options.owner?.(call)
    if (owner instanceof Reply) return respond(ready, request, this.app.checkAnswers, owner, headers)
    if (!owner) return respond(ready, request, this.app.checkAnswers, await ready.route.handler(call), headers)
    return this.app.handles.use(owner.storeId, owner.environment, (handle) =>
      this.#run(ready, strangerIn(handle, call), { handle, request, headers }, { text, notes }),
    )
  }

  /** Answers from the session's store, which stays open meanwhile; then starts what was to follow. */
  async #inStore(ready: Ready, session: Session, parts: Omit<Keyed, 'session' | 'handle' | 'tasks'>): Promise<Response> {
    const { store, environment } = session
    const tasks: Task[] = []
    let succeeded = false
    try {
      const response = await this.app.handles.use(store.id, environment, (handle) =>
        this.#keyed(ready, { ...parts, session, handle, tasks }),
      )
      succeeded = response.status < 400
      return response
    } finally {
      // What follows a change waits for its commit: a refusal leaves nothing to follow.
      for (const { run, when } of tasks)
        if (when === 'undo') {
          if (!succeeded) await run().catch((error) => this.app.log.write('warn', 'not undone', { error: String(error) }))
        } else if (succeeded || when === 'always') this.app.after(() => this.app.handles.use(store.id, environment, run))
    }
  }

  async #keyed(ready: Ready, keyed: Keyed): Promise<Response> {
    const { options } = ready.route
    const { handle, request, headers, session } = keyed
    const fresh = options.stored ? handle.version() : null
    if (fresh !== null) keyed.version = fresh
    const validator = fresh === null ? null : validatorOf(session, request)
    // What has to be refused can't be unchanged.
    const unchanged = fresh === null || isStrict(request.headers.get('prefer')) ? null : unchangedSince(handle, validator, fresh, request)
    if (unchanged !== null) return notModified(unchanged, headers)
    if (options.tool) await requireTool(keyed, options.tool)
    const received = await read(ready, request, session.store.id, headers)
    const call = callOf(ready.route, keyed, this.app.clock, received.query, received)
    const response = await this.#run(ready, call, keyed, await this.#compared(ready, call, received, headers))
    // A 304 that had to be worked out is remembered too: it holds until the next commit.
    if (fresh !== null && (response.status === 200 || response.status === 304))
      remember(handle, validator, fresh, response.headers.get('etag')!)
    return response
  }

  /** Says what was sent of fields that only answers have, unless they are as they were read. What a POST makes can't have been read. */
  async #compared({ route }: Ready, call: AnyCall, received: Read, headers: Record<string, string>): Promise<Read> {
    const reading = route.method === 'POST' ? undefined : this.#reads.get(route.path)
    if (!reading || !received.notes.hasShown) return received
    const query = parseQuery('', reading.query, new Notes())
    received.notes.compare(await reading.route.handler({ ...call, query } as never))
    received.notes.refuse()
    tell(received.notes, headers)
    return received
  }

  /** Runs the handler: alone, once for an `Idempotency-Key`, or if what it changes still is what the client has seen. */
  async #run(
    ready: Ready,
    call: AnyCall,
    { handle, request, headers }: Pick<Keyed, 'handle' | 'request' | 'headers'>,
    { text, notes }: Pick<Read, 'text' | 'notes'>,
  ): Promise<Response> {
    const { route } = ready
    // Whoever has no key could store an answer with every request.
    const attempt = call.session && attemptOf(request, call.session.key.id, text, call)
    const before = attempt && route.options.prepare ? await replayed(handle.read, attempt, this.app.secrets) : null
    if (before) return answered(before, headers)
    const prepared = await route.options.prepare?.(call as never)
    const handler = async (running: AnyCall) => {
      try {
        const result = await route.handler((prepared === undefined ? running : { ...running, prepared }) as never)
        if (notes.hasShown && route.method === 'POST') notes.compare(result instanceof Reply ? result.body : result)
        tell(notes, headers)
        return result
      } catch (error) {
        const refusal = constraintRefusal(error) ?? error
        throw refusal instanceof Refusal ? refusal.at(ready.documentation) : refusal
      }
    }
    if (attempt) {
      const outcome = await once(handle, attempt, this.app.secrets, async (tx) => {
        const result = await handler(joined(route, call, tx))
        return { status: statusOf(ready, result), body: encoded(ready, result, this.app.checkAnswers) }
      })
      return answered(outcome, headers)
    }
    const condition = CONDITIONAL.has(route.method) ? request.headers.get('if-match') : null
    if (condition === null) return respond(ready, request, this.app.checkAnswers, await handler(call), headers)
    const result = await handle.write(async (tx) => {
      const inside = joined(route, call, tx)
      if (!stillMatches(condition, await this.#currentTag(route, inside)))
        throw new Refusal(412, 'the resource has changed since: read it again')
      return handler(inside)
    }, abandoned(request))
    return respond(ready, request, this.app.checkAnswers, result, headers)
  }

  /** The ETag that a GET with the request's query would have now: of the path itself, else of the resource that it is a part of. */
  async #currentTag({ path }: Route, inside: AnyCall): Promise<string | null> {
    let reading = this.#reads.get(path)
    for (let above = path; !reading && (above = above.slice(0, above.lastIndexOf('/')));)
      if (above.endsWith('}')) reading = this.#reads.get(above)
    if (!reading) return null
    const query = parseQuery(searchOf(inside.request.url), reading.query, new Notes())
    return etagOf(encoded(reading, await reading.route.handler({ ...inside, query } as never), this.app.checkAnswers))
  }
}
