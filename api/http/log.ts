/** The request log: one JSON line a request on standard output, a readable one on a terminal. Never a body, query or header. */

export type Level = 'debug' | 'info' | 'warn' | 'silent'
const ORDER: Record<Level, number> = { debug: 0, info: 1, warn: 2, silent: 3 }

export interface Log {
  enabled(level: Level): boolean
  write(level: Exclude<Level, 'silent'>, message: string, fields?: Record<string, unknown>): void
  /** Writes out what is waiting. */
  flush(): void
}

/** Lines wait for this long, so that a busy server makes one system call for many. */
const FLUSH_MS = 50

export function createLog(minimum: Level, out: { write(text: string): unknown; isTTY?: boolean } = process.stdout): Log {
  let lines: string[] = []
  let timer: ReturnType<typeof setTimeout> | null = null
  const flush = () => {
    if (timer) clearTimeout(timer)
    timer = null
    if (lines.length) out.write(lines.join(''))
    lines = []
  }
  return {
    enabled: (level) => ORDER[level] >= ORDER[minimum] && minimum !== 'silent',
    write(level, message, fields = {}) {
      if (!this.enabled(level)) return
      const time = new Date().toISOString()
      lines.push(
        out.isTTY
          ? `${time.slice(11, 23)} ${level.padEnd(5)} ${message} ${Object.entries(fields)
              .map(([k, v]) => `${k}=${v}`)
              .join(' ')}\n`
          : `${JSON.stringify({ time, level, message, ...fields })}\n`,
      )
      if (lines.length > 500) flush()
      else timer ??= setTimeout(flush, FLUSH_MS)
    },
    flush,
  }
}
