/** Jobs that were given up, in all stores: what `stoa doctor` tells of. */
import { desc, isNotNull } from 'drizzle-orm'
import type { Registry } from '../../db/control/registry.ts'
import { databaseName, openDatabase } from '../../db/open.ts'
import { jobs } from '../../db/store/store.ts'

/** As many of one store as anybody reads. */
const PER_STORE_MAX = 20

export interface GivenUp {
  storeId: string
  kind: string
  subject: string
  error: string
}

/** The jobs that were given up, the newest of each store first; a database that can't be opened has none. */
export async function givenUp(registry: Registry): Promise<GivenUp[]> {
  const found: GivenUp[] = []
  for (const { id: storeId } of await registry.listStores())
    for (const environment of ['live', 'sandbox'] as const) {
      const store = await openDatabase(registry.location, databaseName(storeId, environment), 'store').catch(() => null)
      if (!store) continue
      const { kind, subject, error, failedAt } = jobs
      const rows = await store.read
        .select({ kind, subject, error })
        .from(jobs)
        .where(isNotNull(failedAt))
        .orderBy(desc(failedAt))
        .limit(PER_STORE_MAX)
        .finally(() => store.close())
      found.push(...rows.map((row) => ({ ...row, storeId, error: row.error ?? 'no error' })))
    }
  return found
}
