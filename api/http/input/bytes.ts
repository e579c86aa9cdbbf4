/** Reading the bytes of a request: within a size, within a time, and within what its store may take of the process's memory. */
import { Refusal } from '../../values/refusal.ts'

/** How much of a request is read, and for how long. */
interface Bounds {
  maxBytes: number
  /** The refusal of a request that is larger than `maxBytes`. */
  tooLarge(): Refusal
  /** The share of memory that it takes: a store's id, or `STRANGERS`. */
  share: string
  deadlineMs: number
  /** How long it may take for the next `PROGRESS_BYTES` to arrive; `PROGRESS_MS` unless told otherwise. */
  progressMs?: number
}

/** The share of requests without a key. */
export const STRANGERS = 'strangers'
/** The largest declared size of a body, in bytes, that is read in one go and counts for no share. */
const SMALL_MAX_BYTES = 65_536
/** The size of the blocks in which small pieces are gathered. */
const BLOCK_BYTES = 32_768
/** The most bytes that all requests that are being read may hold together, in this process. */
const ALL_MAX_BYTES = 192 * 1_048_576
/** The most bytes that those of one store may hold: a slow or greedy client stops its own store's uploads, and no other's. */
const SHARE_MAX_BYTES = 64 * 1_048_576
/** In each stretch of so many milliseconds, so much has to arrive. */
const PROGRESS_MS = 15_000
const PROGRESS_BYTES = 16_384

/** So many pieces may be of any size; all together then have this much each at least. */
const PIECES_FREE = 1_000
const PIECE_LEAST_BYTES = 64

let all = 0
const shares = new Map<string, number>()

/** Counts bytes for a share, or gives them back. */
function hold(share: string, bytes: number) {
  all += bytes
  const taken = (shares.get(share) ?? 0) + bytes
  if (taken) shares.set(share, taken)
  else shares.delete(share)
}

/** The rest of the request is not wanted: the connection can't be used for another. */
const CLOSE = { connection: 'close' }
const full = () => new Refusal(503, 'too much is being received, try again', {}, { 'retry-after': '5', ...CLOSE })
const tooSmall = () => new Refusal(400, 'the body comes in pieces that are too small', {}, CLOSE)
const tooSlow = () => new Refusal(408, 'the body came too slowly', {}, CLOSE)

/** Rejects when the body takes longer than it may; `arrived` tells how much has come so far. */
function hurry({ deadlineMs, progressMs = PROGRESS_MS }: Bounds, arrived: () => number) {
  const { promise, reject } = Promise.withResolvers<never>()
  // Whoever waits for it is not always there when it comes.
  promise.catch(() => {})
  const started = performance.now()
  let before = 0
  const late = () => {
    if (performance.now() - started >= deadlineMs || arrived() - before < PROGRESS_BYTES) return reject(tooSlow())
    before = arrived()
    timer = setTimeout(late, wait())
  }
  const wait = () => Math.max(1, Math.min(progressMs, started + deadlineMs - performance.now()))
  let timer = setTimeout(late, wait())
  return { late: promise, stop: () => clearTimeout(timer) }
}

/** The bytes of a request; an empty list when it has none. Refuses with `tooLarge()`, 408 or 503, and reads no further then. */
export async function readBytes(request: Request, bounds: Bounds): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared !== null && Number(declared) > bounds.maxBytes) throw bounds.tooLarge()
  if (declared === null || Number(declared) > SMALL_MAX_BYTES) return request.body ? pieces(request.body, bounds) : new Uint8Array()
  // What is small has its deadline alone.
  const { late, stop } = hurry({ ...bounds, progressMs: bounds.deadlineMs }, () => PROGRESS_BYTES)
  try {
    return new Uint8Array(await Promise.race([request.arrayBuffer(), late]))
  } finally {
    stop()
  }
}

/** The received bytes, in blocks: pieces that are small and many cost no more than their bytes. */
class Gathered {
  readonly #blocks: Uint8Array[] = []
  #block = new Uint8Array(0)
  #filled = 0
  size = 0

  add(piece: Uint8Array) {
    this.size += piece.byteLength
    if (piece.byteLength >= BLOCK_BYTES / 4) {
      this.#close()
      this.#blocks.push(piece)
      return
    }
    if (this.#filled + piece.byteLength > this.#block.byteLength) {
      this.#close()
      this.#block = new Uint8Array(BLOCK_BYTES)
    }
    this.#block.set(piece, this.#filled)
    this.#filled += piece.byteLength
  }

  #close() {
    if (this.#filled) this.#blocks.push(this.#block.subarray(0, this.#filled))
    this.#block = new Uint8Array(0)
    this.#filled = 0
  }

  get whole(): Uint8Array {
    this.#close()
    return Buffer.concat(this.#blocks)
  }
}

async function pieces(body: ReadableStream<Uint8Array>, bounds: Bounds): Promise<Uint8Array> {
  const { maxBytes, tooLarge, share } = bounds
  const reader = body.getReader()
  const gathered = new Gathered()
  let ended = false
  let count = 0
  const { late, stop } = hurry(bounds, () => gathered.size)
  const read = async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || ended) return gathered.whole
      hold(share, value.byteLength)
      gathered.add(value)
      if (gathered.size > maxBytes) throw closing(tooLarge())
      if (all > ALL_MAX_BYTES || shares.get(share)! > SHARE_MAX_BYTES) throw full()
      // Each piece is a turn of the event loop.
      if (++count > PIECES_FREE && gathered.size < count * PIECE_LEAST_BYTES) throw tooSmall()
    }
  }
  try {
    return await Promise.race([read(), late])
  } catch (error) {
    // The cancellation may never end while pieces still arrive, so nobody waits for it.
    reader.cancel().catch(() => {})
    throw error
  } finally {
    ended = true
    stop()
    hold(share, -gathered.size)
  }
}

/** The same refusal, on a connection that ends with it. */
const closing = ({ status, message, extra, headers }: Refusal) => new Refusal(status, message, extra, { ...headers, ...CLOSE })
