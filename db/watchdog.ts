/**
 * The watch over writes: while one runs, nobody else writes its store. One that takes long is told of; one that has asked its database for
 * nothing for a minute waits for what may never come, and is ended. Looks are counted, not time: a machine that sleeps, or a loop that
 * is held up, ends no write.
 */
import { Hung } from './errors.ts'
import type { LentConnection } from './connection.ts'

const LOOK_MS = 1_000
/** A write that runs at so many looks is told of, one that has done nothing meanwhile at so many is ended. */
const SLOW_LOOKS = 10
const HUNG_LOOKS = 60
/** Characters of the code of a write that has no name. */
const CODE_MAX = 200

/** A write that holds its store. */
export interface SlowWrite {
  /** What asked for it, as `PATCH /settings`; of a write without a name the beginning of its code. */
  name: string
  seconds: number
  isEnded: boolean
}

const running = new Set<WatchedGroup>()
let timer: ReturnType<typeof setInterval> | undefined
let ended = 0

/** How many writes of this process hold their stores for long now, and how many were ended so far. */
export const slowWrites = () => ({ slow: [...running].filter(({ isSlow }) => isSlow).length, ended })

/** One look at all writes that run. */
export function lookAtWrites() {
  for (const group of running) group.look()
}

/** A write that runs. */
interface Current {
  code: (...given: never[]) => unknown
  name: string | undefined
  connection: LentConnection
  started: number
  looks: number
  /** How often it had used its connection at the last look, and at how many looks it has not done so since. */
  used: number
  idle: number
}

/** The writes of one transaction, one after the other. */
export class WatchedGroup {
  #current: Current | null = null
  #end = endable()

  constructor(readonly tell: (slow: SlowWrite) => void) {
    running.add(this)
    timer ??= setInterval(lookAtWrites, LOOK_MS).unref()
  }

  get isSlow() {
    return (this.#current?.looks ?? 0) >= SLOW_LOOKS
  }

  /** Runs a write; rejects with `Hung` when it is ended, whatever becomes of it. */
  run<T>(write: () => Promise<T>, { code, name, connection }: Pick<Current, 'code' | 'name' | 'connection'>): Promise<T> {
    this.#current = { code, name, connection, started: performance.now(), looks: 0, used: connection.used, idle: 0 }
    return Promise.race([write(), this.#end.promise])
  }

  /** Nothing runs any more but what ends the transaction. */
  close() {
    this.#current = null
    running.delete(this)
  }

  look() {
    const current = this.#current
    if (!current) return
    const { used } = current.connection
    current.idle = used === current.used ? current.idle + 1 : 0
    current.used = used
    current.looks++
    const isEnded = current.idle >= HUNG_LOOKS
    if (!isEnded && current.looks !== SLOW_LOOKS) return
    const name = current.name ?? String(current.code).replace(/\s+/g, ' ').slice(0, CODE_MAX)
    this.tell({ name, seconds: Math.round((performance.now() - current.started) / 1_000), isEnded })
    if (!isEnded) return
    ended++
    this.#current = null
    this.#end.reject(new Hung())
    this.#end = endable()
  }
}

function endable() {
  const end = Promise.withResolvers<never>()
  // Most are never rejected, and nobody waits for the last one.
  end.promise.catch(() => {})
  return end
}
