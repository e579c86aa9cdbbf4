/** The script of the console in the encodings that clients take. */
import { Worker } from 'node:worker_threads'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { encodingFor, type Encoding } from '../values/accept.ts'

export interface ConsoleScript {
  /** Changes with the script. */
  version: string
  br: Uint8Array
  gzip: Uint8Array
}

/** Makes the script in a thread of its own. */
export function makeScript(): Promise<ConsoleScript> {
  const worker = new Worker(new URL('./console-bundle.ts', import.meta.url))
  return new Promise<ConsoleScript>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`the script of the console was not made (${code})`)))
  }).finally(() => worker.terminate())
}

const MADE: ReadonlySet<Encoding> = new Set(['br', 'gzip'])

/** The script as the `Accept-Encoding` of a request wants it, and the headers that say how it is. */
export async function encodedFor({ br, gzip }: ConsoleScript, accepted: string | null) {
  const vary = { vary: 'accept-encoding' }
  const encoding = encodingFor(accepted, MADE)
  if (encoding === 'br') return { bytes: br, headers: { ...vary, 'content-encoding': 'br' } }
  if (encoding === 'gzip') return { bytes: gzip, headers: { ...vary, 'content-encoding': 'gzip' } }
  return { bytes: await promisify(gunzip)(gzip), headers: vary }
}
