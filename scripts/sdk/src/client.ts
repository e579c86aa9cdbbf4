/** The client: turns calls into requests, tries again what may be tried again, and turns answers into values and errors. */
import createFetchClient from 'openapi-fetch'
import { answered, listOf, type Place, type WithResponse } from './answered.ts'
import { errorOf, StoaError } from './error.ts'
import { operationOf, type Operation, type Resource } from './operation.ts'

export interface StoaOptions {
  /** Where the store's API is, such as `https://shop.example`. */
  url: string
  /** An API key, or where to get one for each request. None: what needs no key, or a gateway that adds it. */
  key?: (string | (() => string | Promise<string>)) | undefined
  /** What `url` is followed by; `/api/v1` unless told otherwise. */
  apiPath?: string | undefined
  /** How long one try may take; 30,000 ms unless told otherwise, 0: as long as it takes. */
  timeoutMs?: number | undefined
  /** How often to try again after 429, 503, a network fault or a timeout; 2 unless told otherwise. */
  retries?: number | undefined
  /** Whether what the API does not know is refused with the nearest name (`Prefer: handling=strict`); true unless told otherwise. */
  strict?: boolean | undefined
  /** Keeps so many answers of reads with their ETags, and asks whether they have changed; `true`: 200. None unless told otherwise. */
  cache?: boolean | number | undefined
  /** Headers of every request; those of a call stand over them. */
  headers?: Readonly<Record<string, string>> | undefined
  /** Used instead of the global `fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined
}

/** What one call may have of its own. */
export interface CallOptions extends Pick<StoaOptions, 'timeoutMs' | 'retries' | 'headers'> {
  signal?: AbortSignal | undefined
  /** Of a POST, which is done once for each value; a new one for each call unless told otherwise. */
  idempotencyKey?: string | undefined
  /** The ETag that was read: refused with 412 when it has changed since. Null, where there was none, is refused here. */
  ifMatch?: string | null | undefined
  /** Query parameters of a call that has a body. */
  query?: Readonly<Record<string, unknown>> | undefined
}

const TIMEOUT_MS = 30_000
const RETRIES = 2
const CACHED = 200
/** The longest time that is waited before another try, in ms. */
const WAIT_MAX_MS = 30_000
/** No answer, and those of a proxy that got none: nobody knows whether it was done. */
const MAYBE_DONE = new Set([0, 502, 504])
/** Statuses of answers to what was not done. */
const NOT_DONE = new Set([429, 503])
/** What they have done once, they do not do again. */
const REPLACING = new Set(['PUT', 'DELETE'])

interface Sent {
  path: Record<string, string>
  query: Readonly<Record<string, unknown>> | undefined
  body: unknown
  options: CallOptions
}

/** A random value of 128 bits; `crypto.randomUUID` is not there on pages without https. */
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Waits; rejects with the signal's reason when it is aborted. */
const pause = (ms: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })

/** The body of an answer: JSON as a value, text as a string, anything else as a Blob. */
async function bodyOf(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? ''
  if (response.status === 204) return undefined
  if (type.startsWith('application/json')) return response.json()
  return /^text\/|\+xml/.test(type) ? response.text() : response.blob()
}

interface Kept {
  etag: string
  text: string
}

class Connection {
  readonly #client
  readonly #kept = new Map<string, Kept>()
  readonly #cached: number

