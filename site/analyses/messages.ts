/** What the site and the process that analyses say to each other. */
import type { Hindrance } from '../../api/outside/not-fetched.ts'
import type { PlacesNeeds } from '../../api/outside/public-places.ts'
import type { OperationName } from './operations.ts'

/** What the process has to know. */
export interface Setting extends Required<Pick<PlacesNeeds, 'allow' | 'own'>> {
  dnsServers: readonly string[]
  userAgent: string
}

export type ToAnalyst =
  | { setting: Setting }
  | { id: number; operation: Exclude<OperationName, 'pagespeed'>; url: string }
  | { cancel: number }
  /** Answered at once by a process that is not held by a page. */
  | { ping: number }

export type FromAnalyst =
  | { id: number; report: unknown }
  /** What is read here is not there: in words for whoever asked. */
  | { id: number; hindrance: Hindrance; message: string }
  | { id: number; defect: string }
  /** From now on a page is read, which can't be interrupted. */
  | { id: number; reads: true }
  | { pong: number }
