/**
 * Files in an S3 store instead of the data folder (document 4, `S3_*`). Bun signs the addresses; the requests are ours, so that each has an
 * end, is tried again where that helps, and says what was wrong.
 */
import { open } from 'node:fs/promises'
import { S3Client } from 'bun'

/** Where an S3 store is, and who may write to it. */
export interface BucketPlace {
  /** Its URL without the bucket and without a slash at the end. */
  endpoint: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
}

/** Where files are kept: in an S3 store, or, without one, in the data folder. */
export interface FilesPlace {
  dataDir: string
  s3: BucketPlace | null
}

/** The S3 store did not do what it was asked for. Nothing is known to be wrong with the request: worth another try. */
export class BucketError extends Error {}

/** An object as it is read: its size in bytes, and its bytes as they come. */
export interface Stored {
  size: number
  body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>
}

interface Listed {
  key: string
  size: number
  at: Date
}

/** Until the next bytes of an answer come; what is sent has a second more for each so many. */
const ANSWER_MAX_MS = 10_000
const LEAST_BYTES_PER_SECOND = 64 * 1024
const TRIES = 3
const PAUSE_MS = 150
/** Signed addresses are used at once; clocks differ by minutes. */
const SIGNED_FOR_S = 900
/** Objects up to this size are read whole: a connection to the store is free again before a slow client has its answer. */
const WHOLE_MAX_BYTES = 256 * 1024
/** The largest object that is saved to a file. */
const SAVED_MAX_BYTES = 4 * 1024 ** 3
/** Of answers that are no objects so much is read. */
const HEAD_MAX_CHARS = 64 * 1024
/** Objects that are written or removed at once. */
const AT_ONCE = 8

/** The region that a store's address names, as providers write it; `us-east-1` is what the others take. */
export function regionOf(endpoint: string): string {
  const { hostname } = new URL(endpoint)
  if (hostname.endsWith('.r2.cloudflarestorage.com')) return 'auto'
  return /(?:^|\.)s3[.-](?:dualstack\.)?([a-z]{2,}(?:-[a-z0-9]+)+)\./.exec(hostname)?.[1] ?? 'us-east-1'
}

/** It does not answer: who waits for it has waited long enough. */
class Late extends Error {}

/** How long a request is waited for: anew for each piece that comes, and longer while something is sent. */
class Waiting {
  #timer: Timer | undefined

  constructor(
    readonly maxMs: number,
    readonly late: () => void,
  ) {}

  begin(sentBytes = 0) {
    this.end()
    this.#timer = setTimeout(this.late, this.maxMs + (sentBytes / LEAST_BYTES_PER_SECOND) * 1_000)
  }

  end() {
    clearTimeout(this.#timer)
  }
}

interface Sending {
  body?: Uint8Array<ArrayBuffer> | Blob
  type?: string
}

export class Bucket {
  readonly #client: S3Client
  readonly #place: string

  constructor(
    { endpoint, bucket, accessKeyId, secretAccessKey }: BucketPlace,
    readonly answerMaxMs = ANSWER_MAX_MS,
  ) {
    this.#client = new S3Client({ endpoint, bucket, accessKeyId, secretAccessKey, region: regionOf(endpoint) })
    this.#place = `${bucket} at ${endpoint}`
  }

  /** Keeps an object, whole, whatever was there. */
  async put(key: string, body: Uint8Array<ArrayBuffer> | Blob, type = 'application/octet-stream'): Promise<void> {
    await this.#ask('PUT', key, { body, type }, async (response) => void (await headOf(response)))
  }

  /** An object; null when there is none. A large one comes as a stream, which breaks with a `BucketError` when it is cut off. */
  get(key: string): Promise<Stored | null> {
    return this.#ask('GET', key, {}, async (response, waiting) => {
      const size = sizeIn(response, key)
      if (size > WHOLE_MAX_BYTES) return { size, body: this.#told(response.body!, key, waiting) }
      const body = new Uint8Array(await response.arrayBuffer())
      if (body.length !== size) throw new Error(`${key} was cut off`)
      return { size, body }
    })
  }

