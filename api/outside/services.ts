/** The outside world of the store API: one object, made once for a process (api/services.ts). */
import type { Registry } from '../../db/control/registry.ts'
import type { Clock } from '../values/clock.ts'
import type { CarrierUrls } from './carriers.ts'
import type { FetchPublic } from './fetch-public.ts'
import type { Files } from './files.ts'
import type { Mailers } from './mail.ts'
import type { PostPublic } from './post-public.ts'
import type { Provider } from './payment-provider.ts'
import type { Resolver } from './resolver.ts'
import type { Secrets } from './secrets.ts'
import type { Storefronts } from './storefronts.ts'

/** What happens, as it is counted for `/metrics`. */
interface Counts {
  add(name: string, labels: Readonly<Record<string, string>>): void
  observe(name: string, labels: Readonly<Record<string, string>>, seconds: number): void
}

/** Handlers reach it as `call.services`; jobs and maintenance get the same one. */
export interface Services {
  /** Time, ids and random secrets. */
  clock: Clock
  /** All stores and their keys. */
  registry: Registry
  /** The files of media. */
  files: Files
  /** Reads addresses of the public internet. */
  fetchPublic: FetchPublic
  /** Sends to addresses of the public internet. */
  postPublic: PostPublic
  /** Outbound mail. */
  mailers: Mailers
  /** Null: `manual` and `test` payments alone. */
  payments: Provider | null
  /** Where carriers are asked whether credentials are good. */
  carriers: CarrierUrls
  /** Seals what is kept of third parties, and answers that are kept for repetition. */
  secrets: Secrets
  /** DNS, for proofs that a domain is a store's own. */
  resolver: Resolver
  /** How busy this process is, since work that can wait lets requests go first; and what it has counted. */
  load: { readonly isBusy: boolean; note(): void; turn(): Promise<void>; readonly counts: Counts }
  /** The hosts of stores, and where their storefronts are built. */
  storefronts: Storefronts
}
