/**
 * Searching without holding the site: in a thread of its own, which has the only copy of the index, one question at a time. So many may
 * wait, so long, and what was found lately is given again.
 */
import type { Found } from '../lib/search.ts'
import type { FromThread, ToThread } from './thread.ts'

const THREAD = new URL('thread.ts', import.meta.url).pathname
/** A question takes a few milliseconds: more than these would wait half a second. */
const WAITING_MAX = 100
/** Who has waited this long is sent away, and a thread that is held this long by one question is ended. */
const TIME_MAX_MS = 5_000
/** What is remembered in characters, with what the memory of an answer takes beside its text. */
const KEPT_MAX = 1_000_000
const KEPT_EACH = 200

/** There is too much to look for just now. */
export class Overloaded extends Error {
  constructor() {
    super('too many searches at once')
  }
}

interface Question {
  key: string
  text: string
  limit: number
  /** ms of the monotonic clock. */
  askedAt: number
  resolve: (found: string) => void
  reject: (error: unknown) => void
}

interface Bounds {
  thread?: string
  timeMaxMs?: number
}

export class Searcher {
  #thread: Worker | null = null
  /** Who is searched for, and who waits. */
  #now: Question | null = null
  #waiting: Question[] = []
  #overdue: ReturnType<typeof setTimeout> | undefined
  readonly #kept = new Map<string, string>()
  #keptSize = 0

  constructor(
    /** The file of the index. */
    readonly index: string,
    readonly bounds: Bounds = {},
  ) {}

  /** What is remembered, in characters. */
  get keptSize() {
    return this.#keptSize
  }

  /** What was found, best first. Throws `Overloaded`, and the reason of the signal when nobody waits any more. */
  async find(text: string, limit: number, signal?: AbortSignal): Promise<Found[]> {
    const key = `${limit} ${text}`
    return JSON.parse(this.#known(key) ?? (await this.#ask({ key, text, limit }, signal))) as Found[]
  }

  async #ask(asked: Pick<Question, 'key' | 'text' | 'limit'>, signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted()
    if (this.#waiting.length >= WAITING_MAX) throw new Overloaded()
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const question: Question = { ...asked, askedAt: performance.now(), resolve, reject }
    const leave = () => {
      this.#waiting = this.#waiting.filter((other) => other !== question)
      reject(signal!.reason)
    }
    signal?.addEventListener('abort', leave)
    this.#waiting.push(question)
    this.#next()
    try {
      return await promise
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }

  get #timeMaxMs() {
    return this.bounds.timeMaxMs ?? TIME_MAX_MS
  }

  /** Hands the next question over when the thread has none. */
  #next() {
    while (!this.#now) {
      const question = this.#waiting.shift()
      if (!question) return
      const known = this.#known(question.key)
      if (known !== null) question.resolve(known)
      else if (performance.now() - question.askedAt > this.#timeMaxMs) question.reject(new Overloaded())
      else this.#begin(question)
    }
  }

  #begin(question: Question) {
    this.#now = question
    this.#thread ??= this.#start()
    this.#thread.postMessage({ text: question.text, limit: question.limit } satisfies ToThread)
    this.#overdue = setTimeout(() => this.#end(new Overloaded()), this.#timeMaxMs)
  }

  #start(): Worker {
    const thread = new Worker(this.bounds.thread ?? THREAD, { smol: true, ref: false } as WorkerOptions)
    const isOurs = () => thread === this.#thread
    thread.addEventListener('message', ({ data }: MessageEvent<FromThread>) => isOurs() && this.#heard(data))
    thread.addEventListener('error', (event) => {
      event.preventDefault()
      if (isOurs()) this.#end(new Error(`the search has ended: ${event.message}`))
    })
    thread.postMessage({ index: this.index } satisfies ToThread)
    return thread
  }

  #heard(said: FromThread) {
    const question = this.#now!
    if ('found' in said) this.#keep(question.key, said.found)
    clearTimeout(this.#overdue)
    this.#now = null
    if ('found' in said) question.resolve(said.found)
    else question.reject(new Error(said.defect))
    this.#next()
  }

  /** Ends the thread with what it does; the next question has a new one. */
  #end(error: Error) {
    clearTimeout(this.#overdue)
    this.#thread?.terminate()
    this.#thread = null
    this.#now?.reject(error)
    this.#now = null
    this.#next()
  }

  #known(key: string): string | null {
    const found = this.#kept.get(key)
    if (found === undefined) return null
    // The last to be forgotten is what was asked for last.
    this.#kept.delete(key)
    this.#kept.set(key, found)
    return found
  }

  #keep(key: string, found: string) {
    const sizeOf = (name: string, text: string) => name.length + text.length + KEPT_EACH
    if (this.#kept.has(key)) return
    this.#kept.set(key, found)
    this.#keptSize += sizeOf(key, found)
    for (const [oldest, text] of this.#kept) {
      if (this.#keptSize <= KEPT_MAX) break
      this.#kept.delete(oldest)
      this.#keptSize -= sizeOf(oldest, text)
    }
  }

  /** Ends the thread; who waits is sent away. */
  stop() {
    for (const question of this.#waiting.splice(0)) question.reject(new Overloaded())
    this.#end(new Overloaded())
  }
}
