/** Answering the content site's requests from the manifest of its build: paths, forms, encodings, conditions, problems. */
import { pathOf, targetOf } from '../../api/http/url.ts'
import { encodingFor, type Encoding } from '../../api/values/accept.ts'
import { SCAN } from '../analyses/operations.ts'
import { decoded, straight } from '../../api/hosting/paths.ts'
import { PATH_MAX, tooLong } from './addresses.ts'
import { Bodies, bodyOf } from '../../api/hosting/bodies.ts'
import { BRIEFLY, HeadersOf, JSON_TYPE, SEARCH, VARY } from './headers.ts'
import type { Entry } from '../../api/hosting/manifest.ts'
import type { Manifest } from './manifest.ts'
import { Missing } from './missing.ts'
import { formFor, prefersProblem, type Form } from '../../api/hosting/negotiate.ts'
import { CORS, Prepared, READ, type Fields } from '../../api/hosting/prepared.ts'
import { problemBody, type Problem } from './problem.ts'
import { Shelf, type Taken } from '../../api/hosting/shelf.ts'

/** A server that knows more paths than this takes long to start. */
const ROUTES_MAX = 5_000
/** What is completed or made for each request. */
const COMPLETED = ['/404', SEARCH, `${SEARCH}.md`, SCAN, `${SCAN}.md`]
/** Answers that are kept whole, in bytes; what comes beyond them is read again. */
const KEPT_MAX_BYTES = 32_000_000
/** What a browser accepts is shorter; who writes more into a header has its answer looked for each time. */
const ACCEPT_MAX = 500

/** How bodies are packed that are made for one request. */
const PACKED: ReadonlySet<Encoding> = new Set(['identity', 'zstd', 'gzip'])

interface Place {
  /** Public, without a slash at the end. */
  base: string
  storeApi: string
  version: string
  /** Where answers are kept. */
  shelf?: Shelf
}

export class Answers {
  readonly #bodies: Bodies
  readonly headers: HeadersOf
  /** Made when first something is not found. */
  #nowhere: Missing | undefined
  /** What was answered before, by path, form and encoding. */
  readonly #shelf: Shelf

