/** Jobs that were given up, in all stores: what `stoa doctor` tells of. */
import { desc, isNotNull } from 'drizzle-orm'
import type { Registry } from '../../db/control/registry.ts'
import { databaseName, peek } from '../../db/open.ts'
import { jobs } from '../../db/store/store.ts'

/** As many of one store as anybody reads. */
const PER_STORE_MAX = 20

export interface GivenUp {
  storeId: string
  kind: string
  subject: string
  error: string
}

/** The jobs that were given up, the newest of each store first; a database that can't be read, or has an older schema, has none. */
export async function givenUp(registry: Registry): Promise<GivenUp[]> {
  const found: GivenUp[] = []
  for (const { id: storeId } of await registry.listStores())
    for (const environment of ['live', 'sandbox'] as const) {
      const { kind, subject, error, failedAt } = jobs
      const rows = await peek(registry.location, databaseName(storeId, environment), 'store', (db) =>
        db.select({ kind, subject, error }).from(jobs).where(isNotNull(failedAt)).orderBy(desc(failedAt)).limit(PER_STORE_MAX),
      )
      found.push(...(rows ?? []).map((row) => ({ ...row, storeId, error: row.error ?? 'no error' })))
    }
  return found
}
