/** A request of a visitor to a shop: who it is from, in which language and currency, and how it asks the API and answers. */
import { inArray } from 'drizzle-orm'
import { media } from '../../../db/store/content.ts'
import type { Session } from '../../../db/control/registry.ts'
import type { Handle } from '../../../db/open.ts'
import type { Services } from '../../outside/services.ts'
import { hasDots } from '../../hosting/paths.ts'
import { inside } from '../../outside/storefronts.ts'
import { openShopToken, shopToken } from '../../store/mails/shop-links.ts'
import { decimalsOf } from '../../values/money.ts'
import type { Language } from '../builds/snapshot.ts'
import type { Host } from './hosts.ts'
import { withOwnPaths } from '../own-files.ts'
import { localPath } from './local-path.ts'
import type { Shop } from './shop.ts'

/** What the API answered. */
export interface Answered<T = any> {
  status: number
  body: T
}

export interface Surroundings {
  services: Services
  /** Runs something with the live database of a store. */
  store<T>(storeId: string, fn: (store: Handle) => Promise<T>): Promise<T>
  /** A guess of a visitor at an order: what `look` finds, null when it was wrong. 429 when there were too many wrong ones. */
  guess<T>(request: Request, look: () => Promise<T | null>): Promise<T | null>
  /** Counts that a visitor has a payment looked at, which asks Stripe; false when there was too much of that. */
  mayPay(request: Request): boolean
  /** Null: Stripe's element is not offered. */
  stripeKey: string | null
}

/** A year, in seconds. */
const LONG = 31_536_000
/** Cookies that are longer than this are none of ours. */
const COOKIES_MAX = 16_384

export class Visit {
  readonly url: URL
  readonly #cookies = new Map<string, string>()
  readonly #set: string[] = []
  /** The language that the path of a page begins with, else that of the page that a form was sent from. */
  language: Language
  /** The path without its language. */
  readonly path: string
  /** The page that a form was sent from. */
  from = '/'

  constructor(
    readonly request: Request,
    readonly host: Host,
    readonly app: Surroundings,
  ) {
    this.url = new URL(request.url)
    const cookies = request.headers.get('cookie') ?? ''
    if (cookies.length <= COOKIES_MAX)
      for (const part of cookies.split(/; ?/)) {
        const at = part.indexOf('=')
        if (at > 0) this.#cookies.set(part.slice(0, at), part.slice(at + 1))
      }
    const path = decodeURI(this.url.pathname)
    this.language = this.shop.languageAt(path)
    this.path = this.shop.withoutLanguage(path)
  }

  get shop(): Shop {
    return this.host.shop
  }

  get session(): Session {
    return this.host.session
  }

  /** Speaks the language of the page that a form was sent from, which is where its visitor goes back to. */
  comesFrom(path: string | undefined): string {
    const from = localPath(path) ?? '/'
    this.language = this.shop.languageAt(from)
    this.from = from
    return from
  }

  /** The path of a page in the visitor's language. */
  at(path: string): string {
    const { path: prefix } = this.language
    return prefix ? `/${prefix}${path === '/' ? '' : path}` : path
  }

  /** The currency that was chosen, if the shop sells in it; else its own. */
  get currency(): string {
    const { currencies } = this.shop.deployment
    const chosen = this.cookie('currency')
    return chosen && currencies.includes(chosen) ? chosen : currencies[0]!
  }

  /** An amount in minor units, as the visitor reads it. */
  money(cents: number, currency = this.currency): string {
    const amount = cents / 10 ** decimalsOf(currency)
    return new Intl.NumberFormat(this.language.code, { style: 'currency', currency: currency.toUpperCase() }).format(amount)
  }

  /** An instant as the visitor reads it, in the time zone of where something takes place. */
  when(instant: string, timeZone: string): string {
    return new Intl.DateTimeFormat(this.language.code, { dateStyle: 'full', timeStyle: 'short', timeZone }).format(new Date(instant))
  }

