/** The import of images that a request gives by URL: with the request as far as that goes quickly, a job imports the rest. */
import type { Db } from '../../../db/driver.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { Call, ImageEntity, Route } from '../../http/route.ts'
import { ownerOf } from '../../http/auth.ts'
import type { ImageImport } from '../../http/surroundings.ts'
import { importerOf, type Taken } from './image-importer.ts'
import { listed, IMAGE_FIELDS, replaced, type Addresses } from './image-fields.ts'
import { noteUses } from './usage.ts'

/** The job that imports the images that were left; its subject is `{entity}/{id}`. */
export const IMPORT_IMAGES = 'images.take-in'

/** So long a request waits for images, and only for those of at most so many bytes. */
const WAIT_MS = 2_000
const AT_ONCE_BYTES = 5 * 1_048_576

type Body = Record<string, unknown>
type GivenCall = Call<unknown, Body>

const addressesIn = (entity: ImageEntity, { body }: GivenCall) => body[IMAGE_FIELDS[entity].field] as Addresses
const sourcesIn = (entity: ImageEntity, call: GivenCall) =>
  importerOf(call.services).foreign(ownerOf(call), listed(addressesIn(entity, call)))

/** Reads and stores the images that can be had within two seconds. */
async function prepare(entity: ImageEntity, call: GivenCall): Promise<Taken | undefined> {
  const sources = sourcesIn(entity, call)
  if (!sources.length) return undefined
  const owner = ownerOf(call)
  const importer = importerOf(call.services)
  const limits = { maxBytes: AT_ONCE_BYTES, mayWait: false, maxMs: WAIT_MS, until: Date.now() + WAIT_MS }
  const taken = await importer.take(call.db, owner, sources, call.clock.id, limits)
  call.after(({ read }) => importer.drop(read, owner, taken.kept), 'always')
  return taken
}

/** Runs a handler with the library's addresses of the images that are there, and enqueues a job for those that were left. */
async function handle(entity: ImageEntity, call: GivenCall, handler: Route['handler']): Promise<unknown> {
  const given = addressesIn(entity, call)
  if (!listed(given).length) return handler(call)
  const owner = ownerOf(call)
  const { kept, left } = (call.prepared as Taken | undefined) ?? { kept: [], left: [] }
  return call.write(async (tx) => {
    const own = await importerOf(call.services).settle(tx, owner, sourcesIn(entity, call), kept, call.now)
    const addresses = replaced(given, own)
    const body = { ...call.body, [IMAGE_FIELDS[entity].field]: addresses }
    const result = await handler({ ...call, body, write: <T>(fn: (tx: Db) => Promise<T>) => fn(tx) })
    const { id } = ((result as { event?: unknown }).event ?? result) as { id: string }
    await noteUses(tx, owner, entity, id, addresses)
    if (left.length) await enqueue(tx, call, { kind: IMPORT_IMAGES, subject: `${entity}/${id}`, dueAt: call.now })
    return result
  })
}

/** The import of images given by URL, for routes that say `images`. */
export const imageImport: ImageImport = { prepare, handle }
