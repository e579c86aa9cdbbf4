/** A thread of its own that does one thing at a time: whatever takes too long there is ended with it, and nobody here has waited. */

/** What was asked for took longer than it may; its thread was ended. */
export class Overdue extends Error {}

interface Waiting<Told> {
  resolve(told: Told): void
  reject(error: unknown): void
  overdue: ReturnType<typeof setTimeout>
}

export class Thread<Asked, Told> {
  #worker: Worker | null = null
  #now: Waiting<Told> | null = null
  #idle: ReturnType<typeof setTimeout> | undefined

  constructor(
    /** The file that is run in it. */
    readonly file: string,
    /** The most that one thing may take, and how long it stays with nothing to do, in ms. */
    readonly bounds: { timeMaxMs: number; idleMaxMs: number },
  ) {}

  /** What the thread answers. One thing at a time: the one before has ended. Throws `Overdue`, or what ended the thread. */
  ask(asked: Asked): Promise<Told> {
    const { promise, resolve, reject } = Promise.withResolvers<Told>()
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    const overdue = setTimeout(() => this.#end(new Overdue(`it took more than ${this.bounds.timeMaxMs} ms`)), this.bounds.timeMaxMs)
    this.#now = { resolve, reject, overdue }
    this.#worker.postMessage(asked)
    return promise
  }

  #start(): Worker {
    const worker = new Worker(this.file, { smol: true, ref: false } as WorkerOptions)
    const isOurs = () => worker === this.#worker
    worker.addEventListener('message', ({ data }: MessageEvent<Told>) => isOurs() && this.#heard(data))
    worker.addEventListener('error', (event) => {
      event.preventDefault()
      if (isOurs()) this.#end(new Error(`the thread has ended: ${event.message}`))
    })
    return worker
  }

  #heard(told: Told) {
    const now = this.#now
    this.#now = null
    clearTimeout(now?.overdue)
    this.#idle = setTimeout(() => this.#end(new Error('it had nothing to do')), this.bounds.idleMaxMs)
    this.#idle.unref?.()
    now?.resolve(told)
  }

  /** Ends the thread with what it does; what is asked for next has a new one. */
  #end(error: Error) {
    const now = this.#now
    this.#now = null
    clearTimeout(now?.overdue)
    clearTimeout(this.#idle)
    this.#worker?.terminate()
    this.#worker = null
    now?.reject(error)
  }
}
