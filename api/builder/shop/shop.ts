/** A deployment as it is served on one host: its files and pages, each in the form, encoding and currency that is asked for. */
import type { Deployment, ShopPage } from '../builds/assemble.ts'
import type { Language } from '../builds/snapshot.ts'
import { Bodies, bodyOf, type Body } from '../../hosting/bodies.ts'
import type { Entry } from '../../hosting/manifest.ts'
import { formFor, type Form } from '../../hosting/negotiate.ts'
import { Prepared, type Fields } from '../../hosting/prepared.ts'
import { encodingFor, type Encoding } from '../../values/accept.ts'
import { withFrameScript } from '../feedback/frame.ts'
import { PRICED_MAX_CHARS, pricedIn } from '../prices.ts'
import type { Shelf } from '../../hosting/shelf.ts'

/** Asked for anew each time, and mostly answered with 304: a refresh is seen at once. */
const FRESH = 'public, max-age=0, must-revalidate'
const FOR_EVER = 'public, max-age=31536000, immutable'
const VARY = 'Accept, Accept-Encoding, Cookie'
const TYPES: Record<Form, string> = {
  html: 'text/html; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  text: 'text/plain; charset=utf-8',
}
/** How a page is packed that was made for a currency or a request. */
const PACKED: ReadonlySet<Encoding> = new Set(['identity', 'zstd', 'gzip'])
/** Where Stripe's element comes from, as its documentation says. */
const STRIPE = 'https://js.stripe.com https://*.js.stripe.com'

/** What a policy may name as a script that stands in a page: anything else in its place could mean every script. */
const HASH = /^'sha256-[\w+/]{43}='$/

