/** From a request to its answer: key, rate, scope, tool, query, body, handler, conditions, and the one form of errors. */
import { compile, named, type Db } from '../../db/driver.ts'
import { Busy, constraintOf } from '../../db/errors.ts'
import type { Handle, Handles } from '../../db/open.ts'
import { STOREFRONT_SCOPES, type Registry, type Session } from '../../db/control/registry.ts'
import { auditLog, settings as settingsTable } from '../../db/store/store.ts'
import { readJson } from './body.ts'
import { etagOf, matches, stillMatches } from './etag.ts'
import { once } from './idempotency.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { RateLimiter, Standing } from './rate-limit.ts'
import { Refusal } from './refusal.ts'
import { Reply, type Call, type Outside, type Route, type Settings } from './route.ts'
import { parser, parseQuery, type Parser } from './schema.ts'

/** What answering needs of the process around it. */
export interface Surroundings {
  registry: Registry
  handles: Handles
  outside: Outside
  log: Log
  metrics: Metrics
  /** Null: no limit. */
  limiter: RateLimiter | null
  /** Checks every answer against its schema and turns a mismatch into a 500: in tests. */
  checkAnswers: boolean
  /** Work that goes on after an answer; the process waits for it before it exits. */
  after(task: () => Promise<void>): void
}

/** Work for after the answer (see `Call.after`). */
interface Task { run(store: Handle): Promise<void>, when: 'success' | 'always' }

/** One keyed request. */
interface About { session: Session, handle: Handle, requestId: string, headers: Record<string, string>, tasks: Task[] }

/** A route made ready: its schemas are compiled at their first use, not at start. */
interface Ready { route: Route, query: Parser<unknown> | null, body: Parser<unknown> | null, answers: Map<number, Parser<unknown>>, status: number, type: string }

const settingsRow = compile((db) => db.select().from(settingsTable))
const insertAudit = compile((db) => db.insert(auditLog).values({
  id: named('id'), keyId: named('keyId'), keyName: named('keyName'), method: named('method'), path: named('path'),
  resource: named('resource'), requestId: named('requestId'), createdAt: named('createdAt'),
} as never))

const storefrontScopes = new Set(STOREFRONT_SCOPES)
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/
/** ETags remembered for each store: about 100 bytes each. */
const VALIDATORS_MAX = 2_000

/** The settings of a store, read again only after a commit. */
const settingsMemo = new WeakMap<Handle, { version: number, row: Settings }>()

async function settingsOf(handle: Handle): Promise<Settings> {
  const version = handle.version()
  const memo = settingsMemo.get(handle)
  if (version !== null && memo?.version === version) return memo.row
  const row = await settingsRow.get(handle.read) as Settings
  if (version !== null) settingsMemo.set(handle, { version, row })
  return row
}

/** A key that carries nothing but storefront scopes. */
export const isStorefront = (session: Session) =>
  session.scopes !== null && [...session.scopes].every((scope) => storefrontScopes.has(scope))
const storefrontMemo = new WeakMap<Session, boolean>()

export class Answering {
  readonly #ready = new Map<Route, Ready>()
  /** GET routes by path: what an `If-Match` is compared with. */
  readonly #reads = new Map<string, Route>()

