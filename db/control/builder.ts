/** What the registry knows of a store's storefront and can't be made again: its key, and the custom domain that is its own. */
import { and, eq, or } from 'drizzle-orm'
import type { Db, Reader } from '../driver.ts'
import { apiKeys, deployments, domains, projects } from './tables.ts'

export interface Builder {
  project: Pick<typeof projects.$inferSelect, 'keyId' | 'createdAt'>
  domain: Omit<typeof domains.$inferSelect, 'storeId'> | null
}

/** Of one store; null when it has no storefront. */
export async function builderOf(db: Reader, storeId: string): Promise<Builder | null> {
  const [project] = await db.select().from(projects).where(eq(projects.storeId, storeId))
  if (!project) return null
  const [domain] = await db.select().from(domains).where(eq(domains.storeId, storeId))
  const { storeId: _, ...own } = domain ?? { storeId }
  return { project: { keyId: project.keyId, createdAt: project.createdAt }, domain: domain ? (own as Builder['domain']) : null }
}

/** More than a store ever has: what was replaced is cleared away after a day. */
const DEPLOYMENTS_MAX = 10_000
/** The ids of the deployments that are a store's own. */
export const deploymentsOf = async (db: Reader, storeId: string): Promise<string[]> => {
  const rows = await db.select({ id: deployments.id }).from(deployments).where(eq(deployments.storeId, storeId)).limit(DEPLOYMENTS_MAX)
  return rows.map(({ id }) => id)
}

/** Older than any look at a domain: the next round takes it. */
const LONG_AGO = new Date(0).toISOString()

/**
 * Gives a store that comes back what it had. Nothing is live until it is published. Its domain comes back as a claim alone, since an archive
 * proves nothing: DNS is asked within minutes, where the record still stands. One that is another's by now stays so.
 */
export async function adoptBuilder(tx: Db, storeId: string, { project: { keyId, createdAt }, domain }: Builder) {
  const [key] = await tx
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.id, keyId), eq(apiKeys.storeId, storeId)))
  if (!key) return
  await tx.insert(projects).values({ storeId, keyId, liveId: null, createdAt })
  if (!domain) return
  const [taken] = await tx
    .select()
    .from(domains)
    .where(or(eq(domains.domain, domain.domain), eq(domains.storeId, storeId)))
  if (taken) return
  const claim = { domain: domain.domain, token: domain.token, createdAt: new Date().toISOString() }
  await tx.insert(domains).values({ ...claim, storeId, status: 'Pending Verification', verifiedAt: null, checkedAt: LONG_AGO })
}
