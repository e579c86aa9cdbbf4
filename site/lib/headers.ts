/** The headers of the site's answers: what browsers may do with them, how long they last, where the other forms are. */
import type { Body } from '../../api/hosting/bodies.ts'
import type { Entry } from '../../api/hosting/manifest.ts'
import type { Manifest } from './manifest.ts'
import type { Form } from '../../api/hosting/negotiate.ts'
import type { Fields } from '../../api/hosting/prepared.ts'

const FOR_EVER = 'public, max-age=31536000, immutable'
export const BRIEFLY = 'public, max-age=60, stale-while-revalidate=600'
/** Of what has several forms. */
export const VARY: Fields = { vary: 'Accept, Accept-Encoding' }
export const JSON_TYPE = 'application/json; charset=utf-8'
export const MARKDOWN_TYPE: Record<Exclude<Form, 'html'>, string> = {
  markdown: 'text/markdown; charset=utf-8',
  text: 'text/plain; charset=utf-8',
}
/** Where the search is. */
export const SEARCH = '/search'

export class HeadersOf {
  /** Of every answer. */
  readonly always: Fields

  constructor(
    readonly manifest: Manifest,
    readonly base: string,
  ) {
    this.always = {
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
      ...(base.startsWith('https:') ? { 'strict-transport-security': 'max-age=63072000' } : {}),
    }
  }

  ofBody({ etag, encoding, size }: Body, { immutable }: Pick<Entry, 'immutable'>): Fields {
    return {
      ...this.always,
      etag,
      'content-length': String(size),
      'cache-control': immutable ? FOR_EVER : BRIEFLY,
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    }
  }

  ofHtml(path: string): Fields {
    const { markdown } = this.manifest.pages[path] ?? {}
    const links = [
      ...(markdown ? [`<${markdown}>; rel="alternate"; type="text/markdown"`] : []),
      '</.well-known/api-catalog>; rel="api-catalog"',
      '</openapi.json>; rel="service-desc"; type="application/json"',
      '</llms.txt>; rel="describedby"; type="text/markdown"',
    ]
    return {
      'content-type': 'text/html; charset=utf-8',
      link: links.join(', '),
      'content-security-policy': this.#policy,
      'cross-origin-opener-policy': 'same-origin',
    }
  }

  ofMarkdown(path: string, form: Exclude<Form, 'html'>): Fields {
    const location = this.manifest.pages[path]!.markdown
    return { 'content-type': MARKDOWN_TYPE[form], 'content-location': location, link: `<${this.base}${path}>; rel="canonical"` }
  }

  /** Scripts of this host, and those that stand in pages by their hashes; nothing from elsewhere. */
  get #policy(): string {
    const scripts = ["'self'", ...this.manifest.scripts].join(' ')
    return `default-src 'none'; script-src ${scripts}; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`
  }
}