  /** Asks the API, with the rights of the storefront and on behalf of this visitor. Addresses of the store's own files are made paths. */
  async ask<T = any>(method: string, path: string, body?: unknown): Promise<Answered<T>> {
    // What a visitor has put into a part of the path may be `..`, which leads to another one.
    if (hasDots(path.split('?')[0]!)) return { status: 404, body: { error: 'there is no such thing' } as T }
    const request = inside(`/api/v1${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const response = await this.app.services.storefronts.ask(this.session, request, this.request)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, body: isJson && text ? JSON.parse(withOwnPaths(text, this.session.store.id)) : text }
  }

  /** A query with the visitor's language and currency. */
  query(more: Record<string, string | number | undefined> = {}): string {
    const { currencies, languages } = this.shop.deployment
    const own = {
      ...(this.language.code === languages[0]!.code ? {} : { lang: this.language.code }),
      ...(this.currency === currencies[0] ? {} : { currency: this.currency }),
      ...more,
    }
    return new URLSearchParams(
      Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
    ).toString()
  }

  get #isSecure() {
    return this.shop.served.base.startsWith('https:')
  }

  /** What a cookie is called: by https, as one that no other host can have set, not even one below the same parent. */
  #named(name: string) {
    return this.#isSecure ? `__Host-${name}` : name
  }

  cookie(name: string): string | undefined {
    return this.#cookies.get(this.#named(name))
  }

  /** A value of a cookie that only we can have written, for this store and this purpose; null when it is not there, or not so. */
  sealed<T>(name: string): T | null {
    const value = this.cookie(name)
    return value ? this.app.services.secrets.open<T>(value, this.#place(name)) : null
  }

  /** Sets a cookie of this host alone; null removes it. Scripts can read it when it says nothing but numbers and codes. */
  setCookie(name: string, value: string | null, { forScripts = false } = {}) {
    const own = this.#named(name)
    const end = value === null ? 'Max-Age=0' : `Max-Age=${LONG}`
    this.#set.push(
      `${own}=${value ?? ''}; Path=/; ${end}; SameSite=Lax${forScripts ? '' : '; HttpOnly'}${this.#isSecure ? '; Secure' : ''}`,
    )
    if (value === null) this.#cookies.delete(own)
    else this.#cookies.set(own, value)
  }

  seal(name: string, value: unknown) {
    this.setCookie(name, this.app.services.secrets.seal(value, this.#place(name)))
  }

  /** A token for a link, and what it stands for. */
  token(kind: string, value: unknown): string {
    return shopToken(this.app.services.secrets, this.session.store.id, kind, value)
  }

  opened<T>(kind: string, token: string): T | null {
    return openShopToken<T>(this.app.services.secrets, this.session.store.id, kind, token)
  }

  #place(name: string) {
    return `storefront ${this.session.store.id} ${name}`
  }

  /** The cookies that the answer sets. */
  get cookies(): readonly string[] {
    return this.#set
  }

  /** The renditions of pictures of the store's library, by the paths that products have: for `srcset`. */
  async renditions(paths: readonly (string | null | undefined)[]): Promise<Map<string, { src: string; srcset: string }>> {
    const ids = new Map<string, string>()
    for (const path of paths) {
      const id = /^\/cdn\/[^/]+\/live\/([0-9a-f-]{36})\//.exec(path ?? '')?.[1]
      if (path && id) ids.set(path, id)
    }
    const found = new Map<string, { src: string; srcset: string }>()
    if (!ids.size) return found
    const rows = await this.app.store(this.session.store.id, ({ read }) =>
      read
        .select({ id: media.id, renditions: media.renditions })
        .from(media)
        .where(inArray(media.id, [...new Set(ids.values())].slice(0, 200))),
    )
    const byId = new Map(rows.map(({ id, renditions }) => [id, renditions]))
    for (const [path, id] of ids) {
      const widths = byId.get(id)?.map(({ width }) => width) ?? []
      const folder = path.slice(0, path.lastIndexOf('/') + 1)
      if (widths.length)
        found.set(path, {
          src: `${folder}${widths[0]}.webp`,
          srcset: widths.map((width) => `${folder}${width}.webp ${width}w`).join(', '),
        })
    }
    return found
  }
}
