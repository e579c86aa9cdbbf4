/** Answering the content site's requests from the manifest of its build: paths, forms, encodings, conditions, problems. */
import { pathOf, targetOf } from '../../api/http/url.ts'
import { decoded, isDocumentShaped, PATH_MAX, straight } from './addresses.ts'
import { Bodies } from './bodies.ts'
import { BRIEFLY, HeadersOf } from './headers.ts'
import type { Entry, Manifest } from './manifest.ts'
import { encodingFor, formFor, prefersProblem, type Form } from './negotiate.ts'
import type { Limits } from './limits.ts'
import { Nearest } from './nearest.ts'
import { CORS, Prepared, READ, type Fields } from './prepared.ts'
import { problemBody, type Problem } from './problem.ts'

/** A server that knows more paths than this takes long to start. */
const ROUTES_MAX = 5_000
/** Answers that are kept whole, about 20 KB each; what comes beyond them is read again. */
const PREPARED_MAX = 2_000
const MARKDOWN_TYPE: Record<Exclude<Form, 'html'>, string> = { markdown: 'text/markdown; charset=utf-8', text: 'text/plain; charset=utf-8' }

export interface Place {
  /** Public, without a slash at the end. */
  base: string
  storeApi: string
  version: string
}

export class Answers {
  readonly #bodies: Bodies
  readonly #headers: HeadersOf
  /** Made when first something is not found. */
  #nearest: Nearest | undefined
  /** What was answered before, by path, form and encoding. */
  readonly #prepared = new Map<string, Prepared>()

  constructor(
    readonly manifest: Manifest,
    folder: string,
    readonly place: Place,
    /** What is limited by client, and how the address of a request's connection is known. */
    readonly limited: { limits: Limits; peerOf: (request: Request) => string } | null = null,
  ) {
    this.#bodies = new Bodies(folder, manifest, place)
    this.#headers = new HeadersOf(manifest, place.base)
  }

