/** How many jobs of each kind run in this process, where a kind has a limit. */
import type { JobKind } from './runner.ts'

export class Slots {
  readonly #running = new Map<string, number>()

  constructor(readonly kinds: Readonly<Record<string, JobKind>>) {}

  /** Whether one more of a kind may run. */
  isFree(kind: string): boolean {
    return (this.#running.get(kind) ?? 0) < (this.kinds[kind]?.concurrency ?? Infinity)
  }

  /** The kinds of which no more may run. */
  full(): string[] {
    return [...this.#running.keys()].filter((kind) => !this.isFree(kind))
  }

  /** Takes a slot for one more; false when there is none. */
  take(kind: string): boolean {
    if (!this.isFree(kind)) return false
    this.#running.set(kind, (this.#running.get(kind) ?? 0) + 1)
    return true
  }

  /** Gives a slot back; true when there was none free before. */
  release(kind: string): boolean {
    const wasFull = !this.isFree(kind)
    this.#running.set(kind, this.#running.get(kind)! - 1)
    return wasFull
  }
}
