/** Where storefronts are: the names of their hosts, the folders that they are built in, and the way from them to the API. */
import { join } from 'node:path'
import type { BucketPlace } from '../../db/bucket.ts'
import { DeploymentFiles } from '../../db/deployment-files.ts'
import type { Session } from '../../db/control/registry.ts'

/** Asks the API of this process for a store, with the rights of a session; `sent` is the request of the visitor on whose behalf. */
type Ask = (session: Session, request: Request, sent: Request | null) => Promise<Response>

/** Answers a GET as the API would answer it at another path, without a request of its own; null when it has no such path. */
type Read = (session: Session, request: Request, path: string) => Promise<Response> | null

/**
 * A request to the API of this process, at a path that begins with `/api/v1`. It leaves by no socket, so its host is nobody's. Without https: the
 * router (`standardHostname: false`) looks for the path behind `http://`, whatever the scheme is.
 */
export const inside = (path: string, init: RequestInit = {}): Request => new Request(`http://localhost${path}`, init)

interface Place {
  /** Where this process listens, as others on the machine reach it; null: nowhere. */
  listensOn: string | null
  dataDir: string
  s3: BucketPlace | null
  /** The parent of the stores' hosts, with its port if it has one. */
  domain: string
  /** What an `A` record of a custom domain has to carry. */
  ip: string
  buildTimeoutMs: number
  /** Whoever runs this server answers for what projects do where it can't hold them. */
  buildsTrusted: boolean
  /** The public URL of the store API, without a slash at the end. */
  apiUrl: string
  /** Stripe's publishable key: with it the checkout offers Stripe's element. */
  stripeKey: string | null
  /** The public URL of the content site, which explains refusals. */
  contentUrl: string
}

/** The shop of a store that is open to everybody. */
interface OpenShop {
  /** Its public URL, without a slash at the end. */
  base: string
  /** Its own language first, whose `path` is empty; the paths of the others begin with theirs. */
  languages: readonly { code: string; path: string }[]
  /** Whether it has a page at a path. */
  has(path: string): boolean
}

export class Storefronts {
  #ask: Ask | null = null
  #read: Read = () => null
  #open: (storeId: string) => Promise<OpenShop | null> = async () => null

  readonly deployments: DeploymentFiles

  constructor(readonly place: Place) {
    this.deployments = new DeploymentFiles(place)
  }

  /** Has the API answer from now on. */
  answerWith(ask: Ask, read: Read) {
    this.#ask = ask
    this.#read = read
  }

  /** Has the shops of stores found from now on. */
  openBy(find: (storeId: string) => Promise<OpenShop | null>) {
    this.#open = find
  }

  /** The shop that a store's hosts serve; null while there is none. */
  openShop(storeId: string) {
    return this.#open(storeId)
  }

  get read(): Read {
    return this.#read
  }

  get ask(): Ask {
    if (!this.#ask) throw new Error('the API of this process does not answer yet')
    return this.#ask
  }

  get #scheme() {
    return this.place.apiUrl.slice(0, this.place.apiUrl.indexOf(':'))
  }

  /** The name of a host below the parent, as a `Host` header has it: with the port. */
  hostOf(label: string): string {
    return `${label}.${this.place.domain}`
  }

  /** The public URL of a host, without a slash at the end. */
  urlOf(host: string): string {
    return `${this.#scheme}://${host}`
  }

  /** The folders of all projects, of all deployments, and of builds that run. */
  get folders() {
    return { projects: join(this.place.dataDir, 'builder'), ...this.deployments.folders }
  }
}
