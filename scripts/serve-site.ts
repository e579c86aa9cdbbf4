/**
 * The content site as a process of its own, as `npm start` begins it: nothing that readers ask for takes the API's time, and it yields to
 * it where there are too few processors for both. Ends when it is told to, and with whoever began it.
 */
import { setPriority } from 'node:os'
import { readConfig } from '../api/server/config.ts'
import { onShutdown } from '../api/server/shutdown.ts'
import { serveSite, type Site } from '../site/server.ts'
import type { Listening } from './kept.ts'

/** 0 is the API's, 19 the least. */
const NICENESS = 5

let site: Site | undefined
const stop = onShutdown(async () => {
  await site?.stop()
})
process.on('disconnect', stop)
try {
  setPriority(NICENESS)
  site = serveSite(readConfig(process.env), process.env.STORE_API!)
  process.send!({ port: site.port } satisfies Listening)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
