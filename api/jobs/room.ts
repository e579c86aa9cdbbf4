/** How many jobs of each kind run in this process, where a kind has a limit. */
import type { JobKind } from './runner.ts'

export class Room {
  readonly #running = new Map<string, number>()

  constructor(readonly kinds: Readonly<Record<string, JobKind>>) {}

  /** Whether one more of a kind may run. */
  for(kind: string): boolean {
    return (this.#running.get(kind) ?? 0) < (this.kinds[kind]?.atOnce ?? Infinity)
  }

  /** The kinds of which no more may run. */
  taken(): string[] {
    return [...this.#running.keys()].filter((kind) => !this.for(kind))
  }

  /** Takes room for one more; false when there is none. */
  enter(kind: string): boolean {
    if (!this.for(kind)) return false
    this.#running.set(kind, (this.#running.get(kind) ?? 0) + 1)
    return true
  }

  /** Gives room back; true where there was none before. */
  leave(kind: string): boolean {
    const before = this.for(kind)
    this.#running.set(kind, this.#running.get(kind)! - 1)
    return !before
  }
}
