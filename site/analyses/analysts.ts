/** The process that analyses, seen from the site: started when it is needed, ended when it has not been for a while or does not answer. */
import type { Subprocess } from 'bun'
import { notNow } from '../../api/outside/not-fetched.ts'
import type { FromAnalyst, Setting, ToAnalyst } from './messages.ts'
import { OPERATIONS, type OperationName } from './operations.ts'

const ANALYST = new URL('analyst.ts', import.meta.url).pathname
/** Without work for this long it ends: it has 60 MB. */
const IDLE_MS = 60_000
/** It tells by itself that time is over; what has not by then is stuck. */
const GRACE_MS = 2_000

type Analysed = Exclude<OperationName, 'pagespeed'>

interface Waiting {
  resolve: (report: object) => void
  reject: (error: Error) => void
}

/** One process, with what it has not answered yet. */
class Analyst {
  readonly waiting = new Map<number, Waiting>()
  readonly process: Subprocess
  #isOver = false

  constructor(setting: Setting, onEnd: (analyst: Analyst) => void) {
    // What it reads is gone with the report: its heap is kept small.
    this.process = Bun.spawn([process.execPath, '--smol', ANALYST], {
      stdio: ['ignore', 'inherit', 'inherit'],
      // The certificates of an operator's own authority, and nothing of what is secret.
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.includes(name))),
      serialization: 'json',
      ipc: (message: FromAnalyst) => this.#heard(message),
      onExit: () => {
        this.#isOver = true
        onEnd(this)
        for (const { reject } of this.waiting.values()) reject(notNow('reset', 'reading it failed here'))
        this.waiting.clear()
      },
    })
    this.say({ setting })
  }

  say(message: ToAnalyst) {
    if (!this.#isOver) this.process.send(message)
  }

  #heard(message: FromAnalyst) {
    const waiting = this.waiting.get(message.id)
    if (!waiting) return
    this.waiting.delete(message.id)
    if ('report' in message) waiting.resolve(message.report as object)
    else if ('hindrance' in message) waiting.reject(notNow('silent', message.hindrance))
    else waiting.reject(new Error(message.defect))
  }
}

const PASSED_ON = ['PATH', 'HOME', 'TZ', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']

export class Analysts {
  #analyst: Analyst | undefined
  #idle: ReturnType<typeof setTimeout> | undefined
  #last = 0

  constructor(readonly setting: Setting) {}

  /** Analyses a page. Throws `NotFetched` where it can't be read, also when `signal` says that nobody wants it any more. */
  async analyse(operation: Analysed, url: URL, signal: AbortSignal): Promise<object> {
    clearTimeout(this.#idle)
    const analyst = (this.#analyst ??= new Analyst(this.setting, (ended) => ended === this.#analyst && (this.#analyst = undefined)))
    const id = ++this.#last
    const { promise, resolve, reject } = Promise.withResolvers<object>()
    analyst.waiting.set(id, { resolve, reject })
    const stop = () => analyst.say({ cancel: id })
    const stuck = setTimeout(() => analyst.process.kill('SIGKILL'), OPERATIONS[operation].maxMs + GRACE_MS)
    signal.addEventListener('abort', stop)
    analyst.say({ id, operation, url: url.href })
    try {
      return await promise
    } finally {
      clearTimeout(stuck)
      signal.removeEventListener('abort', stop)
      if (!analyst.waiting.size) this.#idle = setTimeout(() => this.#letGo(), IDLE_MS)
      this.#idle?.unref()
    }
  }

  #letGo() {
    this.#analyst?.process.kill()
    this.#analyst = undefined
  }

  /** Ends the process, whatever it does. */
  async stop() {
    clearTimeout(this.#idle)
    const analyst = this.#analyst
    analyst?.process.kill()
    await analyst?.process.exited
  }
}