  constructor(readonly app: Surroundings, routes: Route[]) {
    for (const route of routes) {
      const [status, first] = Object.entries(route.options.answers)[0]!
      this.#ready.set(route, {
        route, query: route.query && parser(route.query), body: route.options.body ? parser(route.options.body) : null,
        answers: new Map(), status: Number(status), type: typeof first === 'string' ? first : 'application/json; charset=utf-8',
      })
      if (route.method === 'GET') this.#reads.set(route.path, route)
    }
  }

  /** Answers one request of a route. Never throws. */
  async answer(route: Route, request: Request, params: Record<string, string>): Promise<Response> {
    const started = performance.now()
    const given = request.headers.get('x-request-id')
    const requestId = given !== null && REQUEST_ID.test(given) ? given : this.app.outside.id()
    const headers: Record<string, string> = { 'x-request-id': requestId }
    let session: Session | null = null
    let response: Response
    try {
      if (route.options.scope === 'public') response = await this.#public(this.#ready.get(route)!, request, params, requestId, headers)
      else {
        session = await this.#session(request)
        if (this.app.limiter) limited(this.app.limiter, session.key.id, headers)
        const found = session
        allow(route, found)
        const tasks: Task[] = []
        let succeeded = false
        try {
          response = await this.app.handles.use(found.store.id, found.environment,
            (handle) => this.#keyed(this.#ready.get(route)!, request, params, { session: found, handle, requestId, headers, tasks }))
          succeeded = response.status < 400
        } finally {
          // What follows a change waits for its commit: a refusal leaves nothing to follow.
          for (const { run, when } of tasks) if (succeeded || when === 'always') this.app.after(() => this.app.handles.use(found.store.id, found.environment, run))
        }
      }
    } catch (error) {
      response = this.refuse(error, requestId, headers)
    }
    this.note(request, route.path, response.status, started, requestId, session)
    return response
  }

  /** The answer to anything thrown. What is not a refusal tells the client nothing but its request id. */
  refuse(error: unknown, requestId: string, headers: Record<string, string>): Response {
    let refusal: Refusal
    if (error instanceof Refusal) refusal = error
    else if (error instanceof Busy) refusal = new Refusal(503, 'the store is busy, try again', {}, { 'retry-after': String(error.retryAfterSeconds) })
    else {
      const refused = constraintRefusal(error)
      if (refused) refusal = refused
      else {
        this.app.log.write('warn', 'unexpected error', { requestId, error: String(error), stack: error instanceof Error ? error.stack : undefined })
        refusal = new Refusal(500, 'internal error', { requestId })
      }
    }
    return new Response(JSON.stringify(refusal.body), {
      status: refusal.status, headers: { ...headers, ...refusal.headers, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    })
  }

  note(request: Request, pattern: string, status: number, started: number, requestId: string, session: Session | null) {
    const ms = performance.now() - started
    this.app.metrics.count(request.method, pattern, status, ms / 1000)
    if (this.app.log.enabled('info')) {
      this.app.log.write(status >= 500 ? 'warn' : 'info', 'request', {
        requestId, method: request.method, route: pattern, path: pathOf(request.url).slice(0, 300), status, ms: Math.round(ms * 100) / 100,
        storeId: session?.store.id, keyId: session?.key.id,
      })
    }
  }

  async #session(request: Request): Promise<Session> {
    const header = request.headers.get('authorization')
    const secret = header && /^bearer /i.test(header) ? header.slice(7).trim() : null
    const session = secret ? await this.app.registry.session(secret) : null
    if (!session) throw new Refusal(401, secret ? 'invalid API key' : 'missing API key: send Authorization: Bearer <API_KEY>', {}, { 'www-authenticate': 'Bearer' })
    return session
  }

  async #public(ready: Ready, request: Request, params: Record<string, string>, requestId: string, headers: Record<string, string>) {
    const { outside } = this.app
    const body = ready.body ? ready.body.parse((await readJson(request)).value) : undefined
    const call = { query: {}, body, params, request, requestId, outside, now: outside.now().toISOString(), prepared: undefined }
    return this.#respond(ready, request, await ready.route.handler(call as never), headers)
  }

  async #keyed(ready: Ready, request: Request, params: Record<string, string>, about: About) {
    const { route } = ready
    const { options } = route
    const { handle, session, headers } = about
    const storefront = storefrontMemo.get(session) ?? (storefrontMemo.set(session, isStorefront(session)), storefrontMemo.get(session)!)
    const fresh = options.stored ? handle.version() : null
    const validator = fresh === null ? '' : `${storefront}${request.url}`
    if (fresh !== null) {
      const condition = request.headers.get('if-none-match')
      const known = condition ? handle.validators.get(validator) : undefined
      if (known && known.version === fresh && matches(condition!, known.etag)) return notModified(known.etag, headers)
    }
    const query = ready.query ? parseQuery(searchOf(request.url), route.query!, ready.query) : {}
    let body: unknown
    let text = ''
    if (ready.body) {
      const read = await readJson(request)
      text = read.text
      body = ready.body.parse(read.value)
    }
    const call = this.#call(route, request, params, about, { query, body, storefront })
    const key = route.method === 'POST' ? request.headers.get('idempotency-key') : null
    const condition = route.method === 'PATCH' || route.method === 'PUT' || route.method === 'DELETE' ? request.headers.get('if-match') : null
    const prepared = options.prepare ? await options.prepare(call as never) : undefined
    const handler = async (joined: Call<never, never>) => {
      try {
        return await route.handler(prepared === undefined ? joined : { ...joined, prepared } as never)
      } catch (error) {
        throw constraintRefusal(error) ?? error
      }
    }
    if (key !== null) {
      const outcome = await once(handle, session.key.id, pathOf(request.url), key, text, call, async (tx) => {
        const result = await handler(join(call, tx, this.#audit(call, route)))
        return { status: statusOf(ready, result), body: this.#encode(ready, result) }
      })
      return jsonResponse(outcome.status, outcome.body, outcome.replayed ? { ...headers, 'idempotent-replayed': 'true' } : headers)
    }
    if (condition !== null && this.#reads.has(route.path)) {
      const reading = this.#reads.get(route.path)!
      const result = await handle.write(async (tx) => {
        const joined = join(call, tx, this.#audit(call, route))
        const current = await reading.handler({ ...joined, query: this.#defaults(reading) } as never)
        if (!stillMatches(condition, etagOf(this.#encode(this.#ready.get(reading)!, current)))) throw new Refusal(412, 'the resource has changed since: read it again')
        return handler(joined)
      })
      return this.#respond(ready, request, result, headers)
    }
    const result = await handler(call)
    const response = this.#respond(ready, request, result, headers)
    if (fresh !== null && response.status === 200) {
      if (handle.validators.size >= VALIDATORS_MAX) handle.validators.clear()
      handle.validators.set(validator, { version: fresh, etag: response.headers.get('etag')! })
    }
    return response
  }

  #defaults(reading: Route): unknown {
    const ready = this.#ready.get(reading)!
    return ready.query ? ready.query.parse({}) : {}
  }

  #call(route: Route, request: Request, params: Record<string, string>, about: About,
    parts: { query: unknown, body: unknown, storefront: boolean }): Call<never, never> {
    const { handle, session, requestId, tasks } = about
    const { outside } = this.app
    const call: Call<never, never> = {
      session, db: handle.read, query: parts.query as never, body: parts.body as never, params, request, requestId, outside, prepared: undefined,
      now: outside.now().toISOString(), storefront: parts.storefront, settings: () => settingsOf(handle),
      after: (run, when = 'success') => { tasks.push({ run, when }) },
      write: (fn) => handle.write(async (tx) => {
        const result = await fn(tx)
        await this.#audit(call, route)(tx)
        return result
      }),
    }
    return call
  }

  /** Writes the audit row of a call, in the transaction of its change. */
  #audit(call: Call<never, never>, route: Route): (tx: Db) => Promise<void> {
    let written = false
    return async (tx) => {
      if (route.options.unaudited || written) return
      written = true
      const { session, outside, requestId, now, request } = call
      await insertAudit.run(tx, {
        id: outside.id(), keyId: session.key.id, keyName: session.key.name, method: request.method, path: pathOf(request.url).slice(0, 500),
        resource: route.path.split('/')[1]!, requestId, createdAt: now,
      })
    }
  }

  #encode(ready: Ready, result: unknown): string {
    const status = statusOf(ready, result)
    const body = result instanceof Reply ? result.body : result
    if (this.app.checkAnswers) this.#check(ready, status, body)
    return typeof body === 'string' && ready.type !== JSON_TYPE ? body : JSON.stringify(body ?? null)
  }

  #check(ready: Ready, status: number, body: unknown) {
    const schema = ready.route.options.answers[status]
    if (schema === undefined) throw new Error(`${ready.route.options.op} answers ${status}, which it does not describe`)
    if (typeof schema === 'string') return
    let check = ready.answers.get(status)
    if (!check) ready.answers.set(status, check = parser(schema))
    const problems = check.problems(JSON.parse(JSON.stringify(body)))
    if (problems.length) throw new Error(`${ready.route.options.op}: the answer does not match its schema: ${JSON.stringify(problems)}`)
  }

  #respond(ready: Ready, request: Request, result: unknown, headers: Record<string, string>): Response {
    const status = statusOf(ready, result)
    const extra = result instanceof Reply ? result.headers : undefined
    if (status === 204) return new Response(null, { status, headers: { ...headers, ...extra } })
    const text = this.#encode(ready, result)
    if (extra) Object.assign(headers, extra)
    headers['content-type'] ??= ready.type
    if (ready.route.method === 'GET' && status === 200) {
      const etag = etagOf(text)
      const condition = request.headers.get('if-none-match')
      if (condition !== null && matches(condition, etag)) return notModified(etag, headers)
      headers.etag = etag
      headers['cache-control'] ??= 'private, no-cache'
    } else headers['cache-control'] ??= 'no-store'
    return new Response(text, { status, headers })
  }
}

const JSON_TYPE = 'application/json; charset=utf-8'
const jsonResponse = (status: number, body: string, headers: Record<string, string>) =>
  new Response(body, { status, headers: { ...headers, 'content-type': JSON_TYPE, 'cache-control': 'no-store' } })

function notModified(etag: string, headers: Record<string, string>): Response {
  headers.etag = etag
  headers['cache-control'] = 'private, no-cache'
  return new Response(null, { status: 304, headers })
}

const statusOf = (ready: Ready, result: unknown) => result instanceof Reply ? result.status : ready.status

/** A call whose reads and writes all belong to one transaction that is open already. */
function join(call: Call<never, never>, tx: Db, audit: (tx: Db) => Promise<void>): Call<never, never> {
  return {
    ...call, db: tx, settings: async () => await settingsRow.get(tx) as Settings,
    write: async (fn) => {
      const result = await fn(tx)
      await audit(tx)
      return result
    },
  }
}

function limited(limiter: RateLimiter, keyId: string, headers: Record<string, string>) {
  const standing: Standing = limiter.take(keyId, performance.now())
  headers['ratelimit-policy'] = limiter.policy
  headers.ratelimit = `"default";r=${standing.remaining};t=${standing.resetSeconds}`
  if (standing.retryAfterSeconds) throw new Refusal(429, `too many requests: wait ${standing.retryAfterSeconds} s`, {}, { 'retry-after': String(standing.retryAfterSeconds) })
}

/** Refuses with 403 when the key lacks the scope of the route. */
function allow(route: Route, session: Session) {
  const { scope } = route.options
  if (session.scopes === null || scope === 'any key') return
  const any = typeof scope === 'string' ? [scope] : scope
  if (any.some((name) => session.scopes!.has(name))) return
  throw new Refusal(403, `this key lacks the scope ${any.join(' or ')}`, { hint: `Create a key with ${any.length > 1 ? 'one of these scopes' : 'this scope'}: stoa key create --store ${session.store.id} --scopes ${any[0]}` })
}

/** 409 for what a constraint of the database refused; null for any other error. */
function constraintRefusal(error: unknown): Refusal | null {
  const constraint = constraintOf(error)
  return constraint && new Refusal(409, constraintMessage(constraint))
}

function constraintMessage({ kind, columns }: { kind: string, columns: string[] }): string {
  if (kind === 'unique') return `${columns.map((column) => column.split('.')[1] ?? column).join(' and ')} already exists`
  if (kind === 'foreign_key') return 'still referenced by, or refers to, another resource'
  return 'the change breaks a rule that the store keeps'
}

/** The path of an absolute URL, without the query. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const end = url.indexOf('?', start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}

function searchOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

