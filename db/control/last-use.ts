/**
 * When keys were used last, to the hour. A use is noted in memory, once an hour for each key, and written with the others a few
 * seconds later: a process that is killed loses those seconds.
 */
import { sql } from 'drizzle-orm'
import type { Handle } from '../open.ts'
import { prefixOf, type KeyRow } from './keys.ts'
import { apiKeys } from './tables.ts'

const HOUR_MS = 3_600_000
const WRITE_AFTER_MS = 5_000
/** Keys that are remembered, and those that may wait to be written; more wait for their next use. */
const NOTED_MAX = 20_000
/** Keys that are written in one transaction. */
const BATCH = 500

export class LastUse {
  /** The hour, counted from 1970, in which a key was noted last. */
  readonly #hours = new Map<string, number>()
  readonly #waiting = new Map<string, { id: string; at: string; prefix: string }>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> | undefined

  constructor(readonly control: Handle) {}

  /** Notes that a key is used. */
  note({ id, lastUsedAt, prefix }: KeyRow, secret: string, now: Date) {
    const hour = Math.floor(now.getTime() / HOUR_MS)
    if (this.#hours.get(id) === hour) return
    this.#timer ??= setTimeout(() => void this.write(), WRITE_AFTER_MS).unref()
    if (this.#waiting.size >= NOTED_MAX) return
    if (this.#hours.size >= NOTED_MAX) this.#hours.clear()
    this.#hours.set(id, hour)
    const at = new Date(hour * HOUR_MS).toISOString()
    if (prefix !== null && lastUsedAt !== null && lastUsedAt >= at) return
    this.#waiting.set(id, { id, at, prefix: prefixOf(secret) })
  }

  /** When this process saw a key last, as long as that is not written. */
  at(id: string): string | undefined {
    return this.#waiting.get(id)?.at
  }

  /** Writes what waits. What can't be written now is tried again with what comes next. */
  write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined))
    return this.#writing
  }

  async #writeAll() {
    while (this.#waiting.size) {
      const batch = [...this.#waiting.values()].slice(0, BATCH)
      try {
        // Not a change of the registry: what other processes remember of these keys still holds.
        await this.control.write((tx) => tx.run(update(JSON.stringify(batch))))
      } catch {
        return
      }
      for (const use of batch) if (this.#waiting.get(use.id) === use) this.#waiting.delete(use.id)
    }
  }
}

/** Two processes may have seen the same key: the later hour stands. */
const update = (uses: string) => sql`
  update ${apiKeys}
  set last_used_at = max(coalesce(last_used_at, ''), used.value ->> 'at'), prefix = coalesce(prefix, used.value ->> 'prefix')
  from json_each(${uses}) as used
  where ${apiKeys}.id = used.value ->> 'id'`
