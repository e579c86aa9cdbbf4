/** How long the loop of a process was held: a timer that is late tells. */
import type { Metrics } from './metrics.ts'

/** Of a hold, the part is seen that comes after the next tick was due. */
const TICK_MS = 50

/** Begins to note by how much each tick is late; returns how to stop. */
export function watchLoop(metrics: Pick<Metrics, 'observe'>): () => void {
  let due = performance.now() + TICK_MS
  const timer = setInterval(() => {
    const now = performance.now()
    metrics.observe('stoa_loop_delay_seconds', {}, Math.max(0, now - due) / 1_000)
    due = now + TICK_MS
  }, TICK_MS)
  timer.unref()
  return () => clearInterval(timer)
}