/** What a file may do that is opened as a page (SVG, XML), or begun as a worker: these have no policy but their own. */
function policyOfFile(type: string): Fields {
  if (type.includes('xml')) return { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox" }
  if (type.includes('javascript')) return { 'content-security-policy': "default-src 'none'; script-src 'self'; connect-src 'self'" }
  return {}
}

/** How a deployment is served: where, and to whom. */
export interface Served {
  /** The public URL of its host, without a slash at the end. */
  base: string
  /** Null: it is public; else the origin that may show it in a frame, for a review. */
  reviewedAt: string | null
  /** The URL that pages name as their own: the custom domain, whichever of the store's hosts serves them. */
  canonical: string
  /** It is not for search engines: the host of one deployment. */
  isHidden: boolean
  /** Stripe's element stands in its checkout. */
  hasStripe: boolean
}

export class Shop {
  readonly #bodies: Bodies
  readonly #always: Fields
  /** Of a deployment from before pages told which scripts stand in them. */
  readonly #isUntold: boolean

  constructor(
    readonly deployment: Deployment,
    folder: string,
    readonly served: Served,
    readonly shelf: Shelf,
  ) {
    this.#bodies = new Bodies(folder, [[deployment.base, served.canonical]], deployment.isBare)
    this.#isUntold = !Object.values(deployment.pages).some(({ scripts }) => scripts)
    this.#always = {
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'strict-origin-when-cross-origin',
      ...(served.base.startsWith('https:') ? { 'strict-transport-security': 'max-age=63072000' } : {}),
      ...(served.isHidden ? { 'x-robots-tag': 'noindex' } : {}),
    }
  }

  page(path: string): ShopPage | undefined {
    return Object.hasOwn(this.deployment.pages, path) ? this.deployment.pages[path] : undefined
  }

  file(path: string): Entry | undefined {
    return Object.hasOwn(this.deployment.files, path) ? this.deployment.files[path] : undefined
  }

  /** The language whose prefix a path begins with; the store's own when none does. */
  languageAt(path: string): Language {
    const { languages } = this.deployment
    return languages.find((one) => one.path && (path === `/${one.path}` || path.startsWith(`/${one.path}/`))) ?? languages[0]!
  }

  /** A path without the prefix of its language. */
  withoutLanguage(path: string): string {
    const { path: prefix } = this.languageAt(path)
    return prefix ? path.slice(prefix.length + 1) || '/' : path
  }

  /** What answers a GET of a page as it was built, or of a file; null when it takes no form of it. */
  prepared(request: Request, path: string, entry: Entry, currency: string | null): ReturnType<Shelf['take']> | null {
    const page = this.page(path)
    const form = page ? formFor(request.headers.get('accept')) : null
    if (page && form === null) return null
    const isText = form === 'markdown' || form === 'text'
    const shown = isText && page?.markdown ? this.file(page.markdown)! : entry
    const own = form === 'html' ? currency : null
    const isMade = own !== null || (form === 'html' && this.served.reviewedAt !== null)
    const made = isMade ? PACKED : this.#bodies.encodings(shown)
    const encoding = encodingFor(request.headers.get('accept-encoding'), made)
    const key = `${this.deployment.id} ${this.served.base} ${this.served.canonical} ${path} ${form} ${encoding} ${own}`
    return this.shelf.take(key, () => {
      const body = isMade ? this.#remade(shown, own, encoding) : this.#bodies.read(shown, encoding)
      const is = isText && !page?.markdown ? 'html' : (form ?? 'html')
      return new Prepared(is === 'text' ? { ...body, etag: body.etag.replace(/"$/, '-text"') } : body, {
        ...(page ? this.#ofPage(path, page, is) : this.#ofFile(path, shown)),
        ...this.#ofBody(body, shown),
      })
    })
  }

  /** The text of a page as it was built. */
  text(path: string): string {
    return this.#bodies.text(this.file(path)!)
  }

  /** A page that was made for one request, of what was built at a path: it is nobody else's. */
  made(request: Request, html: string, { path, status = 200 }: { path: string; status?: number }): Response {
    const bytes = new TextEncoder().encode(this.#reviewed(html))
    const encoding = encodingFor(request.headers.get('accept-encoding'), PACKED)
    const packed = pack(bytes, encoding)
    const fields = {
      ...this.#ofHtml(path),
      vary: VARY,
      'cache-control': 'private, no-store',
      'content-length': String(packed.length),
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    }
    return new Response(request.method === 'HEAD' ? null : packed, { status, headers: fields })
  }

  #ofHtml(path: string): Fields {
    return { ...this.#always, 'content-type': TYPES.html, 'content-security-policy': this.#policy(this.page(path)) }
  }

  /** A page that is reviewed can be pointed into. */
  #reviewed(html: string): string {
    const { reviewedAt } = this.served
    return reviewedAt ? withFrameScript(html, reviewedAt) : html
  }

  /** The same page with its prices in another currency, or as it is reviewed. */
  #remade(entry: Entry, currency: string | null, encoding: Encoding): Body {
    const html = this.#bodies.text(entry)
    const priced = currency && html.length <= PRICED_MAX_CHARS ? pricedIn(html, currency) : html
    return bodyOf(pack(new TextEncoder().encode(this.#reviewed(priced)), encoding), encoding)
  }

  #ofBody({ etag, encoding, size }: Body, { immutable }: Entry): Fields {
    return {
      ...this.#always,
      etag,
      'content-length': String(size),
      'cache-control': immutable ? FOR_EVER : FRESH,
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    }
  }

  #ofPage(path: string, { markdown }: ShopPage, form: Form): Fields {
    const { canonical } = this.served
    if (form !== 'html')
      return {
        'content-type': TYPES[form],
        vary: VARY,
        link: `<${canonical}${encodeURI(path)}>; rel="canonical"`,
        'content-location': encodeURI(markdown!),
      }
    const links = [
      ...(markdown ? [`<${encodeURI(markdown)}>; rel="alternate"; type="text/markdown"`] : []),
      '</llms.txt>; rel="describedby"; type="text/markdown"',
    ]
    return { ...this.#ofHtml(path), vary: VARY, link: links.join(', ') }
  }

  #ofFile(path: string, entry: Entry): Fields {
    const page = path === '/index.md' ? '/' : path.replace(/\.md$/, '')
    const isTwin = page !== path && this.page(page)
    return {
      'content-type': path === '/llms.txt' ? TYPES.markdown : entry.type,
      ...policyOfFile(entry.type),
      vary: 'Accept-Encoding',
      ...(isTwin ? { link: `<${this.served.canonical}${encodeURI(page)}>; rel="canonical"` } : {}),
    }
  }

  /** The hashes of the scripts that stand in a page. */
  #scriptsIn(page: ShopPage | undefined): string[] {
    const { scripts } = this.deployment
    const own = this.#isUntold ? scripts : (page?.scripts ?? []).map((at) => scripts[at] ?? '')
    return own.filter((hash) => HASH.test(hash))
  }

  /** Scripts of this host and those that stand in the page, and of the payment provider where there is one. */
  #policy(page: ShopPage | undefined): string {
    const { reviewedAt, hasStripe, base } = this.served
    const scripts = ["'self'", ...this.#scriptsIn(page), ...(hasStripe ? [STRIPE] : [])].join(' ')
    const images = base.startsWith('https:') ? "'self' data: https:" : "'self' data: https: http:"
    return [
      `default-src 'none'; script-src ${scripts}; style-src 'self' 'unsafe-inline'; img-src ${images}; font-src 'self'; media-src 'self' https:`,
      `connect-src 'self'${hasStripe ? ' https://api.stripe.com' : ''}; frame-src ${hasStripe ? `${STRIPE} https://hooks.stripe.com` : "'none'"}`,
      `form-action 'self'; base-uri 'none'; manifest-src 'self'; frame-ancestors ${reviewedAt ?? "'none'"}`,
    ].join('; ')
  }
}

const pack = (bytes: Uint8Array<ArrayBuffer>, encoding: Encoding): Uint8Array<ArrayBuffer> =>
  encoding === 'zstd' ? new Uint8Array(Bun.zstdCompressSync(bytes)) : encoding === 'gzip' ? Bun.gzipSync(bytes) : bytes
