/** The log of a build: what it said, at most 1 MB of it. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const KEPT_BYTES = 1024 * 1024
/** Longer lines are cut where they are shown as the reason of a failure. */
const REASON_MAX = 300
/** Lines that name an error: as Astro and its bundler write them, and as programs do. */
const ERROR =
  /^\[[A-Z][A-Za-z_]{3,40}\]\s+\S|^\[?error\]?:?\s+\S|^\w*Error: |could not resolve|failed to resolve|cannot find|is not defined|unexpected /i
/** Escape sequences of terminals. */
const ANSI = /\x1b\[[0-9;?]*[A-Za-z]/g

export class BuildLog {
  #kept = 0
  #isCut = false
  #read = 0
  #firstError: string | null = null

  constructor(
    readonly path: string,
    readonly outputMaxBytes: number,
    readonly clock: () => Date,
  ) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, '')
  }

  /** A line of Stoa's own. */
  say(line: string) {
    this.#keep(`${this.clock().toISOString()} ${line}\n`)
  }

  /** Keeps what a stream says, as far as there is room; all of it is read, until it is too much. */
  async take(stream: ReadableStream<Uint8Array>, tooMuch: () => void) {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of stream) {
      this.#read += bytes.length
      if (this.#read > this.outputMaxBytes) {
        tooMuch()
        continue
      }
      rest += decoder.decode(bytes, { stream: true })
      const end = rest.lastIndexOf('\n') + 1
      if (end) this.#lines(rest.slice(0, end))
      // A line without an end is taken in pieces.
      rest = rest.length - end > 10_000 ? (this.#lines(`${rest.slice(end)}\n`), '') : rest.slice(end)
    }
    if (rest) this.#lines(`${rest}\n`)
  }

  /** The first line that tells of an error; null when none does. */
  firstError(): string | null {
    return this.#firstError
  }

  #lines(text: string) {
    const plain = text.replace(ANSI, '').replace(/[^\P{Cc}\n\t]/gu, '')
    if (this.#firstError === null) {
      const line = plain.split('\n').find((text) => ERROR.test(text.trim()))
      if (line) this.#firstError = line.trim().slice(0, REASON_MAX)
    }
    this.#keep(plain)
  }

  #keep(text: string) {
    const room = KEPT_BYTES - this.#kept
    if (this.#isCut) return
    const bytes = Buffer.from(text)
    if (bytes.length > room) this.#isCut = true
    this.#kept += bytes.length
    try {
      appendFileSync(this.path, bytes.length > room ? '… the log is cut here\n' : bytes)
    } catch {
      // On a full disk the build fails by itself, and says so elsewhere.
      this.#isCut = true
    }
  }
}
