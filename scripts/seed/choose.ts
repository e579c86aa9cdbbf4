/** Choices that look random and are the same in every run. */
import { choices, type Choose as Choices } from '../bench/random.ts'

export interface Choose extends Choices {
  /** `count` different ones, or all there are. */
  some<T>(list: readonly T[], count: number): T[]
}

/** Choices that follow from `seed`. */
export function choosing(seed: number): Choose {
  const choose = choices(seed)
  return {
    ...choose,
    some(list, count) {
      const taken = new Set<number>()
      while (taken.size < Math.min(count, list.length)) taken.add(choose.whole(0, list.length - 1))
      return [...taken].map((i) => list[i]!)
    },
  }
}
