/** Ending a process on SIGTERM or Ctrl-C. */

/** Ctrl-C reaches a process twice, from the terminal and from npm: signals this close together are one. */
const ONE_SIGNAL_MS = 500

/** The first SIGTERM or SIGINT runs `stop` and ends the process with 0; a second one ends it at once. Returns the trigger. */
export function onShutdown(stop: () => Promise<unknown>): () => void {
  let since: number | null = null
  const signalled = () => {
    if (since !== null) {
      if (performance.now() - since > ONE_SIGNAL_MS) process.exit(1)
      return
    }
    since = performance.now()
    stop().then(
      () => process.exit(0),
      (error) => {
        console.error(`the shutdown failed: ${error instanceof Error ? error.message : error}`)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', signalled)
  process.on('SIGINT', signalled)
  return signalled
}
