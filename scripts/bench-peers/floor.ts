/** The floor beside which all are measured: the bytes of Stoa's first answer to each call, from a bare Bun server. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { environment } from '../bench/servers.ts'
import { textOf } from './check.ts'
import { answers, freePort, serve } from './processes.ts'
import { CALLS, type Variant } from './variants.ts'

const SERVER = new URL('floor-server.ts', import.meta.url).pathname
const START_MAX_MS = 20_000

/** Starts it with the answers of these variants of Stoa. */
export async function startFloor(folder: string, stoa: readonly Variant[]): Promise<Variant[]> {
  const port = freePort()
  const like = CALLS.map((call) => stoa.find((variant) => variant.call === call)!)
  const texts = await Promise.all(like.map(async (variant) => [`/${variant.call}`, await textOf(variant, 0)] as const))
  const file = join(folder, 'floor.json')
  writeFileSync(file, JSON.stringify(Object.fromEntries(texts)))
  const command = [process.execPath, SERVER, file, String(port)]
  await serve({ command, cwd: folder, env: environment(), log: join(folder, 'floor.log'), maxMs: START_MAX_MS }, answers(port, '/health'))
  return like.map((variant, i) => ({
    ...{ call: variant.call, system: 'floor', port, found: variant.found },
    variant: `a fixed answer of ${Buffer.byteLength(texts[i]![1]).toLocaleString('en-US')} bytes`,
    ask: () => ({ method: 'GET', path: texts[i]![0], headers: {} }),
  }))
}
