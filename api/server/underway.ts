/** The work of a process that has not ended: requests, and tasks that follow their answers. The process waits for both before it ends. */
import type { Log } from './log.ts'

export class Underway {
  #requests = 0
  readonly #idle: (() => void)[] = []
  readonly #tasks = new Set<Promise<void>>()
  /** No new work is wanted. */
  isDraining = false

  constructor(readonly log: Log) {}

  /** Requests that wait for their answer. */
  get requests() {
    return this.#requests
  }

  begin() {
    this.#requests++
  }

  end() {
    if (--this.#requests === 0) for (const tell of this.#idle.splice(0)) tell()
  }

  /** Starts work that goes on after an answer. A failure is logged: nobody is there to be told. */
  follow(task: () => Promise<void>) {
    const running: Promise<void> = task()
      .catch((error) => this.log.write('warn', 'a task after an answer failed', { error: String(error) }))
      .finally(() => this.#tasks.delete(running))
    this.#tasks.add(running)
  }

  /** Resolves when what follows the answers that are given has ended. */
  async settled() {
    while (this.#tasks.size) await Promise.all(this.#tasks)
  }

  /** Resolves when all that runs has ended. */
  async drain() {
    this.isDraining = true
    if (this.#requests > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
    await this.settled()
    this.log.flush()
  }
}
