/** Turns of long work in the process that answers everybody: after some milliseconds of it, whoever waits goes before. */
const TURN_MS = 4

export class Turns {
  #since = performance.now()

  /** Lets others go before, when this turn is over. */
  async pass() {
    if (performance.now() - this.#since < TURN_MS) return
    await new Promise(setImmediate)
    this.#since = performance.now()
  }
}
