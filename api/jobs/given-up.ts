/** Jobs that were given up, in all stores: what `stoa doctor` tells of. */
import { desc, isNotNull } from 'drizzle-orm'
import type { Registry } from '../../db/control/registry.ts'
import { peekStores } from '../../db/peek.ts'
import { jobs } from '../../db/store/store.ts'

/** As many of one store as anybody reads. */
const PER_STORE_MAX = 20

/** The jobs that were given up, the newest of each store first. */
export const givenUp = (registry: Registry) => {
  const { kind, subject, error, failedAt } = jobs
  return peekStores(registry, (db) =>
    db.select({ kind, subject, error }).from(jobs).where(isNotNull(failedAt)).orderBy(desc(failedAt)).limit(PER_STORE_MAX),
  )
}
