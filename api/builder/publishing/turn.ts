/** One build at a time in this process, first come first served: a build takes a processor and some memory. */

let last: Promise<unknown> = Promise.resolve()
const counted = { running: 0, waiting: 0 }

/** How many builds of this process run, and how many wait for their turn. */
export const turns = (): Readonly<typeof counted> => counted

/** Runs `work` when all that came before has ended; what is aborted while it waits is not run. */
export function inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const before = last
  const own = (async () => {
    counted.waiting++
    await Promise.race([before, aborted(signal)]).catch(() => {})
    counted.waiting--
    // Who leaves the queue does not let those behind it pass.
    signal.throwIfAborted()
    counted.running++
    try {
      return await work()
    } finally {
      counted.running--
    }
  })()
  last = Promise.allSettled([before, own])
  return own
}

const aborted = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
