/** From the name of a host to what it serves. What was found is remembered until the registry changes. */
import { isIP } from 'node:net'
import type { Registry, Session } from '../../../db/control/registry.ts'
import type { Storefronts } from '../../outside/storefronts.ts'
import { readDeployment } from '../builds/build.ts'
import { type DeploymentRow, hostedByDomain, hostedById, hostedBySlug, provenDomain, storefrontSession, type Hosted } from '../projects.ts'
import type { Shelf } from '../../hosting/shelf.ts'
import { Shop, type Served } from './shop.ts'

/** A host that serves a storefront. */
export interface Host {
  name: string
  session: Session
  shop: Shop
}
/** A host may serve nothing: `closed` is a preview whose review has ended. */
type Found = Host | 'closed' | null

const KEPT = 1_000
/** A name of DNS is no longer. */
const NAME_MAX = 253
/** Files and pages of all manifests in memory together: each takes some hundred bytes, and a large catalog has tens of thousands. */
const ENTRIES_MAX = 300_000
/** Manifests that are kept though no host that was found serves them: the registry may have changed for another reason. */
const UNUSED_MAX = 16
const entriesOf = ({ deployment: { files, pages } }: Shop) => Object.keys(files).length + Object.keys(pages).length

/** The name of a host, as names are compared: without its port, in lower case. */
export function hostNameOf(request: Request): string {
  const { url } = request
  const from = url.indexOf('//') + 2
  const end = url.indexOf('/', from)
  const host = (end < 0 ? url.slice(from) : url.slice(from, end)).toLowerCase()
  return host.replace(/:\d*$/, '').replace(/\.$/, '')
}

export class Hosts {
  readonly #found = new Map<string, Found>()
  readonly #shops = new Map<string, Shop>()
  /** Files and pages of those. */
  #entries = 0
  readonly #parent: string
  /** The names of the API and of the content site, which are no store's, whatever its slug. */
  readonly #ours: ReadonlySet<string>
  #epoch = -1

  constructor(
    readonly registry: Registry,
    readonly storefronts: Storefronts,
    readonly shelf: Shelf,
    readonly hasStripe: boolean,
    readonly maxEntries = ENTRIES_MAX,
  ) {
    const { domain, apiUrl, contentUrl } = storefronts.place
    this.#parent = `.${domain.replace(/:\d+$/, '')}`
    this.#ours = new Set([apiUrl, contentUrl].map((url) => new URL(url).hostname))
  }

  /** Whether a name could be that of a store's host: below the parent, or a custom domain. */
  isBelow(name: string): boolean {
    return name.endsWith(this.#parent) && name.length > this.#parent.length
  }

  /** The state of the registry, when it was looked at just now; null when one has to ask. */
  epochSeen(): number | null {
    return this.registry.epochSeen()
  }

  /** What is remembered of a name, when the registry was looked at just now; undefined when one has to ask. */
  remembered(name: string): Found | undefined {
    return this.registry.epochSeen() === this.#epoch ? this.#found.get(name) : undefined
  }

  /** Forgets what is remembered: files of it are not there any more. */
  forget() {
    this.#found.clear()
    this.#shops.clear()
    this.#entries = 0
  }

  /** What a host serves. */
  async find(name: string): Promise<Found> {
    if (name.length > NAME_MAX || this.#ours.has(name)) return null
    if (!this.isBelow(name) && (!name.includes('.') || isIP(name) || name.startsWith('['))) return null
    const epoch = await this.registry.epoch()
    if (epoch !== this.#epoch) {
      this.#found.clear()
      this.#epoch = epoch
    }
    const known = this.#found.get(name)
    if (known !== undefined) return known
    const found = await this.#look(name)
    if (this.#epoch === epoch) {
      if (this.#found.size >= KEPT) this.#found.clear()
      this.#found.set(name, found)
    }
    return found
  }

  /** What everybody sees of a store; null while its hosts serve nothing. */
  async openShop(storeId: string) {
    const store = await this.registry.store(storeId)
    const found = store && (await this.find(store.slug + this.#parent))
    if (!found || found === 'closed') return null
    const { shop } = found
    return { base: shop.served.canonical, languages: shop.deployment.languages, has: (path: string) => shop.page(path) !== undefined }
  }

  async #look(name: string): Promise<Found> {
    if (!this.isBelow(name)) return this.#host(name, await hostedByDomain(this.registry, name), name)
    const label = name.slice(0, -this.#parent.length)
    const isOne = label.startsWith('dpl_')
    return this.#host(name, await (isOne ? hostedById : hostedBySlug)(this.registry, label), this.storefronts.hostOf(label))
  }

  async #host(name: string, hosted: Hosted | null, host: string): Promise<Found> {
    if (!hosted) return null
    const { deployment, storeId } = hosted
    if (deployment.closed) return 'closed'
    const session = await storefrontSession(this.registry, storeId)
    if (!session) return null
    const own = (await provenDomain(this.registry, storeId)) ?? this.storefronts.hostOf(session.store.slug)
    const isOne = host === this.storefronts.hostOf(deployment.id)
    const shop = await this.#shop(deployment, {
      base: this.storefronts.urlOf(host),
      canonical: this.storefronts.urlOf(deployment.kind === 'preview' ? host : own),
      isHidden: isOne,
      reviewedAt: deployment.kind === 'preview' ? new URL(this.storefronts.place.apiUrl).origin : null,
      hasStripe: this.hasStripe,
    })
    return shop && { name, session, shop }
  }

  /** A deployment as one host serves it; null when its files are not there. */
  async #shop({ id, storeId }: Pick<DeploymentRow, 'id' | 'storeId'>, served: Served): Promise<Shop | null> {
    const key = `${id} ${served.base} ${served.canonical}`
    const known = this.#shops.get(key)
    if (known) {
      this.#shops.delete(key)
      this.#shops.set(key, known)
      return known
    }
    const deployment = (await this.storefronts.deployments.fetch(storeId, id)) ? readDeployment(this.storefronts, id) : null
    if (!deployment) return null
    const meanwhile = this.#shops.get(key)
    if (meanwhile) return meanwhile
    // What pages were made of matters to builds alone.
    const shop = new Shop({ ...deployment, hashes: {} }, this.storefronts.deployments.folderOf(id), served, this.shelf)
    this.#shops.set(key, shop)
    this.#entries += entriesOf(shop)
    this.#makeRoom(shop)
    return shop
  }

  /** Forgets shops, those first that were asked for least lately, with the hosts that serve them: they are found anew when they are asked for. */
  #makeRoom(newest: Shop) {
    if (this.#entries <= this.maxEntries && this.#shops.size <= UNUSED_MAX) return
    const used = new Set([...this.#found.values()].map((found) => (found === 'closed' ? null : found?.shop)))
    for (const [key, shop] of this.#shops) {
      const isTooMuch = this.#entries > this.maxEntries
      if (shop === newest || (!isTooMuch && this.#shops.size <= UNUSED_MAX)) break
      if (!isTooMuch && used.has(shop)) continue
      this.#shops.delete(key)
      this.#entries -= entriesOf(shop)
      for (const [name, found] of this.#found) if (found !== 'closed' && found?.shop === shop) this.#found.delete(name)
    }
  }
}