  constructor(readonly options: StoaOptions) {
    const { url, apiPath = '/api/v1', fetch, cache = false } = options
    if (typeof url !== 'string' || !/^https?:\/\/[^/]/.test(url))
      throw new StoaError(`url is ${JSON.stringify(url)}: it has to be where the store's API is, such as https://shop.example`, {
        status: 0,
        code: 'invalid_argument',
      })
    this.#cached = cache === true ? CACHED : Number(cache)
    this.#client = createFetchClient<any>({
      baseUrl: url.replace(/\/+$/, '') + apiPath,
      querySerializer: { array: { style: 'form', explode: false } },
      ...(fetch ? { fetch } : {}),
    })
  }

  /** Carries out a call, again where it may be, and returns its answer. Rejects with a `StoaError`, or with the reason of its signal. */
  async send<T>(operation: Operation, sent: Sent): Promise<WithResponse<T>> {
    const { options } = sent
    if (options.ifMatch === null) throw new StoaError('ifMatch is null: there was no ETag', { status: 0, code: 'invalid_argument' })
    const retries = options.retries ?? this.options.retries ?? RETRIES
    const idempotencyKey = operation.method === 'POST' && !operation.isPublic ? (options.idempotencyKey ?? newKey()) : undefined
    // What may have been done is done again only where that changes nothing: a PATCH may take one off the stock.
    const isRepeatable =
      operation.method === 'GET' ||
      idempotencyKey !== undefined ||
      (REPLACING.has(operation.method) && !operation.isPublic && options.ifMatch === undefined)
    for (let tries = 0; ; tries++) {
      try {
        return await this.#try<T>(operation, sent, idempotencyKey)
      } catch (error) {
        options.signal?.throwIfAborted()
        if (!(error instanceof StoaError) || error.code === 'invalid_argument') throw error
        const mayTryAgain = NOT_DONE.has(error.status) || (MAYBE_DONE.has(error.status) && isRepeatable)
        const waitMs = error.retryAfterSeconds === null ? 250 * 2 ** tries * (1 + Math.random()) : error.retryAfterSeconds * 1000
        if (!mayTryAgain || tries >= retries || waitMs > WAIT_MAX_MS) throw error
        await pause(waitMs, options.signal)
      }
    }
  }

  async #try<T>(operation: Operation, { path, query, body, options }: Sent, idempotencyKey: string | undefined): Promise<WithResponse<T>> {
    const { key, strict = true, headers } = this.options
    const timeoutMs = options.timeoutMs ?? this.options.timeoutMs ?? TIMEOUT_MS
    const timeout = timeoutMs > 0 ? AbortSignal.timeout(timeoutMs) : new AbortController().signal
    const secret = typeof key === 'function' ? await key() : key
    const memory =
      operation.method === 'GET' && this.#cached ? JSON.stringify([secret, operation.path, path, query, options.headers]) : null
    const kept = memory === null ? undefined : this.#kept.get(memory)
    try {
      const { response, error } = await this.#client.request(operation.method.toLowerCase() as 'get', operation.path, {
        params: { path, query } as any,
        body: body as any,
        parseAs: 'stream',
        signal: options.signal ? AbortSignal.any([options.signal, timeout]) : timeout,
        headers: {
          ...headers,
          ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
          ...(strict ? { prefer: 'handling=strict' } : {}),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          ...(options.ifMatch == null ? {} : { 'if-match': options.ifMatch }),
          ...(kept ? { 'if-none-match': kept.etag } : {}),
          ...options.headers,
        },
      })
      const around = { response, etag: response.headers.get('etag'), requestId: response.headers.get('x-request-id') }
      if (kept && response.status === 304) {
        this.#keep(memory!, kept)
        return { data: JSON.parse(kept.text) as T, ...around }
      }
      if (!response.ok) throw errorOf(response, error)
      const data = (await bodyOf(response)) as T
      if (!operation.isFile && (typeof data === 'string' || data instanceof Blob))
        throw new StoaError('what answers is not the store API: look at url and apiPath', {
          status: response.status,
          code: 'unexpected_answer',
          requestId: around.requestId,
        })
      if (memory !== null && around.etag && !(data instanceof Blob)) this.#keep(memory, { etag: around.etag, text: JSON.stringify(data) })
      return { data, ...around }
    } catch (error) {
      if (error instanceof StoaError || options.signal?.aborted) throw error
      if (timeout.aborted) throw new StoaError(`no answer within ${timeoutMs} ms`, { status: 0, code: 'timeout', cause: error })
      throw new StoaError(`the store could not be reached: ${String((error as Error | null)?.message ?? error)}`, {
        status: 0,
        code: 'network',
        cause: error,
      })
    }
  }

  /** The longest unused goes first. */
  #keep(memory: string, kept: Kept) {
    this.#kept.delete(memory)
    this.#kept.set(memory, kept)
    if (this.#kept.size > this.#cached) this.#kept.delete(this.#kept.keys().next().value!)
  }
}

/** The parts of a path by their names. Refuses what would be another path. */
function pathOf({ method, path, params }: Operation, given: readonly unknown[]): Record<string, string> {
  return Object.fromEntries(
    params.map((name, i) => {
      const value = given[i]
      if ((typeof value !== 'string' && typeof value !== 'number') || value === '' || /^\.\.?$/.test(String(value)))
        throw new StoaError(`${method} ${path} needs ${name}: a string that is not empty`, { status: 0, code: 'invalid_argument' })
      return [name, String(value)]
    }),
  )
}

/** A method of a resource: parts of the path, then the body or the query, then options. */
function methodOf(connection: Connection, line: string) {
  const operation = operationOf(line)
  const { params, hasBody, hasQuery, list, pageMax } = operation
  return (...given: unknown[]) => {
    const rest = given.slice(params.length)
    const input = hasBody || hasQuery ? rest.shift() : undefined
    const options = (rest[0] ?? {}) as CallOptions
    const query = hasBody ? options.query : (input as Record<string, unknown> | undefined)
    // The call's own limit stands over that of a walk; where the walk has come to, over where it began.
    const ask = async ({ limit, ...place }: Partial<Place>) =>
      connection.send(operation, {
        path: pathOf(operation, given),
        query: { ...(limit === undefined ? {} : { limit }), ...query, ...place },
        body: hasBody ? input : undefined,
        options,
      })
    return list ? listOf(ask, { kind: list, pageMax, offset: Number(query?.offset ?? 0) }) : answered(ask({}))
  }
}

type Apis<R> = { readonly [Name in keyof R]: R[Name] extends Resource<infer Api> ? Api : never }

/** A client with these resources alone: a bundler leaves the others out. */
export function createStoa<const R extends Readonly<Record<string, Resource<any>>>>(options: StoaOptions, resources: R): Apis<R> {
  const connection = new Connection(options)
  const apis = Object.entries(resources).map(([name, { lines }]) => {
    const methods = Object.entries(lines).map(([method, line]) => [method, methodOf(connection, line)] as const)
    const itself = methods.find(([method]) => method === '()')?.[1] ?? {}
    return [name, Object.assign(itself, Object.fromEntries(methods.filter(([method]) => method !== '()')))]
  })
  return Object.fromEntries(apis)
}
