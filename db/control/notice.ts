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
  readonly #withinMs: number
  /** The version of the registry's file, which differs after any commit, and the count of those commits that matter here. */
  #version: number | null = null
  #count: number | null = null
  /** Counts what was noticed: what was asked for under another number may have been changed since, and is not remembered. */
  epoch = 0

  constructor(
    readonly control: Handle,
    readonly location: Location,
    readonly forget: () => void,
  ) {
    this.#withinMs = noticedWithinMs(location)
  }

  /** Forgets what is out of date. It is looked for now and then, not each time. */
  async take() {
    if (this.isSame()) return
    const now = performance.now()
    const version = this.control.version()
    const count = (await this.control.read.select().from(changes))[0]?.count ?? 0
    this.#checkedAt = now
    this.#version = version
    if (count === this.#count) return
    this.#count = count
    this.epoch++
    this.forget()
  }

  /** Whether it was looked for so short a time ago that this still holds, or a look at the file, which nobody waits for, says the same. */
  isSame(): boolean {
    const now = performance.now()
    if (now - this.#checkedAt < this.#withinMs) return true
    const version = this.#version === null ? null : this.control.version()
    if (version === null || version !== this.#version) return false
    this.#checkedAt = now
    return true
  }

  /** Has it looked for at the next occasion. */
  suspect() {
    this.#checkedAt = -Infinity
  }
}
