/** Noticing what any process has changed in the registry: what is remembered of it is forgotten then. */
import type { Handle, Location } from '../open.ts'
import { changes } from './tables.ts'

/** How old the knowledge "nothing changed" may be, for a file and for a server (where asking costs a round trip). */
const CHECK_FILE_MS = 5
const CHECK_SERVER_MS = 1_000

/** So long may a process go on as if nothing had changed: with a key that is revoked, with a store that is deleted. */
export const noticedWithinMs = ({ url }: Location) => (url.startsWith('file:') ? CHECK_FILE_MS : CHECK_SERVER_MS)

export class Notice {
  #checkedAt = -Infinity
  /** The version of the registry's file, which differs after any commit, and the count of those commits that matter here. */
  #version: number | null = null
  #count: number | null = null
  /** Counts what was noticed: what was asked for under another number may have been changed since, and is not remembered. */
  epoch = 0

  constructor(
    readonly control: Handle,
    readonly location: Location,
    readonly forget: () => void,
  ) {}

  /** Forgets what is out of date. It is looked for now and then, not each time. */
  async take() {
    const now = performance.now()
    if (now - this.#checkedAt < noticedWithinMs(this.location)) return
    const version = this.control.version()
    if (version !== null && version === this.#version) {
      this.#checkedAt = now
      return
    }
    const count = (await this.control.read.select().from(changes))[0]?.count ?? 0
    this.#checkedAt = now
    this.#version = version
    if (count === this.#count) return
    this.#count = count
    this.epoch++
    this.forget()
  }

  /** Whether it was looked for so short a time ago that this still holds. */
  get isRecent(): boolean {
    return performance.now() - this.#checkedAt < noticedWithinMs(this.location)
  }

  /** Has it looked for at the next occasion. */
  suspect() {
    this.#checkedAt = -Infinity
  }
}
