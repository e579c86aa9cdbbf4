/** The surroundings of the API in its process: everything that answering needs. */
import type { Handles } from '../../db/handles.ts'
import type { Services } from '../outside/services.ts'
import type { Log } from '../server/log.ts'
import type { Metrics } from '../server/metrics.ts'
import type { RateLimiter } from '../server/rate-limit.ts'
import type { Readiness } from '../server/readiness.ts'
import type { AnyCall, ImageEntity, Route } from './route.ts'

/** How often a client without a key may call, by the name of its address. Null: no limit. */
export interface Visitors {
  limiter: RateLimiter
  /** Counts what is made for the visitors of our own storefronts, each by their own address; null: no limit. */
  shoppers: RateLimiter | null
  /** Counts what was guessed wrong: secrets in paths. */
  guesses: RateLimiter
  /** Counts what visitors send in, each by their own address. */
  submissions: RateLimiter
  /** The same of a storefront that does not say on whose behalf it asks: it speaks for all of its visitors. */
  relayed: RateLimiter
  clientOf(request: Request): string
  /** Whether a proxy has told whose request it is. */
  isForwarded(request: Request): boolean
}

/** Imports the images that a request gives by URL, around the handler of a route that says so (`images`). */
export interface ImageImport {
  /** Reads those that can be had quickly: outside any transaction, since it waits for a network. */
  prepare(entity: ImageEntity, call: AnyCall): Promise<unknown>
  /** Runs the handler with what `prepare` has read. */
  handle(entity: ImageEntity, call: AnyCall, handler: Route['handler']): Promise<unknown>
}

export interface Surroundings {
  services: Services
  images: ImageImport
  handles: Handles
  log: Log
  metrics: Metrics
  /** Null: no limit. */
  limiter: RateLimiter | null
  visitors: Visitors | null
  readiness: Readiness
  /** The most bytes that remembered answers may take together; with 0 none are remembered. */
  rememberedBytes: number
  /** Checks every answer against its schema and turns a mismatch into a 500: in tests. */
  checkAnswers: boolean
  /** Where the content site is, which explains refusals. */
  contentUrl: string
  /** Work that goes on after an answer; the process waits for it before it exits. */
  after(task: () => Promise<void>): void
}
