/** One build at a time in this process, first come first served: a build takes a processor and some memory. */

let last: Promise<unknown> = Promise.resolve()

/** Runs `work` when all that came before has ended; what is aborted while it waits is not run. */
export function inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const before = last
  const own = (async () => {
    await Promise.race([before, aborted(signal)]).catch(() => {})
    // Who leaves the queue does not let those behind it pass.
    signal.throwIfAborted()
    return work()
  })()
  last = Promise.allSettled([before, own])
  return own
}

const aborted = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
