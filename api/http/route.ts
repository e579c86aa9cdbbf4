/** How a resource is written down: its routes, each with its scope, what comes in, what goes out, and its handler. */
import type { Db, Reader } from '../../db/driver.ts'
import type { Environment, Handle } from '../../db/open.ts'
import type { Session } from '../../db/control/registry.ts'
import type { settings } from '../../db/store/store.ts'
import type { Allowed } from '../values/plans.ts'
import type { Refusal } from '../values/refusal.ts'
import type { Services } from '../outside/services.ts'
import type { Log } from '../server/log.ts'
import type { Clock } from '../values/clock.ts'
import { Type, type Static, type TObject, type TProperties, type TSchema } from './schema.ts'

/** The rooms: folders of `api/`, tags of the OpenAPI document. */
export type Room = 'store' | 'catalog' | 'checkout' | 'orders' | 'marketing' | 'content' | 'events' | 'builder'
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Settings = typeof settings.$inferSelect

/** The ways by which a change comes, as the audit log tells: asked for by HTTP, or by a tool of the MCP server. */
export const VIA = ['http', 'mcp'] as const
export type Via = (typeof VIA)[number]

/** Scopes of document 1; a list means any of them, `any key` none in particular, `public` no key at all. */
type Access = string | readonly string[] | 'any key' | 'public'

/** The file of a form; its name is what the client calls it. */
export interface Upload {
  bytes: Uint8Array
  name: string | null
}

/** A guess at `subject`: what `look` finds, null when it was wrong. 429 when there were too many wrong ones at it, or by this client. */
export type Guesses = <T>(subject: string, look: () => Promise<T | null>) => Promise<T | null>

