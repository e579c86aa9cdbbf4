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

/** The processes that run, and those that are to be started again. */
class Workers {
  readonly #running = new Set<Subprocess>()
  readonly #restarts = new Set<ReturnType<typeof setTimeout>>()
  readonly #collector = new Collector()
  #stopping = false

  /** Starts one; resolves with its port once it listens. Its death after that is answered with another one. */
  async start(port: number, failures = 0): Promise<number> {
    const listening = Promise.withResolvers<number>()
    const started = performance.now()
    let listensOn: number | null = null
    const overdue = setTimeout(() => worker.kill('SIGKILL'), START_MAX_MS)
    const worker = Bun.spawn([process.execPath, MAIN], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, API_PORT: String(port) },
      ipc: (message: FromWorker) => {
        if ('figures' in message) return this.#collector.heard(worker, message.figures)
        if ('scrape' in message) return void this.#collector.answer(worker, message.scrape)
        listensOn = message.port
        clearTimeout(overdue)
        this.#collector.add(worker)
        listening.resolve(message.port)
      },
      onExit: (_, code, signal) => {
        clearTimeout(overdue)
        this.#running.delete(worker)
        this.#collector.remove(worker)
        if (this.#stopping) return
        const reason = signal ?? `exit ${code}`
        if (listensOn === null) listening.reject(new Error(`an API worker could not start (${reason})`))
        else console.error(`an API worker ended (${reason}): starting another one`)
        if (listensOn !== null || failures > 0) this.#restart(listensOn ?? port, performance.now() - started > STABLE_MS ? 0 : failures)
      },
    })
    this.#running.add(worker)
    return listening.promise
  }

  /** Starts one again, after a wait that grows with how often in a row that has failed. */
  #restart(port: number, failures: number) {
    const waitMs = Math.min(RESTART_MOST_MS, RESTART_LEAST_MS * 2 ** failures)
    const timer = setTimeout(() => {
      this.#restarts.delete(timer)
      this.start(port, failures + 1).catch((error) => console.error(error.message))
    }, waitMs)
    this.#restarts.add(timer)
  }

  /** Ends all, and starts none any more. */
  async stop() {
    this.#stopping = true
    for (const timer of this.#restarts) clearTimeout(timer)
    for (const worker of this.#running) worker.kill('SIGTERM')
    await Promise.all([...this.#running].map((worker) => worker.exited))
  }
}

/** Starts `config.workers` processes of the API on one port, all listening when this resolves; throws when the first can't start. */
export async function startWorkers(config: Config): Promise<Api> {
  const workers = new Workers()
  const stop = async () => {
    await workers.stop()
    await settle(config.database)
  }
  // Workers share their port with anyone who wants to: that nobody else has it is found out before.
  await listen('API_PORT', { host: config.host, port: config.apiPort }, () => new Response()).stop(true)
  try {
    const port = await workers.start(config.apiPort)
    await Promise.all(Array.from({ length: config.workers - 1 }, () => workers.start(port)))
    return { port, url: urlOf(config.baseUrl, config.host, port), listensOn: urlOf(null, config.host, port), stop }
  } catch (error) {
    await stop()
    throw error
  }
}
