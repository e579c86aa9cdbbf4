/** The processes that a bench starts: each is ended by its own handle, and by nothing else. */
import type { Subprocess } from 'bun'
import { scripts } from '../../package.json'

const BUN = process.execPath
const ROOT = new URL('../../', import.meta.url).pathname
const LISTEN_MAX_MS = 20_000
const STOP_MAX_MS = 10_000

/** A server that listens. */
export interface Server {
  port: number
  pid: number
  stop(): Promise<void>
}

/** What a process sees of the environment: where things are, and nothing that configures Stoa. */
export const environment = (extra: Record<string, string> = {}): Record<string, string> => {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG'].flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]!] as const],
  )
  return { ...Object.fromEntries(kept), ...extra }
}

/** What `npm start` tells the engine of the memory that it may take. */
const ENGINE = Object.fromEntries([...scripts.start.matchAll(/(BUN_JSC_\w+)=(\d+)/g)].map(([, name, value]) => [name!, value!]))

const started = new Set<Subprocess>()

/** Ends a process, in order first and then by force. */
async function end(child: Subprocess) {
  child.kill('SIGTERM')
  const overdue = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS)
  await child.exited
  clearTimeout(overdue)
  started.delete(child)
}

/** Ends what still runs. */
export const endAll = () => Promise.all([...started].map(end))

/** Starts a program that says on which port it listens. */
async function start(args: string[], env: Record<string, string>): Promise<Server> {
  const child = Bun.spawn([BUN, ...args], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] })
  started.add(child)
  const overdue = setTimeout(() => child.kill('SIGKILL'), LISTEN_MAX_MS)
  try {
    // The reader is kept: a pipe that nobody holds would fail the next line that the server prints.
    const reader = child.stdout.getReader()
    let said = ''
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      said += Buffer.from(part.value).toString()
      const port = /127\.0\.0\.1:(\d+)/.exec(said)?.[1]
      if (port) return { port: Number(port), pid: child.pid, stop: () => end(child) }
    }
    throw new Error(`${args[0]} ended before it listened: ${said}`)
  } catch (error) {
    await end(child)
    throw error
  } finally {
    clearTimeout(overdue)
  }
}

/** The floor on one database file. */
export const startFloor = (file: string) => start(['scripts/bench/floor.ts', file], environment())

/**
 * Stoa's API on a data folder, as in production but for the limit of requests per key. A cold one makes each answer anew, so that what a
 * row asks again and again costs what it costs once.
 */
export const startStoa = (
  dataDir: string,
  { isCold = false, ...more }: { isCold?: boolean; [name: string]: string | boolean | undefined } = {},
) =>
  start(
    [isCold ? 'scripts/bench/cold.ts' : 'api/main.ts'],
    environment({
      ...ENGINE,
      ...(more as Record<string, string>),
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      API_PORT: '0',
      RATE_LIMIT: '0',
      LOG: 'silent',
      METRICS: '1',
    }),
  )

/** Stoa's API in so many processes on one port. */
export const startWorkers = (dataDir: string, workers: number) =>
  start(
    ['scripts/bench/workers-server.ts'],
    environment({
      ...ENGINE,
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      API_PORT: '0',
      RATE_LIMIT: '0',
      LOG: 'silent',
      WORKERS: String(workers),
    }),
  )

const POLL_MS = 5

/** A port that nothing listens on now. */
function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

/** Starts all of Stoa as `npm start` does once it has seen that all is installed; tells how long its first answer took. */
export async function startWhole(dataDir: string): Promise<{ ms: number; stop(): Promise<void> }> {
  const port = freePort()
  const startedMs = performance.now()
  const child = Bun.spawn([BUN, 'scripts/start.ts'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: environment({
      ...ENGINE,
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      API_PORT: String(port),
      SITE_PORT: String(freePort()),
      LOG: 'silent',
    }),
  })
  started.add(child)
  while (performance.now() - startedMs < LISTEN_MAX_MS && child.exitCode === null) {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null)
    if (answer?.status === 200) return { ms: performance.now() - startedMs, stop: () => end(child) }
    await Bun.sleep(POLL_MS)
  }
  await end(child)
  throw new Error(`scripts/start.ts gave no answer: ${await new Response(child.stderr).text()}`)
}

/** The memory that Stoa says it has, in megabytes (10^6 bytes). */
export async function memoryOf({ port }: Server): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(text)![1]) / 1_000_000
}
