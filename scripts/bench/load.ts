/**
 * The load generator: HTTP/1.1 over plain TCP, each connection with one request under way. `fetch` costs more than the servers
 * that are measured here; this takes about 10 µs a request.
 */
import type { Socket } from 'bun'

/** A request that has had no answer for this long ends the run. */
const ANSWER_MAX_MS = 15_000
const WATCH_MS = 1_000
/** Latencies kept in one run; more operations than this end it. */
const OPERATIONS_MAX = 1_000_000
/** The `Host` that requests name. */
export const HOST = 'bench.example'
const HEADER_END = '\r\n\r\n'
const LENGTH = /\r\ncontent-length: *(\d+)/i
const STATUS_AT = 'HTTP/1.1 '.length

/** The bytes of one request. */
export function requestOf(method: string, path: string, headers: Record<string, string>, body?: unknown): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body)
  const { host = HOST, ...rest } = headers
  const lines = Object.entries(
    body === undefined ? rest : { ...rest, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) },
  )
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`,
  )
}

/** One operation: a first request, and those that follow from its answers. */
export interface Operation {
  first: Buffer
  /** Statuses that the answers must have, one for each request. */
  expect: readonly number[]
  /** The next request, made from the body of the answer to request `step`. */
  then?: (body: string, step: number) => Buffer
}

interface Load {
  port: number
  connections: number
  /** The nth operation; null when there is no more. */
  next: (n: number) => Operation | null
  maxMs: number
  /** Ends the run before its time. */
  until?: AbortSignal
}

/** What a run came to; latencies in milliseconds, ascending. */
export interface Measured {
  operations: number
  seconds: number
  perSecond: number
  latencies: Float64Array
}

/** The latency that this share of all operations (0 to 1) did not exceed; 0 when there were none. */
export const percentile = ({ latencies }: Measured, share: number) =>
  latencies.length ? latencies[Math.min(latencies.length - 1, Math.ceil(latencies.length * share) - 1)]! : 0

/** Reads the answers of one connection. */
class Answers {
  /** Bytes of the current body that have not come yet; -1 before its head is whole. */
  #left = -1
  #head = Buffer.alloc(0)
  #body: Buffer[] = []
  /** The head of the answer before, and what it said: where answers are alike, reading each anew costs more than giving it. */
  #known = Buffer.alloc(0)
  #length = 0
  status = 0

  /** Takes what came; true when an answer is whole. `keep` collects its body. */
  take(chunk: Buffer, keep: boolean): boolean {
    let rest = chunk
    if (this.#left < 0) {
      if (this.#head.length) rest = Buffer.concat([this.#head, chunk])
      const end = rest.indexOf(HEADER_END)
      if (end < 0) {
        this.#head = Buffer.from(rest)
        return false
      }
      if (end !== this.#known.length || rest.compare(this.#known, 0, end, 0, end) !== 0) this.#readHead(Buffer.from(rest.subarray(0, end)))
      if (this.#head.length) this.#head = Buffer.alloc(0)
      if (this.#body.length) this.#body = []
      this.#left = this.#length
      rest = rest.subarray(end + HEADER_END.length)
    }
    this.#left -= rest.length
    if (this.#left < 0) throw new Error('more came than the answer has')
    if (keep) this.#body.push(Buffer.from(rest))
    if (this.#left > 0) return false
    this.#left = -1
    return true
  }

  #readHead(bytes: Buffer<ArrayBuffer>) {
    const head = bytes.toString('latin1')
    this.#known = bytes
    this.status = Number(head.slice(STATUS_AT, STATUS_AT + 3))
    const length = LENGTH.exec(head)
    if (!length && this.status !== 304 && this.status !== 204) throw new Error(`an answer has no content-length: ${head}`)
    this.#length = this.status === 304 || !length ? 0 : Number(length[1])
  }

  /** The body that was kept. */
  text(): string {
    return Buffer.concat(this.#body).toString()
  }
}

interface Lane {
  answers: Answers
  operation: Operation | null
  step: number
  startedMs: number
  sentMs: number
}

/** A load under way. */
class Run {
  readonly #load: Load
  readonly #latencies = new Float64Array(OPERATIONS_MAX)
  readonly #lanes = new Set<Socket<Lane>>()
  readonly #over = Promise.withResolvers<void>()
  /** Operations that are done, that `next` has been asked for, and that are under way. */
  #done = 0
  #asked = 0
  #busy = 0
  #startedMs = 0
  #endedMs = 0

  constructor(load: Load) {
    this.#load = load
  }

  async measure(): Promise<Measured> {
    const watch = setInterval(() => this.#watch(), WATCH_MS)
    try {
      await Promise.all(Array.from({ length: this.#load.connections }, () => this.#connect()))
      this.#startedMs = performance.now()
      for (const socket of this.#lanes) this.#begin(socket, this.#startedMs)
      await this.#over.promise
    } finally {
      clearInterval(watch)
      for (const socket of this.#lanes) {
        socket.data.operation = null
        socket.end()
      }
    }
    const seconds = (this.#endedMs - this.#startedMs) / 1000
    const latencies = this.#latencies.slice(0, this.#done).sort()
    return { operations: this.#done, seconds, perSecond: this.#done / seconds, latencies }
  }

  #connect() {
    return Bun.connect<Lane>({
      hostname: '127.0.0.1',
      port: this.#load.port,
      data: { answers: new Answers(), operation: null, step: 0, startedMs: 0, sentMs: 0 },
      socket: {
        open: (socket) => void this.#lanes.add(socket),
        data: (socket, chunk) => {
          try {
            this.#received(socket, chunk)
          } catch (error) {
            this.#over.reject(error)
          }
        },
        error: (_, error) => this.#over.reject(error),
        close: (socket) => {
          if (socket.data.operation) this.#over.reject(new Error('the server closed a connection'))
        },
      },
    })
  }

  /** Begins the next operation on a connection; when there is none, and none is under way, the run is over. */
  #begin(socket: Socket<Lane>, nowMs: number) {
    const { maxMs, until, next } = this.#load
    const isOver = nowMs - this.#startedMs >= maxMs || this.#done + this.#busy >= OPERATIONS_MAX || until?.aborted
    const operation = isOver ? null : next(this.#asked++)
    const { data } = socket
    data.operation = operation
    if (!operation) {
      this.#endedMs = nowMs
      if (this.#busy === 0) this.#over.resolve()
      return
    }
    this.#busy++
    data.step = 0
    data.startedMs = nowMs
    this.#send(socket, operation.first, nowMs)
  }

  #send(socket: Socket<Lane>, bytes: Buffer, nowMs: number) {
    socket.data.sentMs = nowMs
    if (socket.write(bytes) !== bytes.length) this.#over.reject(new Error('a request was too large to be sent at once'))
  }

  #received(socket: Socket<Lane>, chunk: Buffer) {
    const { data } = socket
    const { answers, operation } = data
    if (!operation) throw new Error('an answer came that nobody asked for')
    const status = operation.expect[data.step]
    if (!answers.take(chunk, operation.then !== undefined || answers.status !== status)) return
    if (answers.status !== status)
      throw new Error(`${operation.first.toString().split('\r\n')[0]} (request ${data.step + 1}): ${answers.status} instead of ${status}`)
    const nowMs = performance.now()
    if (++data.step < operation.expect.length) return this.#send(socket, operation.then!(answers.text(), data.step - 1), nowMs)
    this.#latencies[this.#done++] = nowMs - data.startedMs
    this.#busy--
    this.#begin(socket, nowMs)
  }

  #watch() {
    for (const { data } of this.#lanes)
      if (data.operation && performance.now() - data.sentMs > ANSWER_MAX_MS)
        this.#over.reject(new Error(`no answer for ${ANSWER_MAX_MS} ms`))
  }
}

/** Runs a load until its time is over, its operations are used up or it is told to end. Throws on any answer that was not expected. */
export const run = (load: Load): Promise<Measured> => new Run(load).measure()
