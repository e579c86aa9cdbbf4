/** How busy a process is: work that nobody waits for lets requests go first that somebody does. */
import { Metrics } from './metrics.ts'

/** Who has been answered just now sends the next request soon: the process counts as busy for so long. */
const BUSY_MS = 25
/** While it is busy, one piece of such work begins every so many milliseconds, in all of the process. */
const PACE_MS = 5
const LOOK_MS = 1

export class Load {
  /** `counts`: what the process has counted. */
  constructor(readonly counts: Metrics = new Metrics()) {}

  #busyUntil = 0
  #last: Promise<void> = Promise.resolve()

  /** A request has come, or was answered. */
  note() {
    this.#busyUntil = performance.now() + BUSY_MS
  }

  get isBusy() {
    return performance.now() < this.#busyUntil
  }

  /** Resolves when a piece of work may begin: at once in a process that answers nothing, else when its turn has come. */
  async turn(): Promise<void> {
    if (!this.isBusy) return
    const mine = this.#last.then(() => this.#pause())
    this.#last = mine
    await mine
  }

  async #pause() {
    for (const until = performance.now() + PACE_MS; this.isBusy && performance.now() < until;) await Bun.sleep(LOOK_MS)
  }
}
