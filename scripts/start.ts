/** `npm start`: serves until told to stop. Signals are heeded from the first moment on: loading the rest takes 150 ms. */
import { onShutdown } from '../api/server/shutdown.ts'
import type { Running } from './serve.ts'

const running: Running[] = []
onShutdown(() => Promise.all(running.map((server) => server.stop())))

import('./serve.ts')
  .then(({ serve }) => serve(running))
  .catch((error) => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  })
