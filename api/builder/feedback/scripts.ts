/** The scripts of a review, made at their first use: that of its page, and that of the preview in its frame. */
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { formsOf } from '../../openapi/console-script.ts'

/** One level more costs time and saves 3 %. */
const BROTLI_QUALITY = 5
const YEAR_SECONDS = 31_536_000

async function make(file: string) {
  const entrypoint = new URL(file, import.meta.url).pathname
  // Within a function of its own: what it calls its parts is no name in the page that it is put into.
  const { outputs } = await Bun.build({ entrypoints: [entrypoint], target: 'browser', format: 'iife', minify: true })
  const bytes = Buffer.from(await outputs[0]!.arrayBuffer())
  const version = Bun.hash(bytes).toString(36)
  const br = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
  return { version, formFor: formsOf({ version, br, gzip: gzipSync(bytes) }) }
}

class ReviewScript {
  #made: ReturnType<typeof make> | undefined

  constructor(readonly file: string) {}

  /** What failed is tried again by the next request. */
  get #ready() {
    return (this.#made ??= make(this.file).catch((error) => ((this.#made = undefined), Promise.reject(error))))
  }

  /** Changes with the script. */
  async version(): Promise<string> {
    return (await this.#ready).version
  }

  /** Answers a request for the script; one for this very version may be kept. */
  async answer(request: Request): Promise<Response> {
    const { version, formFor } = await this.#ready
    const { bytes, headers } = await formFor(request.headers.get('accept-encoding'))
    const isKept = request.url.endsWith(`?v=${version}`)
    return new Response(request.method === 'HEAD' ? null : bytes, {
      headers: {
        ...headers,
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': isKept ? `public, max-age=${YEAR_SECONDS}, immutable` : 'public, no-cache',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      },
    })
  }
}

export const frameScript = new ReviewScript('frame-script.ts')
export const pageScript = new ReviewScript('page-script.ts')
