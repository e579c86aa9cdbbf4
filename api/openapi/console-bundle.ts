/**
 * A worker thread that makes the script of the console and ends: unpacking and compressing it takes a second and 40 MB, which the process
 * that answers requests neither waits for nor keeps.
 */
import { parentPort } from 'node:worker_threads'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import scalar from '@scalar/fastify-api-reference'
import type { ConsoleScript } from './console-script.ts'

/** One level more costs a second and saves 3 %. */
const BROTLI_QUALITY = 5

/**
 * Runs before anything of Scalar's, as it is written here. What would outlive the page is kept in memory, whatever Scalar's settings are.
 * Its validator does not try to compile code, which the page's policy refuses. And optional headers can be switched on: Scalar would
 * send the examples of all, so that every change had an `If-Match` that nothing matches.
 */
const BEFORE = `{
  for (const name of ['localStorage', 'sessionStorage']) {
    const kept = new Map()
    const value = {
      getItem: (key) => kept.get(String(key)) ?? null,
      setItem: (key, value) => void kept.set(String(key), String(value)),
      removeItem: (key) => void kept.delete(String(key)),
    }
    Object.defineProperty(window, name, { value })
  }
  globalThis.__zod_globalConfig = { jitless: true }
  const ask = window.fetch
  window.fetch = async (...asked) => {
    const answer = await ask(...asked)
    if (!answer.ok) return answer
    // The first that is answered is the document.
    window.fetch = ask
    const document = await answer.json()
    for (const header of Object.values(document.components.parameters)) {
      header.examples = { default: { value: header.example, 'x-disabled': true } }
      delete header.example
    }
    return new Response(JSON.stringify(document), { headers: { 'content-type': 'application/json' } })
  }
}
`

/** A Fastify server, as far as Scalar's plugin for it needs one to say what it serves. */
interface Fastify {
  initialConfig: object
  hasPlugin(name: string): boolean
  route(route: { url: string; handler(request: object, reply: object): void }): void
}

/** Scalar's browser bundle, as its plugin for Fastify serves it: the one package of theirs that brings the bundle without its sources. */
function bundled(): string {
  let script: string | undefined
  const server: Fastify = {
    initialConfig: {},
    hasPlugin: () => false,
    route({ url, handler }) {
      const reply = { header: () => reply, send: (body: string) => void (script = body) }
      if (url.endsWith('.js')) handler({}, reply)
    },
  }
  const plugin = scalar as unknown as (server: Fastify, options: object, done: () => void) => void
  plugin(server, { configuration: { url: '/' } }, () => {})
  if (!script) throw new Error('@scalar/fastify-api-reference serves no script')
  return script.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
}

const bytes = Buffer.from(BEFORE + bundled())
parentPort!.postMessage({
  version: Bun.hash(bytes).toString(36),
  br: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: gzipSync(bytes),
} satisfies ConsoleScript)