  /** Writes an object to a file, trying again when it is cut off; false when there is none. */
  async save(key: string, path: string): Promise<boolean> {
    const saved = await this.#ask('GET', key, {}, async (response, waiting) => {
      const size = sizeIn(response, key)
      if (size > SAVED_MAX_BYTES) throw Object.assign(new Error(`${key} is larger than anything that is kept`), { status: 413 })
      const file = await open(path, 'w')
      let bytes = 0
      try {
        // As long as something comes it is waited for.
        for await (const piece of response.body ?? []) {
          waiting.begin()
          bytes += piece.length
          if (bytes > size) break
          await file.writeFile(piece)
        }
      } finally {
        await file.close()
      }
      if (bytes !== size) throw new Error(`${key} was cut off`)
      return true
    })
    return saved ?? false
  }

  /** The size of an object in bytes; null when there is none. */
  size(key: string): Promise<number | null> {
    return this.#ask('HEAD', key, {}, async (response) => sizeIn(response, key))
  }

  async remove(key: string): Promise<void> {
    await this.#ask('DELETE', key, {}, async (response) => void (await headOf(response)))
  }

  /** A stream that waits for each piece as long as for an answer. Its failure names the object: Bun's own has the signed address in it. */
  #told(from: ReadableStream<Uint8Array>, key: string, waiting: Waiting): ReadableStream<Uint8Array> {
    const reader = from.getReader()
    return new ReadableStream({
      pull: async (controller) => {
        waiting.begin()
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch {
          controller.error(new BucketError(`the S3 store ${this.#place} failed: ${key} was cut off`))
        } finally {
          waiting.end()
        }
      },
      cancel: () => reader.cancel().catch(() => {}),
    })
  }

  /** All objects whose keys begin with a prefix, in the order of their keys. */
  async *list(prefix: string): AsyncGenerator<Listed> {
    for (let startAfter: string | undefined; ;) {
      const { contents = [], isTruncated } = await this.#page(prefix, startAfter)
      for (const { key, size = 0, lastModified } of contents) {
        // What is listed is removed, too: of nobody else, and not for ever.
        if (!key.startsWith(prefix) || (startAfter !== undefined && key <= startAfter))
          throw new BucketError(`the S3 store ${this.#place} failed: it lists what it was not asked for`)
        startAfter = key
        yield { key, size, at: new Date(lastModified ?? Date.now()) }
      }
      if (!isTruncated || !contents.length) return
    }
  }

  /** Whether there is an object whose key begins with a prefix. */
  async has(prefix: string): Promise<boolean> {
    return !(await this.list(prefix).next()).done
  }

  /** Removes all objects whose keys begin with a prefix. */
  async removeAll(prefix: string): Promise<void> {
    await inParts(this.list(prefix), ({ key }) => this.remove(key))
  }

  /** A page of a list. Bun's own request has no end: this one is waited for no longer than for others. */
  async #page(prefix: string, startAfter?: string) {
    return this.#again(async () => {
      let timer: Timer
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Late('it does not answer')), this.answerMaxMs)
      })
      const page = this.#client.list({ prefix, ...(startAfter && { startAfter }) })
      page.catch(() => {})
      return Promise.race([page, late]).finally(() => clearTimeout(timer))
    })
  }

  /** Asks for an object, and has `read` take the answer; null when there is none. */
  #ask<T>(
    method: 'GET' | 'HEAD' | 'PUT' | 'DELETE',
    key: string,
    { body, type }: Sending,
    read: (response: Response, waiting: Waiting) => Promise<T>,
  ): Promise<T | null> {
    return this.#again(async () => {
      const over = new AbortController()
      const waiting = new Waiting(this.answerMaxMs, () => over.abort(new Late('it does not answer')))
      waiting.begin(body instanceof Blob ? body.size : body?.length)
      try {
        const headers = { ...(type && { 'content-type': type }) }
        const response = await fetch(this.#client.presign(key, { method, expiresIn: SIGNED_FOR_S }), {
          ...{ method, headers, redirect: 'manual' as const, decompress: false, signal: over.signal },
          ...(body && { body }),
        })
        if (!response.ok) {
          const code = await codeOf(response)
          if (response.status === 404 && method !== 'PUT' && code !== 'NoSuchBucket') return null
          throw Object.assign(new Error(`${response.status}${code && ` ${code}`}`), { status: response.status })
        }
        return await read(response, waiting)
      } finally {
        waiting.end()
      }
    })
  }

  async #again<T>(work: () => Promise<T>): Promise<T> {
    for (let tried = 1; ; tried++) {
      try {
        return await work()
      } catch (error) {
        const { message, status, code } = error as { message: string; status?: number; code?: string }
        const isFinal = error instanceof Late || (status !== undefined && status < 500 && status !== 429)
        if (tried < TRIES && !isFinal) await Bun.sleep(PAUSE_MS * 4 ** (tried - 1))
        else
          throw new BucketError(`the S3 store ${this.#place} failed: ${code && !message.includes(code) ? `${code}: ` : ''}${message}`, {
            // Bun's own error has the signed address in it.
            cause: { code },
          })
      }
    }
  }
}

/** The first bytes of an answer, as text; what comes behind them is left. */
async function headOf(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let next = await reader?.read(); next && !next.done; next = await reader!.read()) {
    text += decoder.decode(next.value, { stream: true })
    if (text.length > HEAD_MAX_CHARS) {
      await reader!.cancel()
      break
    }
  }
  return text
}

/** The code in an S3 store's refusal; empty when it names none. */
const codeOf = async (response: Response) => /<Code>([\w.-]{1,80})<\/Code>/.exec(await headOf(response))?.[1] ?? ''

/** The size that an answer says an object has. Throws for what is no answer of an S3 store. */
function sizeIn({ headers }: Response, key: string): number {
  const size = /^\d{1,13}$/.test(headers.get('content-length') ?? '') ? Number(headers.get('content-length')) : NaN
  if (Number.isNaN(size)) throw new Error(`${key} came without its size: is there a proxy that packs what it passes on?`)
  if (headers.get('content-type')?.startsWith('text/html'))
    throw new Error(`${key} came as a web page: is there a proxy that asks for a login?`)
  return size
}

/** Does something with each of many, some at once; the first failure ends it, when what has begun is over. */
export async function inParts<T>(all: Iterable<T> | AsyncIterable<T>, work: (one: T) => Promise<unknown>): Promise<void> {
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  for await (const one of all) {
    if (failures.length) break
    const task: Promise<void> = work(one)
      .then(
        () => {},
        (error) => void failures.push(error),
      )
      .finally(() => running.delete(task))
    running.add(task)
    if (running.size >= AT_ONCE) await Promise.race(running)
  }
  await Promise.all(running)
  if (failures.length) throw failures[0]
}
