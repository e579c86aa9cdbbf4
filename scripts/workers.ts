/** API processes that share the port: started, watched, started again when one dies, ended together. */
import { urlOf, type Config } from '../api/server/config.ts'
import { listen } from '../api/server/listen.ts'
import { ALIVE_MS, Collector, type FromWorker } from '../api/server/scrape.ts'
import type { Api } from '../api/main.ts'
import { settle } from '../db/settle.ts'
import { Kept, type Listening } from './kept.ts'

const MAIN = new URL('../api/main.ts', import.meta.url).pathname

/** Starts `config.workers` processes of the API on one port, all listening when this resolves; throws when the first can't start. */
export async function startWorkers(config: Config): Promise<Api> {
  const collector = new Collector()
  const workers = Array.from(
    { length: config.workers },
    () =>
      new Kept<Exclude<FromWorker, Listening>>({
        name: 'an API worker',
        file: MAIN,
        env: (port) => ({ ...process.env, API_PORT: String(port) }),
        // It waits for its requests, and knows how long.
        endMaxMs: null,
        began: (worker) => collector.add(worker),
        saysEachMs: ALIVE_MS,
        heard(said, worker) {
          if ('figures' in said) collector.heard(worker, said.figures)
          else if ('scrape' in said) void collector.answer(worker, said.scrape)
        },
        ended: (worker) => collector.remove(worker),
      }),
  )
  const stop = async () => {
    await Promise.all(workers.map((worker) => worker.stop()))
    await settle(config.database)
  }
  // Workers share their port with anyone who wants to: that nobody else has it is found out before.
  await listen('API_PORT', { host: config.host, port: config.apiPort }, () => new Response()).stop(true)
  try {
    const [first, ...others] = workers
    const port = await first!.start(config.apiPort)
    await Promise.all(others.map((worker) => worker.start(port)))
    return { port, url: urlOf(config.baseUrl, config.host, port), listensOn: urlOf(null, config.host, port), stop }
  } catch (error) {
    await stop()
    throw error
  }
}
