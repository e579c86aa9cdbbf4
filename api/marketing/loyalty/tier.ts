/** Which tier a member is in (document 3, Decisions): a pure rule of the lifetime points. */

/** The highest of the tiers whose threshold is strictly under the lifetime points; of two with one threshold, the better multiplier. */
export function tierOf<T extends { threshold: number; multiplier: number }>(lifetimePoints: number, tiers: readonly T[]): T | null {
  return (
    tiers
      .filter(({ threshold }) => threshold < lifetimePoints)
      .toSorted((a, b) => b.threshold - a.threshold || b.multiplier - a.multiplier)[0] ?? null
  )
}
