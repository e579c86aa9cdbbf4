/**
 * The process that analyses, seen from the site: started when it is needed, ended when it has not been for a while, or when a page holds it.
 * Whoever else was waiting then is served by the next one.
 */
import type { Subprocess } from 'bun'
import { notNow } from '../../api/outside/not-fetched.ts'
import type { FromAnalyst, Setting, ToAnalyst } from './messages.ts'
import { OPERATIONS, type OperationName } from './operations.ts'

const ANALYST = new URL('analyst.ts', import.meta.url).pathname
/** Without work for this long it ends: it has 60 MB. */
const IDLE_MS = 60_000
/** It is asked this often whether it still hears, and held by a page when it has not answered for so long. */
const ASKED_MS = 500
const HELD_MS = 3_000
/** How often an analysis is begun whose process has ended under it. */
const TRIES_MAX = 2
const GRACE_MS = 1_000

type Analysed = Exclude<OperationName, 'pagespeed'>

/** The process has ended before it has told anything of this analysis. */
class Ended extends Error {}

interface Waiting {
  resolve: (report: object) => void
  reject: (error: Error) => void
}

const PASSED_ON = ['PATH', 'HOME', 'TZ', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']

/** One process, with what it has not answered yet. */
class Analyst {
  readonly waiting = new Map<number, Waiting>()
  readonly #process: Subprocess
  readonly #watch: ReturnType<typeof setInterval>
  /** Until when it has answered, in ms of the monotonic clock; null before it has begun. */
  #heardAt: number | null = null
  /** The page that it has begun to read last. */
  #reading: number | null = null
  #isOver = false

  constructor(setting: Setting, onEnd: (analyst: Analyst) => void) {
    // What it reads is gone with the report: its heap is kept small.
    this.#process = Bun.spawn([process.execPath, '--smol', ANALYST], {
      stdio: ['ignore', 'inherit', 'inherit'],
      // The certificates of an operator's own authority, and nothing of what is secret.
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.includes(name))),
      serialization: 'json',
      ipc: (message: FromAnalyst) => this.#heard(message),
      onExit: () => {
        this.#isOver = true
        clearInterval(this.#watch)
        onEnd(this)
        for (const { reject } of this.waiting.values()) reject(new Ended())
        this.waiting.clear()
      },
    })
    this.say({ setting })
    this.#watch = setInterval(() => this.#look(), ASKED_MS)
    this.#watch.unref()
  }

  say(message: ToAnalyst) {
    if (!this.#isOver) this.#process.send(message)
  }

  async end() {
    this.#process.kill()
    await this.#process.exited
  }

  /** Ends a process that is held; what holds it is told so. */
  #look() {
    if (!this.waiting.size) return void (this.#heardAt = null)
    this.say({ ping: 0 })
    this.#heardAt ??= performance.now()
    if (performance.now() - this.#heardAt < HELD_MS) return
    const culprit = this.#reading === null ? undefined : this.waiting.get(this.#reading)
    if (culprit) {
      this.waiting.delete(this.#reading!)
      culprit.reject(notNow('late', 'reading it takes too long here'))
    }
    this.#process.kill('SIGKILL')
  }

  #heard(message: FromAnalyst) {
    this.#heardAt = performance.now()
    if ('pong' in message) return
    if ('reads' in message) return void (this.#reading = message.id)
    const waiting = this.waiting.get(message.id)
    if (!waiting) return
    this.waiting.delete(message.id)
    if ('report' in message) waiting.resolve(message.report as object)
    else if ('hindrance' in message) waiting.reject(notNow(message.hindrance, message.message))
    else waiting.reject(new Error(message.defect))
  }
}

export class Analysts {
  #analyst: Analyst | undefined
  #idle: ReturnType<typeof setTimeout> | undefined
  #last = 0

  constructor(readonly setting: Setting) {}

  /** Analyses a page. Throws `NotFetched` where it can't be read, also when `signal` says that nobody wants it any more. */
  async analyse(operation: Analysed, url: URL, signal: AbortSignal): Promise<object> {
    for (let tries = 1; ; tries++)
      try {
        return await this.#attempt(operation, url, signal)
      } catch (error) {
        if (!(error instanceof Ended)) throw error
        if (tries === TRIES_MAX || signal.aborted) throw notNow('reset', 'reading it failed here')
      }
  }

  async #attempt(operation: Analysed, url: URL, signal: AbortSignal): Promise<object> {
    clearTimeout(this.#idle)
    const analyst = (this.#analyst ??= new Analyst(this.setting, (ended) => ended === this.#analyst && (this.#analyst = undefined)))
    const id = ++this.#last
    const { promise, resolve, reject } = Promise.withResolvers<object>()
    analyst.waiting.set(id, { resolve, reject })
    const stop = () => analyst.say({ cancel: id })
    // It tells by itself when time is over; what stands behind others there can't.
    const late = setTimeout(() => {
      stop()
      reject(notNow('late', `it took longer than ${OPERATIONS[operation].maxMs / 1000} seconds`))
    }, OPERATIONS[operation].maxMs + GRACE_MS)
    signal.addEventListener('abort', stop)
    analyst.say({ id, operation, url: url.href })
    try {
      return await promise
    } finally {
      clearTimeout(late)
      analyst.waiting.delete(id)
      signal.removeEventListener('abort', stop)
      // Two may end at the same moment: a timer that is not known any more would end the work of others.
      clearTimeout(this.#idle)
      if (!analyst.waiting.size) this.#idle = setTimeout(() => this.#letGo(), IDLE_MS)
      this.#idle?.unref()
    }
  }

  #letGo() {
    void this.#analyst?.end()
    this.#analyst = undefined
  }

  /** Ends the process, whatever it does. */
  async stop() {
    clearTimeout(this.#idle)
    await this.#analyst?.end()
  }
}
