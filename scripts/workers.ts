/** API processes that share the port: started, watched, started again when one dies, ended together. */
import type { Subprocess } from 'bun'
import { urlOf, type Config } from '../api/server/config.ts'
import { listen } from '../api/server/listen.ts'
import { Collector, type FromWorker } from '../api/server/scrape.ts'
import type { Api } from '../api/main.ts'
import { settle } from '../db/settle.ts'

/** A worker that dies is started again after this long; twice as long each time, until one has stayed up for a while. */
const RESTART_LEAST_MS = 200
const RESTART_MOST_MS = 30_000
const STABLE_MS = 10_000
/** A worker has this long to begin listening. */
const START_MAX_MS = 30_000

const MAIN = new URL('../api/main.ts', import.meta.url).pathname

/** Starts `config.workers` processes of the API on one port, all listening when this resolves; throws when the first can't start. */
export async function startWorkers(config: Config): Promise<Api> {
  let stopping = false
  const running = new Set<Subprocess>()
  const collector = new Collector()
  const restarts = new Set<ReturnType<typeof setTimeout>>()

  /** Starts one; resolves with its port once it listens. Its death after that is answered with another one. */
  function start(port: number, failures = 0): Promise<number> {
    return new Promise((resolve, reject) => {
      const started = performance.now()
      let listensOn: number | null = null
      const overdue = setTimeout(() => worker.kill('SIGKILL'), START_MAX_MS)
      const worker = Bun.spawn([process.execPath, MAIN], {
        stdio: ['ignore', 'inherit', 'inherit'],
        env: { ...process.env, API_PORT: String(port) },
        ipc(message: FromWorker) {
          if ('figures' in message) return collector.heard(worker, message.figures)
          if ('scrape' in message) return void collector.answer(worker, message.scrape)
          listensOn = message.port
          clearTimeout(overdue)
          collector.add(worker)
          resolve(message.port)
        },
        onExit(_, code, signal) {
          running.delete(worker)
          collector.remove(worker)
          clearTimeout(overdue)
          if (stopping) return
          if (listensOn === null) reject(new Error(`an API worker could not start (${signal ?? `exit ${code}`})`))
          else console.error(`an API worker ended (${signal ?? `exit ${code}`}): starting another one`)
          if (listensOn !== null || failures > 0) again(listensOn ?? port, performance.now() - started > STABLE_MS ? 0 : failures)
        },
      })
      running.add(worker)
    })
  }

  function again(port: number, failures: number) {
    const timer = setTimeout(
      () => {
        restarts.delete(timer)
        start(port, failures + 1).catch((error) => console.error(error.message))
      },
      Math.min(RESTART_MOST_MS, RESTART_LEAST_MS * 2 ** failures),
    )
    restarts.add(timer)
  }

  async function stop() {
    stopping = true
    for (const timer of restarts) clearTimeout(timer)
    for (const worker of running) worker.kill('SIGTERM')
    await Promise.all([...running].map((worker) => worker.exited))
    await settle(config.database)
  }

  // Workers share their port with anyone who wants to: that nobody else has it is found out before.
  await listen('API_PORT', { host: config.host, port: config.apiPort }, () => new Response()).stop(true)
  try {
    const port = await start(config.apiPort)
    await Promise.all(Array.from({ length: config.workers - 1 }, () => start(port)))
    return { port, url: urlOf(config.baseUrl, config.host, port), listensOn: urlOf(null, config.host, port), stop }
  } catch (error) {
    await stop()
    throw error
  }
}