  constructor(
    readonly manifest: Manifest,
    folder: string,
    readonly place: Place,
  ) {
    this.#bodies = new Bodies(folder, [
      [manifest.base, place.base],
      [manifest.storeApi, place.storeApi],
    ])
    this.headers = new HeadersOf(manifest, place.base)
    this.#shelf = place.shelf ?? new Shelf(KEPT_MAX_BYTES)
  }

  /** What answers a GET of each path of the build, for a server that finds paths by itself; none where they are too many. */
  routes(): [path: string, answer: (request: Request) => Response][] {
    const paths = Object.keys(this.manifest.files).filter((path) => !COMPLETED.includes(path) && encodeURI(path) === path)
    return paths.length > ROUTES_MAX ? [] : paths.map((path) => [path, this.#route(path)])
  }

  /** Answers for one path: most of those who ask for it accept the same. What has one form asks for no `Accept`: each header costs. */
  #route(path: string): (request: Request) => Response {
    const isPage = Object.hasOwn(this.manifest.pages, path)
    let accept: string | null
    let encoding: string | null
    let last: Taken['place'] = null
    return (request) => {
      const { headers } = request
      const wanted = isPage ? headers.get('accept') : null
      const packed = headers.get('accept-encoding')
      // The shelf alone says how long an answer is kept: what has its place here goes with it.
      if (last?.answer && wanted === accept && packed === encoding) return last.answer.get(request)
      const taken = this.#safely(request, () => this.#known(request, path) ?? this.#work(request))
      if (taken instanceof Response) return taken
      if ((wanted?.length ?? 0) + (packed?.length ?? 0) <= ACCEPT_MAX) [accept, encoding, last] = [wanted, packed, taken.place]
      return taken.answer.get(request)
    }
  }

  /** Answers one request. Never throws. */
  answer(request: Request): Response {
    const taken = this.#safely(request, () => this.#work(request))
    return taken instanceof Response ? taken : taken.answer.answer(request)
  }

  #safely<T>(request: Request, work: () => T): T | Response {
    try {
      return work()
    } catch (error) {
      console.error(error)
      return this.broken(request)
    }
  }

  /** What is answered when something is wrong with this server. */
  broken(request: Request): Response {
    return this.problem(request, {
      status: 500,
      code: 'internal_error',
      detail: 'The request failed here.',
      resolution: 'Try again in a moment.',
    })
  }

  /** What answers a request: one of the prepared bodies, or an answer for it alone. */
  #work(request: Request): Taken | Response {
    const raw = pathOf(request.url)
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: { ...this.headers.always, ...CORS } })
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const detail = `${request.method} is not possible here: everything on this site can only be read.`
      return this.problem(
        request,
        { status: 405, code: 'method_not_allowed', detail, resolution: 'Send GET or HEAD.' },
        { allow: READ, ...VARY },
      )
    }
    if (raw.length > PATH_MAX) return this.problem(request, tooLong(raw, this.place.base))
    const path = decoded(raw)
    if (path === null) {
      const detail = 'The path has a percent sign that no two hexadecimal digits follow, or that stands for no UTF-8.'
      return this.problem(request, { status: 400, code: 'invalid_parameter', detail, resolution: 'Escape the path as RFC 3986 says.' })
    }
    if (path === '/healthz') return this.json(request, { ok: true, version: this.place.version })
    const known = this.#known(request, path)
    if (known) return known
    const target = straight(path)
    if (target !== null && Object.hasOwn(this.manifest.pages, target)) {
      const at = request.url.indexOf('?')
      const location = encodeURI(target) + (at < 0 ? '' : request.url.slice(at))
      return new Response(null, { status: 308, headers: { ...this.headers.always, location, 'cache-control': BRIEFLY } })
    }
    return this.#missing(request, path)
  }

  /** What answers GET or HEAD of a path of the build. */
  #known(request: Request, path: string): Taken | Response | null {
    if (Object.hasOwn(this.manifest.pages, path)) return this.#page(request, path)
    const entry = Object.hasOwn(this.manifest.files, path) ? this.manifest.files[path] : undefined
    return entry && path !== '/404' ? this.#file(request, path, entry) : null
  }

  /** A page in the form that the client asks for. */
  #page(request: Request, path: string): Taken | Response {
    const form = formFor(request.headers.get('accept'))
    if (form === null) {
      const detail = 'This page is there as text/html, text/markdown and text/plain.'
      return this.problem(
        request,
        { status: 406, code: 'not_acceptable', detail, resolution: 'Name one of these types in Accept, or leave it out.' },
        VARY,
      )
    }
    const { html, markdown } = this.manifest.pages[path]!
    const entry = this.manifest.files[form === 'html' ? html : markdown]!
    return this.#prepare(request, { path, form }, entry, () => ({
      ...(form === 'html' ? this.headers.ofHtml(path) : this.headers.ofMarkdown(path, form)),
      ...VARY,
    }))
  }

  /** What has one form: Accept is ignored. */
  #file(request: Request, path: string, entry: Entry): Taken {
    return this.#prepare(request, { path, form: null }, entry, () => {
      const page = path === '/index.md' ? '/' : path.replace(/\.md$/, '').replace(/^\/api(?=\/(docs|help|blog|changelog)\/)/, '')
      const isTwin = page !== path && Object.hasOwn(this.manifest.pages, page)
      return {
        ...(isTwin ? { link: `<${this.place.base}${page}>; rel="canonical"` } : {}),
        ...(path === '/.well-known/api-catalog' ? { link: `<${this.place.base}${path}>; rel="api-catalog"` } : {}),
        'content-type': entry.type,
        vary: 'Accept-Encoding',
      }
    })
  }

  /** What answers this request of a form of a page, or of a file: made at the first one that takes its encoding. */
  #prepare(request: Request, { path, form }: { path: string; form: Form | null }, entry: Entry, fields: () => Fields): Taken {
    const encoding = encodingFor(request.headers.get('accept-encoding'), this.#bodies.encodings(entry))
    return this.#shelf.take(`${path} ${form} ${encoding}`, () => {
      const read = this.#bodies.read(entry, encoding)
      // The bytes of the Markdown, as another type: another representation.
      const body = form === 'text' ? { ...read, etag: read.etag.replace(/"$/, '-text"') } : read
      return new Prepared(body, { ...fields(), ...this.headers.ofBody(body, entry) })
    })
  }

  /** JSON that was made for one request. */
  json(request: Request, value: unknown, more: Fields = {}): Response {
    return this.made(request, JSON.stringify(value), { ...more, 'content-type': JSON_TYPE })
  }

  /** A body that was made for one request, and is nobody else's. */
  made(request: Request, text: string, fields: Fields, status = 200): Response {
    const encoding = encodingFor(request.headers.get('accept-encoding'), PACKED)
    const plain = new TextEncoder().encode(text)
    const bytes = encoding === 'zstd' ? new Uint8Array(Bun.zstdCompressSync(plain)) : encoding === 'gzip' ? Bun.gzipSync(plain) : plain
    const headers = {
      vary: 'Accept-Encoding',
      ...this.headers.always,
      ...fields,
      ...(bytes === plain ? {} : { 'content-encoding': encoding }),
      'cache-control': 'no-store',
      'content-length': String(bytes.length),
    }
    return new Response(request.method === 'HEAD' ? null : bytes, { status, headers })
  }

  /** The headers of a page of HTML. */
  ofHtml(path: string): Fields {
    return { ...VARY, ...this.headers.ofHtml(path) }
  }

  /** 404: a problem for programs and for those who would rather have one, a page with a search for others. */
  #missing(request: Request, path: string): Response {
    const missing = (this.#nowhere ??= new Missing(this.manifest.pages, this.place.base))
    const isProblem = /^\/(api|\.well-known)(\/|$)|\.md$/.test(path) || prefersProblem(request.headers.get('accept'))
    if (isProblem) return this.problem(request, missing.problem(path), VARY)
    const text = this.template('/404').replace(/<div data-suggestions(="[^"]*")?><\/div>/, () => missing.suggestions(path))
    const headers = {
      ...this.headers.always,
      ...VARY,
      ...this.headers.ofHtml('/404'),
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(text)),
    }
    return new Response(request.method === 'HEAD' ? null : text, { status: 404, headers })
  }

  /** The HTML of a page that is completed for each request. */
  template(path: string): string {
    return this.#bodies.text(this.manifest.files[path]!)
  }

  /** A body that is made for one request: what it was the last time is told by its ETag. */
  whole(request: Request, { text, fields }: { text: string; fields: Fields }): Response {
    const body = bodyOf(new TextEncoder().encode(text), 'identity')
    return new Prepared(body, { ...fields, ...this.headers.ofBody(body, { immutable: false }) }).answer(request)
  }

  /** A refusal, explained. */
  problem(request: Request, problem: Problem, more: Fields = {}): Response {
    const text = problemBody(problem, this.place.base, this.place.base + targetOf(request.url).slice(0, 500))
    const headers = {
      ...this.headers.always,
      ...more,
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(text)),
    }
    return new Response(request.method === 'HEAD' ? null : text, { status: problem.status, headers })
  }
}
