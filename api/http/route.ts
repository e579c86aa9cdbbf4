/** How a resource is written down: its routes, each with its scope, what comes in, what goes out, and its handler. */
import type { Db } from '../../db/driver.ts'
import type { Environment, Handle } from '../../db/open.ts'
import type { Session } from '../../db/control/registry.ts'
import type { settings } from '../../db/store/store.ts'
import type { Allowed } from '../values/plans.ts'
import type { Services } from '../outside/services.ts'
import type { Log } from '../server/log.ts'
import type { Clock } from '../values/clock.ts'
import { Type, type Static, type TObject, type TProperties, type TSchema } from './schema.ts'

/** The rooms: folders of `api/`, tags of the OpenAPI document. */
export type Room = 'store' | 'catalog' | 'checkout' | 'orders' | 'marketing' | 'content' | 'events' | 'builder'
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Settings = typeof settings.$inferSelect

/** Scopes of document 1; a list means any of them, `any key` none in particular, `public` no key at all. */
type Access = string | readonly string[] | 'any key' | 'public'

/** The file of a form; its name is what the client calls it. */
export interface Upload {
  bytes: Uint8Array
  name: string | null
}

/** What a handler gets. `db` reads; `write` runs one durable transaction; both see one store only. */
export interface Call<Q = unknown, B = unknown> {
  readonly session: Session
  readonly db: Db
  write<T>(fn: (tx: Db) => Promise<T>): Promise<T>
  readonly query: Q
  readonly body: B
  /** Of a request that came as a form; its other fields are in `body`. */
  readonly file: Upload | null
  readonly params: Record<string, string>
  readonly request: Request
  readonly requestId: string
  /** What is outside: payments, mail, files, … */
  readonly services: Services
  readonly log: Log
  /** The one of the services. */
  readonly clock: Clock
  /** The instant of the request, as it goes on the wire. */
  readonly now: string
  /** A key that carries storefront scopes alone: it never sees drafts or hidden things. */
  readonly storefront: boolean
  settings(): Promise<Settings>
  /** What `prepare` returned, or what `owner` found. */
  readonly prepared: unknown
  /**
   * Runs once the answer is given, outside any transaction: after a success (so that what it builds on is on disk), or always. The
   * process waits for it before it exits.
   */
  after(task: (store: Handle) => Promise<void>, when?: 'success' | 'always'): void
  /**
   * Undoes what a handler has done outside its store's database. Runs before the answer when the request does not succeed: its
   * transaction, or the commit of it, may fail after the handler.
   */
  undo(task: () => Promise<void>): void
}

/** An answer with a status, a type or headers of its own; bytes are sent as they are. */
export class Reply {
  constructor(
    readonly status: number,
    readonly body: unknown,
    readonly headers: Record<string, string> = {},
  ) {}
}

/** The body of an answer: JSON of a schema, or one of other media types. */
export type AnswerBody = TSchema | string | readonly string[]
export const isSchema = (answer: AnswerBody): answer is TSchema => typeof answer !== 'string' && !Array.isArray(answer)

interface RouteOptions<Q extends TProperties, B extends TSchema> {
  /** operationId of the OpenAPI document. */
  op: string
  summary: string
  description?: string
  scope: Access
  /** Of a tool that the store may have turned off: 404 then. */
  tool?: keyof Settings['tools']
  /** Needs a plan that has this: 403 otherwise. */
  plan?: Allowed
  query?: Q
  body?: B
  /** May be called without a body. */
  bodyOptional?: boolean
  /** The form (multipart/form-data) that it takes, instead of JSON or beside it. Its file is a string with a `contentMediaType`. */
  upload?: TSchema
  /** What the file of the form may have; 1 MB when not given. */
  uploadMaxBytes?: number
  /**
   * Bodies by status; the first is the answer of a plain return value. A string names a media type that is not JSON, a list those of
   * which each answer has one. Nothing at all: it always refuses.
   */
  answers: Record<number, AnswerBody>
  /** Statuses that it may refuse with, beside the ones that every route has (401, 403, 429). */
  refuses?: number[]
  /**
   * The store that a `public` request is about, which it names by a token of its own, and what else it found out, for `prepared`; what
   * names none gets an answer at once.
   */
  owner?: (call: Call<Static<TObject<Q>>, Static<B>>) => Promise<{ storeId: string; environment: Environment; prepared?: unknown } | Reply>
  /**
   * Without a key, what counts against a client's address is what was refused: for a provider, who delivers much from few addresses and
   * signs it.
   */
  limited?: 'refusals'
  /** Waits for a network, so it runs before the transaction that an `Idempotency-Key` or `If-Match` opens. */
  prepare?: (call: Call<Static<TObject<Q>>, Static<B>>) => Promise<unknown>
  /** Its representation depends on the stored data alone, not on the time: 304 without reading it (see etag.ts). */
  stored?: boolean
  /** Not written to the audit log: a visitor's doing, not the team's. */
  unaudited?: boolean
}

/** A route as the server and the OpenAPI document use it. */
export interface Route {
  room: Room
  method: Method
  /** `/coupons/{idOrCode}` */
  path: string
  options: RouteOptions<TProperties, TSchema>
  query: TObject | null
  handler: (call: Call<never, never>) => unknown
}

type Handler<Q extends TProperties, B extends TSchema> = (call: Call<Static<TObject<Q>>, Static<B>>) => unknown

/** The routes of one resource, in the order in which its file gives them. */
export class Resource {
  readonly routes: Route[] = []
  constructor(
    readonly room: Room,
    readonly prefix: string,
  ) {}

  #add<Q extends TProperties, B extends TSchema>(method: Method, path: string, options: RouteOptions<Q, B>, handler: Handler<Q, B>): this {
    this.routes.push({
      room: this.room,
      method,
      path: this.prefix + path,
      options: options as never,
      query: options.query ? (Type.Object(options.query) as never) : null,
      handler: handler as never,
    })
    return this
  }

  get<Q extends TProperties = {}>(path: string, options: RouteOptions<Q, never>, handler: Handler<Q, never>) {
    return this.#add('GET', path, options, handler)
  }
  post<Q extends TProperties = {}, B extends TSchema = never>(path: string, options: RouteOptions<Q, B>, handler: Handler<Q, B>) {
    return this.#add('POST', path, options, handler)
  }
  put<Q extends TProperties = {}, B extends TSchema = never>(path: string, options: RouteOptions<Q, B>, handler: Handler<Q, B>) {
    return this.#add('PUT', path, options, handler)
  }
  patch<Q extends TProperties = {}, B extends TSchema = never>(path: string, options: RouteOptions<Q, B>, handler: Handler<Q, B>) {
    return this.#add('PATCH', path, options, handler)
  }
  delete<Q extends TProperties = {}>(path: string, options: RouteOptions<Q, never>, handler: Handler<Q, never>) {
    return this.#add('DELETE', path, options, handler)
  }
}

/** Starts the list of a resource's routes. */
export const resource = (room: Room, prefix: string) => new Resource(room, prefix)
