/** How the time grows that a function takes with what it reads. */
import { expect } from 'vitest'

const [SHORT, TIMES] = [50_000, 10]
/** A text ten times as long takes a linear function as long as ten short ones, and a quadratic one ten times that. */
const MOST = 4
/** What the clock and the collector of garbage may add. */
const NOISE_MS = 10

function ms(run: () => unknown, times: number): number {
  const began = performance.now()
  for (let done = 0; done < times; done++) run()
  return performance.now() - began
}
/** The least of several: others use the machine, too. */
const least = (measure: () => number) => Math.min(...Array.from({ length: 7 }, measure))

/** Expects a function to take time as a text is long that is a piece over and over, and ends as `end` says. */
export function expectLinear(work: (text: string) => unknown, piece: string, end = '') {
  const of = (length: number) => piece.repeat(length / piece.length) + end
  const [short, long] = [of(SHORT), of(SHORT * TIMES)]
  work(short)
  const shorts = least(() => ms(() => work(short), TIMES))
  expect(least(() => ms(() => work(long), 1))).toBeLessThan(MOST * shorts + NOISE_MS)
}
