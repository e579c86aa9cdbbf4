/** Slots of this process: how many jobs of each kind run, and which stores wait where a kind has a limit. */
import type { Environment } from '../../db/open.ts'
import type { JobKind } from './kind.ts'

/** One database of a store. */
export interface StoreDatabase {
  storeId: string
  environment: Environment
}
export const keyOf = ({ storeId, environment }: StoreDatabase) => `${storeId} ${environment}`

export class Slots {
  readonly #running = new Map<string, number>()
  /** Stores that wait for a kind, the one that has waited for longest first; each once, however many such jobs it has. */
  readonly #waiting = new Map<string, Map<string, StoreDatabase>>()

  constructor(readonly kinds: Readonly<Record<string, JobKind>>) {}

  /** Whether one more of a kind may run. */
  isFree(kind: string): boolean {
    return (this.#running.get(kind) ?? 0) < (this.kinds[kind]?.concurrency ?? Infinity)
  }

  /** Takes a slot for one more; false when there is none. */
  take(kind: string): boolean {
    if (!this.isFree(kind)) return false
    this.#running.set(kind, (this.#running.get(kind) ?? 0) + 1)
    return true
  }

  /** Puts a store at the end of those that wait for a slot of a kind, unless it waits already. */
  wait(kind: string, database: StoreDatabase) {
    const waiting = this.#waiting.get(kind) ?? new Map<string, StoreDatabase>()
    if (!waiting.size) this.#waiting.set(kind, waiting)
    if (!waiting.has(keyOf(database))) waiting.set(keyOf(database), database)
  }

  /** Frees a slot, and returns the store that has waited for longest, which has it now; null when none waits. */
  release(kind: string): StoreDatabase | null {
    const waiting = this.#waiting.get(kind)
    for (const [key, database] of waiting ?? []) {
      waiting!.delete(key)
      return database
    }
    this.#running.set(kind, this.#running.get(kind)! - 1)
    return null
  }
}
