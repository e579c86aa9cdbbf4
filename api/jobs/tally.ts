/** How many jobs all stores have, by kind and state: counted as a runner looks round, never because somebody asks. */
import type { Reader } from '../../db/driver.ts'
import type { Metrics } from '../server/metrics.ts'
import { countByKind } from './given-up.ts'

export class Tally {
  readonly #counts = new Map<string, { labels: { kind: string; state: string }; value: number }>()

  /** Counts those of one more store; a kind that this release does not know is called so. */
  async add(db: Reader, kinds: object) {
    for (const { kind, state, count } of await countByKind(db)) {
      const labels = { kind: Object.hasOwn(kinds, kind) ? kind : 'unknown', state }
      const key = `${labels.kind} ${state}`
      this.#counts.set(key, { labels, value: (this.#counts.get(key)?.value ?? 0) + count })
    }
  }

  /** Tells what was counted in the round that ends now. */
  tell(metrics: Pick<Metrics, 'share'>, now: Date) {
    const at = now.getTime()
    metrics.share('stoa_jobs', at, [...this.#counts.values()])
    metrics.share('stoa_jobs_counted_seconds', at, [{ labels: {}, value: Math.round(at / 1_000) }])
  }
}
