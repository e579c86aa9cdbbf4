/** How many decimals a number may have: what would be rounded away is refused, so that nobody sees a number that is not used. */
import { wrong } from './refusal.ts'

/** Percentages: what a discount is counted with. */
export const PERCENT_DECIMALS = 4
/** Factors of points: rates and multipliers. */
export const FACTOR_DECIMALS = 6

/** Refuses with 400 at `path` a number of more decimals; one that is not given is none. */
export function requireDecimals(path: string, value: number | null | undefined, decimals: number) {
  // The double nearest to a number of so many decimals prints as that: any other one has more.
  if (value != null && Number(value.toFixed(decimals)) !== value) throw wrong(path, `must have at most ${decimals} decimals`)
}
