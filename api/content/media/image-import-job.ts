/** The job that imports the images that their requests did not wait for. */
import { eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { withdraw } from '../../jobs/queue.ts'
import type { Services } from '../../outside/services.ts'
import type { JobKind, Running } from '../../jobs/kind.ts'
import type { ImageEntity } from '../../http/route.ts'
import { tellProduct } from '../../catalog/told.ts'
import { IMPORT_IMAGES } from './image-import.ts'
import { importerOf } from './image-importer.ts'
import { FILE_MAX_BYTES } from './keeping.ts'
import { listed, IMAGE_FIELDS, replaced, type Addresses } from './image-fields.ts'
import { noteUses } from './usage.ts'

/** Another server has this long to send one image. */
const FETCH_MAX_MS = 20_000
/** Images that are shown together: what a crash costs, and what takes a transaction. */
const BATCH = 10

const subjectOf = (subject: string) => subject.split('/') as [ImageEntity, string]

async function shownBy(db: Reader, entity: ImageEntity, id: string): Promise<Addresses> {
  const { table, column } = IMAGE_FIELDS[entity]
  const [row] = await db.select({ shown: column }).from(table).where(eq(table.id, id))
  return row?.shown
}

/** An image that can't be had stays the URL that it was, and nobody is bothered: the store shows it from where it is. */
export function importImages(services: Pick<Services, 'files' | 'fetchPublic' | 'registry'>): JobKind {
  const importer = importerOf(services)

  /** Takes in some of what something shows; what is left, for later. */
  async function takeIn({ store, storeId, environment, subject, clock, held, signal }: Running, sources: readonly string[]) {
    const owner = { storeId, environment }
    const [entity, id] = subjectOf(subject)
    const limits = { maxBytes: FILE_MAX_BYTES, mayWait: true, maxMs: FETCH_MAX_MS, until: Infinity, signal }
    const taken = await importer.take(store.read, owner, sources, clock.id, limits)
    try {
      await store.write(async (tx) => {
        await held(tx)
        const shown = await shownBy(tx, entity, id)
        const now = clock.now().toISOString()
        // What is no longer shown is not kept either.
        const wanted = importer.foreign(owner, listed(shown)).filter((source) => sources.includes(source))
        const next = replaced(shown, await importer.settle(tx, owner, wanted, taken.kept, now))
        if (JSON.stringify(next) === JSON.stringify(shown)) return
        const { table, field } = IMAGE_FIELDS[entity]
        await tx
          .update(table)
          .set({ [field]: next, updatedAt: now })
          .where(eq(table.id, id))
        await noteUses(tx, owner, entity, id, next)
        if (entity === 'product') await tellProduct(tx, { clock, now }, 'product.updated', id)
      })
    } finally {
      await importer.drop(store.read, owner, taken.kept)
    }
    return taken
  }

  return {
    // Hosts that hang keep no other jobs from being run.
    concurrency: 2,
    retriesMs: [60_000, 600_000, 3_600_000, 21_600_000],
    async run(job) {
      const [entity, id] = subjectOf(job.subject)
      const foreign = importer.foreign(job, listed(await shownBy(job.store.read, entity, id)))
      let error: string | null = null
      for (let i = 0; i < foreign.length && !job.signal.aborted; i += BATCH) {
        const taken = await takeIn(job, foreign.slice(i, i + BATCH))
        if (taken.left.length) error = taken.error ?? error ?? 'its host did not answer just now'
      }
      if (job.signal.aborted) return 'interrupted'
      if (error) throw new Error(error)
    },
    givenUp: async (tx, _, subject) => void (await withdraw(tx, IMPORT_IMAGES, subject)),
  }
}
