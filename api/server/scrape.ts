/**
 * One scrape over several workers: whichever is asked for `/metrics` asks the process that started it, which asks all of them.
 * The figures of one alone would be another one's at the next scrape, and counters would go back.
 */
import { total, type Figures } from './metrics.ts'

/** How often a worker says that it is alive. One that hangs may hold the lock of a store, and is ended by the process that started it. */
export const ALIVE_MS = 5_000

/** A message of a worker to the process that started it: its port once it listens, that it is alive, that a scrape waits, its figures. */
export type FromWorker = { port: number } | { alive: true } | { scrape: number } | { figures: Figures }
/** A message to a worker: that its figures are wanted, or those of all workers, for which a scrape of its waits. */
type ToWorker = { collect: true } | { scrape: number; all: Figures }

/** Workers have this long to tell their figures, and the process that started them this long to hand on the sum. */
const COLLECT_MAX_MS = 1_000
const SCRAPE_MAX_MS = 2_000

/** Begins, in a worker, to tell its figures when they are wanted; gives how to ask for the sum. That rejects when it does not come. */
export function scrapeAll(own: () => Figures): () => Promise<Figures> {
  const say = (message: FromWorker) => process.send!(message)
  const waiting = new Map<number, (all: Figures) => void>()
  let scrapes = 0
  process.on('message', (message: ToWorker) => {
    if ('collect' in message) say({ figures: own() })
    else waiting.get(message.scrape)?.(message.all)
  })
  return () => {
    const scrape = ++scrapes
    return new Promise<Figures>((resolve, reject) => {
      waiting.set(scrape, resolve)
      setTimeout(() => reject(new Error('the workers could not be asked')), SCRAPE_MAX_MS).unref()
      say({ scrape })
    }).finally(() => waiting.delete(scrape))
  }
}

interface Worker {
  send(message: ToWorker): unknown
}

function tell(worker: Worker, message: ToWorker) {
  try {
    worker.send(message)
  } catch {
    // It has just ended: that is told by itself.
  }
}

/** Sums the figures of the workers that listen, and what those that have ended had counted when they were last asked. */
export class Collector {
  readonly #last = new Map<Worker, Figures>()
  #ended: Figures = total([])
  #asked = new Set<Worker>()
  #allAnswered = () => {}
  #running: Promise<Figures> | null = null

  /** A worker listens from now on. */
  add(worker: Worker) {
    this.#last.set(worker, total([]))
  }

  /** A worker has ended: what it had counted stays in the sum, its gauges do not. */
  remove(worker: Worker) {
    this.#ended = { ...total([this.#ended, this.#last.get(worker) ?? total([])]), gauges: {} }
    this.#last.delete(worker)
    this.#answered(worker)
  }

  /** A worker tells its figures. */
  heard(worker: Worker, figures: Figures) {
    if (this.#last.has(worker)) this.#last.set(worker, figures)
    this.#answered(worker)
  }

  /** Answers a scrape that waits in a worker. One who is too slow for it counts with what it said last. */
  async answer(worker: Worker, scrape: number) {
    const all = await (this.#running ??= this.#collect().finally(() => (this.#running = null)))
    if (this.#last.has(worker)) tell(worker, { scrape, all })
  }

  async #collect(): Promise<Figures> {
    this.#asked = new Set(this.#last.keys())
    await new Promise<void>((resolve) => {
      const overdue = setTimeout(resolve, COLLECT_MAX_MS)
      this.#allAnswered = () => {
        clearTimeout(overdue)
        resolve()
      }
      for (const worker of this.#asked) tell(worker, { collect: true })
    })
    return total([this.#ended, ...this.#last.values()])
  }

  #answered(worker: Worker) {
    if (this.#asked.delete(worker) && this.#asked.size === 0) this.#allAnswered()
  }
}
