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

/** The script in one form: one copy, whoever reads it however slowly. */
interface Form {
  bytes: Blob
  headers: Record<string, string>
}

/** Gives the script as an `Accept-Encoding` wants it, with the headers that say how it is. */
export function formsOf({ version, br, gzip }: ConsoleScript) {
  const vary = 'accept-encoding'
  const form = (encoding: 'br' | 'gzip', bytes: Uint8Array): Form => ({
    bytes: new Blob([bytes as BlobPart]),
    headers: { vary, etag: `"${version}-${encoding}"`, 'content-encoding': encoding },
  })
  const forms = { br: form('br', br), gzip: form('gzip', gzip) }
  const plainly = async (): Promise<Form> => ({
    bytes: new Blob([(await promisify(gunzip)(gzip)) as BlobPart]),
    headers: { vary, etag: `"${version}"` },
  })
  let plain: Promise<Form> | undefined
  return (accepted: string | null): Form | Promise<Form> => {
    const encoding = encodingFor(accepted, MADE)
    return encoding === 'br' || encoding === 'gzip' ? forms[encoding] : (plain ??= plainly())
  }
}
