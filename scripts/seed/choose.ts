/** Choices that look random and are the same in every run. */

/** Makes a generator of numbers from 0 to just below 1 (mulberry32). */
function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What a seeded run chooses with. */
export interface Choose {
  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number
  one<T>(list: readonly T[]): T
  /** `count` different ones, or all there are. */
  some<T>(list: readonly T[], count: number): T[]
  /** True in this share of all cases, 0 to 1. */
  chance(share: number): boolean
}

/** Choices that follow from `seed`. */
export function choosing(seed: number): Choose {
  const next = random(seed)
  const whole = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    whole,
    one: (list) => list[whole(0, list.length - 1)]!,
    some(list, count) {
      const taken = new Set<number>()
      while (taken.size < Math.min(count, list.length)) taken.add(whole(0, list.length - 1))
      return [...taken].map((i) => list[i]!)
    },
    chance: (share) => next() < share,
  }
}
