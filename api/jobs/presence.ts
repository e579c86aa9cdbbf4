/**
 * Presence: in the registry, each process tells in which stores it runs jobs. Jobs of a process that died are looked for by the others
 * as soon as its lease has run out, or as they know that it has ended.
 */
import { and, eq, gte, lt } from 'drizzle-orm'
import { leases } from '../../db/control/tables.ts'
import type { Handle } from '../../db/open.ts'
import { holderToken, isGone } from './holder.ts'
import { keyOf, type StoreDatabase } from './slots.ts'

/** Names of such leases begin so: `jobs STORE ENVIRONMENT PROCESS`. */
const FIRST = 'jobs '
/** The character after the space. */
const LAST = 'jobs!'
/** More than all processes of an installation run at once. */
const READ_MAX = 1_000
/** After so many times the length of a lease everybody has seen what was left. */
const KEPT = 4

/** Leaves word for the servers of the installation that a store may have a job: they look within a third of a lease. */
export function leaveWord(control: Handle, database: StoreDatabase, now: Date): Promise<void> {
  const row = { token: holderToken(crypto.randomUUID()), until: now.toISOString() }
  return control.write(async (tx) => {
    await tx.insert(leases).values({ name: `${FIRST}${keyOf(database)} ${crypto.randomUUID()}`, ...row })
  })
}

export class Presence {
  /** One process may have several runners, in tests at least. */
  readonly #id = crypto.randomUUID()
  /** Until when the others know of each store that this one works in, in ms. */
  readonly #told = new Map<string, number>()
  /** The leases of other processes that are over and that this one has looked at: when each ended, by its name. */
  #seen = new Map<string, string>()

  constructor(
    readonly control: Handle,
    readonly leaseMs: number,
  ) {}

  #nameOf(database: StoreDatabase) {
    return `${FIRST}${keyOf(database)} ${this.#id}`
  }

  /** Tells that this process works in a store, unless the others know that for half a lease still. */
  async tell(database: StoreDatabase, now: Date) {
    const name = this.#nameOf(database)
    const until = now.getTime() + this.leaseMs
    const before = this.#told.get(name) ?? 0
    if (before - now.getTime() > this.leaseMs / 2) return
    this.#told.set(name, until)
    const row = { token: holderToken(this.#id), until: new Date(until).toISOString() }
    try {
      await this.control.write(async (tx) => {
        await tx
          .insert(leases)
          .values({ name, ...row })
          .onConflictDoUpdate({ target: leases.name, set: row })
      })
    } catch (error) {
      this.#told.set(name, before)
      throw error
    }
  }

  /** Stores in which another process may have left jobs; each is told once. Clears away what is over. */
  async left(now: Date): Promise<StoreDatabase[]> {
    const rows = await this.control.read
      .select()
      .from(leases)
      .where(and(gte(leases.name, FIRST), lt(leases.name, LAST)))
      .limit(READ_MAX)
    const wire = now.toISOString()
    const over = rows.filter(({ token, until }) => until <= wire || isGone(token))
    const seen = new Map(over.map(({ name, until }) => [name, until]))
    const fresh = over.filter(({ name, until }) => !this.#told.has(name) && this.#seen.get(name) !== until)
    this.#seen = seen
    const done = new Date(now.getTime() - KEPT * this.leaseMs).toISOString()
    await this.#clear(over.filter(({ name, until }) => until <= (this.#told.has(name) ? wire : done)))
    return fresh.map(({ name }) => {
      const [storeId, environment] = name.slice(FIRST.length).split(' ')
      return { storeId, environment } as StoreDatabase
    })
  }

  async #clear(rows: { name: string; until: string }[]) {
    if (!rows.length) return
    await this.control.write(async (tx) => {
      // What was told again meanwhile stays.
      for (const { name, until } of rows) await tx.delete(leases).where(and(eq(leases.name, name), eq(leases.until, until)))
    })
    for (const { name, until } of rows) if (this.#told.get(name) === Date.parse(until)) this.#told.delete(name)
  }

  /** This process works in no store any more. */
  async leave() {
    if (!this.#told.size) return
    const names = [...this.#told.keys()]
    this.#told.clear()
    await this.control.write(async (tx) => {
      for (const name of names) await tx.delete(leases).where(eq(leases.name, name))
    })
  }
}
