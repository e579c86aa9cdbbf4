/** An answer made once and given often: a body with its headers, and 304 for those who have it. */
import { matches } from '../http/etag.ts'
import type { Body } from './bodies.ts'

export type Fields = Record<string, string>

/** What can be done with what is only read. */
export const READ = 'GET, HEAD, OPTIONS'
/** What other origins may do: the same. */
export const CORS: Fields = {
  allow: READ,
  'access-control-allow-methods': READ,
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
}

/** Not in a 304: they are about a body. */
const OF_THE_BODY = ['content-length', 'content-type', 'content-encoding']

export class Prepared {
  readonly #etag: string
  // A copy of an answer that is made already takes half the time of one that is made of bytes and an object.
  readonly #whole: Response
  /** The bytes of its body. */
  readonly size: number
  readonly #head: { headers: Headers }
  readonly #unchanged: { status: number; headers: Headers }

  constructor({ content, size, etag }: Body, fields: Fields) {
    this.#etag = etag
    this.size = size
    // The length of a body is told by the server itself.
    this.#head = { headers: new Headers(fields) }
    const headers = new Headers(Object.entries(fields).filter(([name]) => name !== 'content-length'))
    this.#whole = new Response(content instanceof Blob ? content : new Blob([content]), { headers })
    const rest = Object.entries(fields).filter(([name]) => !OF_THE_BODY.includes(name))
    this.#unchanged = { status: 304, headers: new Headers(rest) }
  }

  /** The answer to a GET. */
  get({ headers }: Request): Response {
    return this.#has(headers.get('if-none-match')) ? new Response(null, this.#unchanged) : this.#whole.clone()
  }

  /** The answer to a HEAD. */
  head({ headers }: Request): Response {
    return new Response(null, this.#has(headers.get('if-none-match')) ? this.#unchanged : this.#head)
  }

  answer(request: Request): Response {
    return request.method === 'HEAD' ? this.head(request) : this.get(request)
  }

  /** Whether who asks with this condition has the body. */
  #has(condition: string | null): boolean {
    return condition !== null && matches(condition, this.#etag)
  }
}
