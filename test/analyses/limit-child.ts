/** Asks a shared window for places as fast as it can, and prints how many it got: `FILE REQUESTS NAME TRIES`. */
import { sharedTable } from '../../db/shared-table.ts'
import { windowCells, WindowLimiter } from '../../api/server/window-limit.ts'

const [file, requests, name, tries] = process.argv.slice(2) as [string, string, string, string]
const quota = { requests: Number(requests), windowSeconds: 60 }
const limiter = new WindowLimiter(quota, sharedTable(file, windowCells(quota)))
console.log('ready')
for await (const _ of process.stdin) break
let got = 0
for (let i = 0; i < Number(tries); i++) if (!limiter.take(name).retryAfterSeconds) got++
console.log(got)
