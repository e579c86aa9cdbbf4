/** How the time of a function grows with what it is asked: ten times the text may take fifteen times as long, and no more. */
import type { TextOf } from './shapes.ts'

const SHORT = 10_000
const LONG = 100_000
export const TIMES_MAX = 15
/** What is done in less is not judged: a collector makes more of a difference. What is quadratic takes longer. */
const FLOOR_MS = 8
/** Longer for a short text: nobody waits for the long one. */
const HOPELESS_MS = 400
/** A short text that takes so long is compared with a tenth of it before the long one is asked. */
const EARLY_MS = 30
/** Nothing that comes from outside makes a call that takes so long longer by half. */
const SURE_MS = 1_000
const TRIES = 8
/** What is quadratic takes a hundred times as long; between that and what may be, three times the text decides: five times as long, or less. */
const DOUBTFUL = 40
const THREEFOLD_MAX = 4.5
/** What the clock of a thread may be behind. */
const TICK_MS = 4

/**
 * The milliseconds of one call. Of a long one those count in which this thread ran, whose clock is as exact as the ticks of the system: what
 * else the machine does takes none. What a function refuses was looked at, too.
 */
function once(ask: (text: string) => unknown, text: string): number {
  const before = process.threadCpuUsage()
  const started = performance.now()
  try {
    ask(text)
  } catch {
    // Refused.
  }
  const passed = performance.now() - started
  if (passed < 2 * TICK_MS) return passed
  const { user, system } = process.threadCpuUsage()
  return Math.min(passed, (user + system - before.user - before.system) / 1_000 + TICK_MS)
}

/** The shortest of some calls: collecting garbage makes them longer, nothing shorter. */
function shortest(ask: (text: string) => unknown, text: string, calls: number): number {
  let best = Infinity
  for (let i = 0; i < calls; i++) best = Math.min(best, once(ask, text))
  return best
}

/** How many times longer `ask` takes for ten times the text; 0 for what takes no time worth telling, Infinity for what is hopeless. */
export function growthOf(ask: (text: string) => unknown, textOf: TextOf): number {
  // In steps, so that what is worse than quadratic ends as well, and what is quadratic is known by its first steps.
  if (once(ask, textOf(24)) > HOPELESS_MS) return Infinity
  const before = once(ask, textOf(SHORT / 10))
  if (before > HOPELESS_MS) return Infinity
  const [short, long] = [textOf(SHORT), textOf(LONG)]
  if (once(ask, short) > EARLY_MS) {
    const first = shortest(ask, short, 3)
    const early = first / shortest(ask, textOf(SHORT / 10), 10)
    if (first > EARLY_MS && early > 2 * TIMES_MAX) return early
    if (first > HOPELESS_MS) return Infinity
  }
  let best = once(ask, long)
  if (best < FLOOR_MS) return 0
  let shortBest = shortest(ask, short, 4)
  for (let i = 0; i < TRIES && best / shortBest > TIMES_MAX && best < SURE_MS; i++) {
    best = Math.min(best, once(ask, long))
    if (best < FLOOR_MS) return 0
    if (i % 4 === 3) shortBest = Math.min(shortBest, shortest(ask, short, 2))
  }
  const times = best / shortBest
  if (times <= TIMES_MAX || times > DOUBTFUL) return times
  // What no longer fits in a cache, or has to be collected, takes that much longer once: with more text still it grows as before.
  Bun.gc(true)
  return shortest(ask, textOf(3 * LONG), 3) / best > THREEFOLD_MAX ? times : TIMES_MAX
}