  /** What answers a GET of each path of the build, for a server that finds paths by itself; none where they are too many. */
  routes(): [path: string, answer: (request: Request) => Response][] {
    const paths = Object.keys(this.manifest.files).filter((path) => path !== '/404' && encodeURI(path) === path)
    return paths.length > ROUTES_MAX ? [] : paths.map((path) => [path, this.#route(path)])
  }

  /** Answers for one path: most of those who ask for it accept the same. What has one form asks for no `Accept`: each header costs. */
  #route(path: string): (request: Request) => Response {
    const isPage = Object.hasOwn(this.manifest.pages, path)
    let accept: string | null
    let encoding: string | null
    let last: Prepared | undefined
    return (request) => {
      const { headers } = request
      const wanted = isPage ? headers.get('accept') : null
      const packed = headers.get('accept-encoding')
      if (last && wanted === accept && packed === encoding) return last.get(request)
      const answer = this.#safely(request, () => this.#known(request, path) ?? this.#work(request))
      if (!(answer instanceof Prepared)) return answer
      ;[accept, encoding, last] = [wanted, packed, answer]
      return answer.get(request)
    }
  }

  /** Answers one request. Never throws. */
  answer(request: Request): Response {
    const answer = this.#safely(request, () => this.#work(request))
    return answer instanceof Prepared ? answer.answer(request) : answer
  }

  #safely<T>(request: Request, work: () => T): T | Response {
    try {
      return work()
    } catch (error) {
      console.error(error)
      return this.#problem(request, {
        status: 500,
        code: 'internal_error',
        detail: 'The request failed here.',
        resolution: 'Try again in a moment.',
      })
    }
  }

  /** What answers a request: one of the prepared bodies, or an answer for it alone. */
  #work(request: Request): Prepared | Response {
    const raw = pathOf(request.url)
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: { ...this.#headers.always, ...CORS } })
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const detail = `${request.method} is not possible here: everything on this site can only be read.`
      return this.#problem(
        request,
        { status: 405, code: 'method_not_allowed', detail, resolution: 'Send GET or HEAD.' },
        { allow: READ, vary: 'Accept, Accept-Encoding' },
      )
    }
    if (raw.length > PATH_MAX) {
      const detail = `The path has ${raw.length} characters; ${PATH_MAX} are read.`
      const resolution = `The addresses that there are stand in ${this.place.base}/llms.txt.`
      return this.#problem(request, { status: 414, code: 'uri_too_long', detail, resolution })
    }
    const path = decoded(raw)
    if (path === null) {
      const detail = 'The path has a percent sign that no two hexadecimal digits follow, or that stands for no UTF-8.'
      return this.#problem(request, { status: 400, code: 'invalid_parameter', detail, resolution: 'Escape the path as RFC 3986 says.' })
    }
    const standing = this.limited?.limits.take(path, () => this.limited!.peerOf(request), request.headers.get('x-forwarded-for'))
    if (standing?.retryAfterSeconds) {
      const seconds = standing.retryAfterSeconds
      const [detail, resolution] = [`${path} has been asked for too often from this address.`, `Wait ${seconds} s, as Retry-After says.`]
      return this.#problem(request, { status: 429, code: 'rate_limited', detail, resolution }, standing.fields)
    }
    if (path === '/healthz') return this.#json(request, { ok: true, version: this.place.version }, standing?.fields)
    const known = this.#known(request, path)
    if (known) return known
    const target = straight(path)
    if (target !== null && Object.hasOwn(this.manifest.pages, target)) {
      const at = request.url.indexOf('?')
      const location = encodeURI(target) + (at < 0 ? '' : request.url.slice(at))
      return new Response(null, { status: 308, headers: { ...this.#headers.always, location, 'cache-control': BRIEFLY } })
    }
    return this.#missing(request, path)
  }

  /** What answers GET or HEAD of a path of the build. */
  #known(request: Request, path: string): Prepared | Response | null {
    if (Object.hasOwn(this.manifest.pages, path)) return this.#page(request, path)
    const entry = Object.hasOwn(this.manifest.files, path) ? this.manifest.files[path] : undefined
    return entry && path !== '/404' ? this.#file(request, path, entry) : null
  }

  /** A page in the form that the client asks for. */
  #page(request: Request, path: string): Prepared | Response {
    const form = formFor(request.headers.get('accept'))
    const vary = { vary: 'Accept, Accept-Encoding' }
    if (form === null) {
      const detail = 'This page is there as text/html, text/markdown and text/plain.'
      return this.#problem(
        request,
        { status: 406, code: 'not_acceptable', detail, resolution: 'Name one of these types in Accept, or leave it out.' },
        vary,
      )
    }
    const { html, markdown } = this.manifest.pages[path]!
    const entry = this.manifest.files[form === 'html' ? html : markdown]!
    return this.#prepare(request, { path, form }, entry, () => ({
      ...(form === 'html' ? this.#headers.ofHtml(path) : { ...this.#headers.ofMarkdown(path), 'content-type': MARKDOWN_TYPE[form] }),
      ...vary,
    }))
  }

  /** What has one form: Accept is ignored. */
  #file(request: Request, path: string, entry: Entry): Prepared {
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
  #prepare(request: Request, { path, form }: { path: string; form: Form | null }, entry: Entry, fields: () => Fields): Prepared {
    const encoding = encodingFor(request.headers.get('accept-encoding'), this.#bodies.encodings(entry))
    const key = `${path} ${form} ${encoding}`
    let prepared = this.#prepared.get(key)
    if (!prepared) {
      if (this.#prepared.size >= PREPARED_MAX) this.#prepared.clear()
      const read = this.#bodies.read(entry, encoding)
      // The bytes of the Markdown, as another type: another representation.
      const body = form === 'text' ? { ...read, etag: read.etag.replace(/"$/, '-text"') } : read
      this.#prepared.set(key, (prepared = new Prepared(body, { ...fields(), ...this.#headers.ofBody(body, entry) })))
    }
    return prepared
  }

  #json(request: Request, value: unknown, more: Fields = {}): Response {
    const text = JSON.stringify(value)
    const headers = {
      ...this.#headers.always,
      ...more,
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'content-length': String(text.length),
    }
    return new Response(request.method === 'HEAD' ? null : text, { headers })
  }

  /** 404: a problem for programs and for those who would rather have one, a page with a search for others. */
  #missing(request: Request, path: string): Response {
    const plain = path.replace(/\.md$/, '')
    const near = (this.#nearest ??= new Nearest(Object.keys(this.manifest.pages))).to(plain).map((page) => this.place.base + page)
    const isProblem = /^\/(api|\.well-known)(\/|$)|\.md$/.test(path) || prefersProblem(request.headers.get('accept'))
    const vary = { vary: 'Accept, Accept-Encoding' }
    if (!isProblem) return this.#missingPage(request, near, vary)
    const isDocument = isDocumentShaped(path)
    const where = isDocument
      ? `All pages are listed in ${this.place.base}/llms.txt.`
      : `What there is stands in ${this.place.base}/openapi.json and ${this.place.base}/.well-known/api-catalog.`
    const detail = isDocument ? `No document has the address ${path.slice(0, 200)}.` : `Nothing is at ${path.slice(0, 200)}.`
    const resolution = near.length ? `Perhaps you are looking for ${near.join(' or ')}. ${where}` : where
    return this.#problem(
      request,
      { status: 404, code: isDocument ? 'document_not_found' : 'api_route_not_found', detail, resolution },
      vary,
    )
  }

  #missingPage(request: Request, near: readonly string[], more: Fields): Response {
    const entry = this.manifest.files['/404']!
    const titles = this.manifest.pages
    const list = near
      .map((url) => `<li><a href="${url}">${titles[url.slice(this.place.base.length)]!.title.replaceAll('<', '&lt;')}</a></li>`)
      .join('')
    const suggestions = list ? `<p>Perhaps you are looking for one of these:</p><ul>${list}</ul>` : ''
    const text = new TextDecoder()
      .decode(this.#bodies.read(entry, 'identity').bytes)
      .replace(/<div data-suggestions(="[^"]*")?><\/div>/, suggestions)
    const headers = {
      ...this.#headers.always,
      ...more,
      ...this.#headers.ofHtml('/404'),
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(text)),
    }
    return new Response(request.method === 'HEAD' ? null : text, { status: 404, headers })
  }

  #problem(request: Request, problem: Problem, more: Fields = {}): Response {
    const text = problemBody(problem, this.place.base, this.place.base + targetOf(request.url).slice(0, 500))
    const headers = {
      ...this.#headers.always,
      ...more,
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(text)),
    }
    return new Response(request.method === 'HEAD' ? null : text, { status: problem.status, headers })
  }
}