/** The argument of a handler. `db` reads; `write` runs one durable transaction; both see one store only. */
export interface Call<Q = unknown, B = unknown, P = unknown> {
  readonly session: Session
  readonly db: Reader
  write<T>(fn: (tx: Db) => Promise<T>): Promise<T>
  readonly query: Q
  readonly body: B
  /** The file of a request that came as a form, whose other fields are in `body`; null for any other request. */
  readonly file: Upload | null
  /** The parts of the path that its braces name; UUIDs in lower case. */
  readonly params: P
  readonly request: Request
  readonly requestId: string
  readonly via: Via
  /** The outside world: payments, mail, files, … */
  readonly services: Services
  readonly log: Log
  /** Wrong guesses at a secret, by it and by who guesses. */
  readonly guesses: Guesses
  /** Counts what a visitor sends in; refuses with 429 when too much came from the same client. */
  countSubmission(): void
  /** The one of the services. */
  readonly clock: Clock
  /** The instant of the request, as it goes on the wire. */
  readonly now: string
  /** A key that carries storefront scopes alone: it never sees drafts or hidden things. */
  readonly storefront: boolean
  /** Inside of `write`, as its transaction sees them. */
  settings(): Promise<Settings>
  /** The value that `prepare` returned, or that `owner` found. */
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

type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
/** The parameters that a path names: `/{id}/items/{itemId}` has an `id` and an `itemId`. */
export type Params<Path extends string> = Readonly<Record<Names<Path>, string>>

/** An answer with a status, a type or headers of its own; bytes are sent as they are. */
export class Reply<S extends number = number, T = unknown> {
  constructor(
    readonly status: S,
    readonly body: T,
    readonly headers: Record<string, string> = {},
  ) {}
}

/** The kinds of things in the catalog that show images. */
export type ImageEntity = 'product' | 'bundle' | 'category' | 'collection' | 'brand' | 'post' | 'blogCategory'

/** The body of an answer: JSON of a schema, or one of other media types. */
export type AnswerBody = TSchema | string | readonly string[]
export const isSchema = (answer: AnswerBody): answer is TSchema => typeof answer !== 'string' && !Array.isArray(answer)

/** Bodies by status. */
type Answers = Readonly<Record<number, AnswerBody>>

type BodyOf<A> = A extends TSchema ? Static<A> : string | Uint8Array | Blob | ReadableStream<Uint8Array>
/** The status of a plain return value: the first that is there. */
type First<A> = 200 extends keyof A ? 200 : 201 extends keyof A ? 201 : 202 extends keyof A ? 202 : never
type Replies<A> = { [S in keyof A & number]: Reply<S, BodyOf<A[S]>> }[keyof A & number]
/** The result of a handler: a value that the schema of the first status describes, or a `Reply` with a body of its status. */
type Result<A> = (First<A> extends keyof A ? BodyOf<A[First<A>]> : never) | Replies<A>

/** The store that a request without a key is about, and what was found out with it. */
interface Owner {
  storeId: string
  environment: Environment
  prepared?: unknown
}

/** The call as the functions of a route's options see it, typed by its path, query and body. */
type CallOf<Path extends string, Q extends TProperties, B extends TSchema> = Call<Static<TObject<Q>>, Static<B>, Params<Path>>

interface RouteOptions<Path extends string, Q extends TProperties, B extends TSchema, A extends Answers> {
  /** operationId of the OpenAPI document. */
  operationId: string
  summary: string
  description?: string
  scope: Access
  /** The tool that the route belongs to: 404 when the store has turned it off. */
  tool?: keyof Settings['tools']
  /** Needs a plan that has this: 403 otherwise. */
  plan?: Allowed
  query?: Q
  body?: B
  /** May be called without a body. */
  bodyOptional?: boolean
  /** The form (multipart/form-data) that it takes, instead of JSON or beside it. Its file is a string with a `contentMediaType`. */
  upload?: TSchema
  /** The largest file that the form may have, in bytes; 1 MB when not given. */
  uploadMaxBytes?: number
  /**
   * Bodies by status; the first is the answer of a plain return value. A string names a media type that is not JSON, a list those of
   * which each answer has one. Nothing at all: it always refuses.
   */
  responses: A
  /** Statuses that it may refuse with, beside those that follow from its method, its path and its scope (`refusedAnyway`). */
  refuses?: number[]
  /**
   * The store that a `public` request is about, which it names by a token of its own, and what else it found out, for `prepared`; what
   * names none gets an answer at once.
   */
  owner?: (call: CallOf<Path, Q, B>) => Promise<Owner | Replies<NoInfer<A>>>
  /** The store is found by the path alone: before the body is read, whose memory counts as that store's. */
  ownerByPath?: true
  /**
   * Without a key, what counts against a client's address is what was refused: for a provider, who delivers much from few addresses and
   * signs it.
   */
  limited?: 'refusals'
  /**
   * Its body gives images of one of these: those of other hosts are taken into the media library, and the handler gets their addresses
   * there. It answers with what it wrote, which has an `id` (an event stands in `event`), and has no `prepare`.
   */
  images?: ImageEntity
  /** Waits for a network, so it runs before the transaction that an `Idempotency-Key` or `If-Match` opens. */
  prepare?: (call: CallOf<Path, Q, B>) => Promise<unknown>
  /** Its representation depends on the stored data alone, not on the time: it is remembered by the version of the data (`remembered.ts`). */
  stored?: boolean
  /** Shows a refusal as a page to a person whose browser has asked; programs get the error of every route. */
  refusalPage?: (refusal: Refusal) => Reply
  /** Not written to the audit log: a visitor's doing, not the team's. */
  unaudited?: boolean
}

/** A route as the server and the OpenAPI document use it. */
export interface Route {
  room: Room
  method: Method
  /** `/coupons/{idOrCode}` */
  path: string
  options: RouteOptions<string, TProperties, TSchema, Answers>
  query: TObject | null
  handler: (call: AnyCall) => unknown
}

/** A call of any route, whose handler alone knows what is in it. */
export type AnyCall = Call<any, any, any>

type Handler<Path extends string, Q extends TProperties, B extends TSchema, A extends Answers> = (
  call: CallOf<Path, Q, B>,
) => Result<NoInfer<A>> | Promise<Result<NoInfer<A>>>

/** Adds a route of one method; what it takes in and what it answers type its handler. */
interface Add<Prefix extends string, R> {
  <Path extends string, A extends Answers, Q extends TProperties = {}, B extends TSchema = never>(
    path: Path,
    options: RouteOptions<`${Prefix}${Path}`, Q, B, A>,
    handler: Handler<`${Prefix}${Path}`, Q, B, A>,
  ): R
}

/** The routes of one resource, in the order in which its file gives them. */
export class Resource<Prefix extends string = string> {
  readonly routes: Route[] = []
  readonly get = this.#adder('GET')
  readonly post = this.#adder('POST')
  readonly put = this.#adder('PUT')
  readonly patch = this.#adder('PATCH')
  readonly delete = this.#adder('DELETE')

  constructor(
    readonly room: Room,
    readonly prefix: Prefix,
  ) {}

  #adder(method: Method): Add<Prefix, this> {
    return (path, options, handler) => {
      const { room, prefix } = this
      const query = options.query ? Type.Object(options.query as TProperties) : null
      this.routes.push({
        room,
        method,
        path: prefix + path,
        options: options as Route['options'],
        query,
        handler: handler as Route['handler'],
      })
      return this
    }
  }
}

/** Starts the list of a resource's routes. */
export const resource = <Prefix extends string>(room: Room, prefix: Prefix) => new Resource(room, prefix)
