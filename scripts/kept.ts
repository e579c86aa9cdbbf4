/** A process beside the one that was started: begun, watched, started again when it dies, ended with it. */
import type { Subprocess } from 'bun'

/** One that dies is started again after this long; twice as long each time, until one has stayed up for a while. */
const RESTART_LEAST_MS = 200
const RESTART_MOST_MS = 30_000
const STABLE_MS = 10_000
/** It has this long to begin listening. */
const START_MAX_MS = 30_000

/** One that is silent for so many times as long as it may be hangs. Counted in looks: who looks may have been held up, too. */
const SILENT_LOOKS = 4

/** What such a process says first: the port that it listens on. */
export interface Listening {
  port: number
}

interface Program<Said> {
  /** As messages name it: `an API worker`. */
  name: string
  /** What Bun runs. */
  file: string
  /** Its environment when it is to listen on a port. */
  env(port: number): Record<string, string | undefined>
  /** How long it may take to end once it is told to; null: as long as it needs. */
  endMaxMs: number | null
  /** How often it says something, from when it listens on; one that does not is ended by force, and another one started. */
  saysEachMs?: number
  /** It listens; what it says from then on; it has ended. */
  began?(child: Subprocess): void
  heard?(said: Said, child: Subprocess): void
  ended?(child: Subprocess): void
}

export class Kept<Said extends object = never> {
  #child: Subprocess | null = null
  #restart: ReturnType<typeof setTimeout> | undefined
  #isStopping = false

  constructor(readonly program: Program<Said>) {}

  /** Starts it; resolves with its port once it listens, and throws when it can't. Its death after that is answered with another one. */
  start(port: number): Promise<number> {
    return this.#start(port, 0, false)
  }

  #start(port: number, failures: number, isAgain: boolean): Promise<number> {
    const { program } = this
    const listening = Promise.withResolvers<number>()
    const started = performance.now()
    let listensOn: number | null = null
    let silent = 0
    let looking: ReturnType<typeof setInterval> | undefined
    const overdue = setTimeout(() => child.kill('SIGKILL'), START_MAX_MS)
    const child = Bun.spawn([process.execPath, program.file], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: program.env(port),
      ipc: (message: Said | Listening) => {
        silent = 0
        if (!('port' in message)) return program.heard?.(message, child)
        listensOn = message.port
        clearTimeout(overdue)
        if (program.saysEachMs) looking = setInterval(() => ++silent > SILENT_LOOKS && child.kill('SIGKILL'), program.saysEachMs)
        program.began?.(child)
        listening.resolve(message.port)
      },
      onExit: (_, code, signal) => {
        clearTimeout(overdue)
        clearInterval(looking)
        this.#child = null
        program.ended?.(child)
        const reason = signal === null ? `exit ${code}` : String(signal)
        if (listensOn === null) listening.reject(new Error(`${program.name} could not start (${reason})`))
        if (this.#isStopping || (listensOn === null && !isAgain)) return
        const hasStayed = performance.now() - started > STABLE_MS
        this.#startAgain(listensOn ?? port, hasStayed ? 0 : failures, listensOn === null ? null : reason)
      },
    })
    this.#child = child
    return listening.promise
  }

  /** Starts it again, after a wait that grows with how often in a row that has failed; says why, where nobody has been told yet. */
  #startAgain(port: number, failures: number, reason: string | null) {
    const waitMs = Math.min(RESTART_MOST_MS, RESTART_LEAST_MS * 2 ** failures)
    this.#restart = setTimeout(() => {
      // Not before: Ctrl-C reaches both, and who hears of it second would take an end for a death.
      if (reason !== null) console.error(`${this.program.name} ended (${reason}): starting another one`)
      this.#start(port, failures + 1, true).catch((error) => this.#isStopping || console.error(error.message))
    }, waitMs)
  }

  /** Ends it, and starts it no more. */
  async stop() {
    this.#isStopping = true
    clearTimeout(this.#restart)
    const child = this.#child
    if (!child) return
    child.kill('SIGTERM')
    const { endMaxMs } = this.program
    const overdue = endMaxMs === null ? undefined : setTimeout(() => child.kill('SIGKILL'), endMaxMs)
    await child.exited
    clearTimeout(overdue)
  }
}
