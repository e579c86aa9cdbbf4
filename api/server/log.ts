/** The request log: one JSON line a request on standard output, a readable one on a terminal. Never a body, query or header. */

export type Level = 'debug' | 'info' | 'warn' | 'silent'
const ORDER: Record<Level, number> = { debug: 0, info: 1, warn: 2, silent: 3 }

export interface Log {
  enabled(level: Level): boolean
  write(level: Exclude<Level, 'silent'>, message: string, fields?: Record<string, unknown>): void
  /** Writes out what is waiting. */
  flush(): void
}

interface Repeated {
  message: string
  fields: Record<string, unknown>
  count: number
}

/** The same warning again is counted for so long, and then told as one line with the last one's fields. */
const COUNTED_MS = 10_000
/** Warnings that are told apart; others are written as they come. */
const COUNTED_MAX = 200

/** Lines wait for this long, so that a busy server makes one system call for many. */
const FLUSH_MS = 50

/** Warnings that come again and again: a full disk has as many as there are requests. */
class Repeats {
  /** Those of the running interval, by what makes them the same. */
  #warned = new Map<string, Repeated>()
  #telling: ReturnType<typeof setTimeout> | null = null

  constructor(readonly put: (message: string, fields: Record<string, unknown>) => void) {}

  /** Whether a warning has been written already and is only counted. */
  count(message: string, fields: Record<string, unknown>): boolean {
    const key = [message, fields.storeId, fields.subject, fields.error].join(' ')
    const same = this.#warned.get(key)
    if (same) {
      same.count++
      same.fields = fields
    } else if (this.#warned.size < COUNTED_MAX) this.#warned.set(key, { message, fields, count: 0 })
    this.#telling ??= setTimeout(() => this.tell(), COUNTED_MS)
    this.#telling.unref()
    return same !== undefined
  }

  /** Tells of what was counted. What goes on is counted on, what has not come again is forgotten. */
  tell() {
    if (this.#telling) clearTimeout(this.#telling)
    this.#telling = null
    const over = this.#warned
    this.#warned = new Map()
    for (const [key, { message, fields, count }] of over) {
      if (!count) continue
      const { stack: _, ...rest } = fields
      this.put(message, { ...rest, repeated: count })
      this.#warned.set(key, { message, fields, count: 0 })
    }
    if (this.#warned.size) this.#telling = setTimeout(() => this.tell(), COUNTED_MS).unref()
  }
}

export function createLog(minimum: Level, out: { write(text: string): unknown; isTTY?: boolean } = process.stdout): Log {
  let lines: string[] = []
  let timer: ReturnType<typeof setTimeout> | null = null
  const put = (level: string, message: string, fields: Record<string, unknown>) => {
    const time = new Date().toISOString()
    lines.push(
      out.isTTY
        ? `${time.slice(11, 23)} ${level.padEnd(5)} ${message} ${Object.entries(fields)
            .map(([k, v]) => `${k}=${v}`)
            .join(' ')}\n`
        : `${JSON.stringify({ time, level, message, ...fields })}\n`,
    )
    if (lines.length > 500) writeOut()
    else timer ??= setTimeout(writeOut, FLUSH_MS)
  }
  const writeOut = () => {
    if (timer) clearTimeout(timer)
    timer = null
    if (lines.length) out.write(lines.join(''))
    lines = []
  }
  const repeats = new Repeats((message, fields) => put('warn', message, fields))
  return {
    enabled: (level) => ORDER[level] >= ORDER[minimum] && minimum !== 'silent',
    write(level, message, fields = {}) {
      if (!this.enabled(level)) return
      // A request is a line, whatever came of it.
      if (level === 'warn' && message !== 'request' && repeats.count(message, fields)) return
      put(level, message, fields)
    },
    flush() {
      repeats.tell()
      writeOut()
    },
  }
}
