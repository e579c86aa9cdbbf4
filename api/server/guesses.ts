/**
 * Guesses at secrets. Each is counted before it is looked at and given back when it was right: of as many as come at once, no more are looked
 * at than may be wrong.
 */
import { Refusal } from '../values/refusal.ts'
import type { RateLimiter } from './rate-limit.ts'

interface Guess {
  /** Null: no limit. */
  limiter: RateLimiter | null
  /** Of what is guessed at, and of who does: a wrong guess counts for each. */
  names: readonly string[]
  /** What there were too many of, for who is refused. */
  what?: string
}

/** Guesses of this process that are looked at now, by name: who is right gives back in a moment, which the others wait for. */
const underway = new Map<string, Set<Promise<void>>>()

/** Notes that a guess is looked at; returns how to say that it was. */
function noted(names: readonly string[]): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const name of names) underway.set(name, (underway.get(name) ?? new Set()).add(promise))
  return () => {
    resolve()
    for (const name of names) {
      const others = underway.get(name)
      others?.delete(promise)
      if (!others?.size) underway.delete(name)
    }
  }
}

/** Takes a token of each name, or of none: in seconds how long to wait for one, 0 for not at all. */
function take(limiter: RateLimiter, names: readonly string[]): number {
  for (const [at, name] of names.entries()) {
    const { retryAfterSeconds: wait } = limiter.take(name)
    if (!wait) continue
    for (const taken of names.slice(0, at)) limiter.giveBack(taken)
    return wait
  }
  return 0
}

/** What `look` finds, which is null for a wrong guess. Refuses with 429, for right and wrong alike, when there were too many wrong ones. */
export async function guess<T>({ limiter, names, what = 'wrong guesses' }: Guess, look: () => Promise<T | null>): Promise<T | null> {
  if (!limiter) return look()
  for (let wait = take(limiter, names); wait; wait = take(limiter, names)) {
    const others = names.flatMap((name) => [...(underway.get(name) ?? [])])
    if (!others.length) throw new Refusal(429, `too many ${what}: wait ${wait} s`, {}, { 'retry-after': String(wait) })
    await Promise.race(others)
  }
  const ended = noted(names)
  let isWrong = false
  try {
    const found = await look()
    isWrong = found === null
    return found
  } finally {
    // What could not be looked at was neither.
    if (!isWrong) for (const name of names) limiter.giveBack(name)
    ended()
  }
}
