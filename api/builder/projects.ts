/** Which stores have a storefront, and what their hosts serve: rows of the registry. */
import { and, desc, eq, isNotNull, isNull, lt } from 'drizzle-orm'
import { randomInt } from 'node:crypto'
import { newKey } from '../../db/control/keys.ts'
import { STOREFRONT_SCOPES, type KeyRow, type Registry, type Session, type StoreRow } from '../../db/control/registry.ts'
import { apiKeys, deployments, domains, projects, stores } from '../../db/control/tables.ts'

type ProjectRow = typeof projects.$inferSelect
export type DeploymentRow = typeof deployments.$inferSelect

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** A new id: 24 characters that can stand in a host name, 124 random bits. */
export const newDeploymentId = () => `dpl_${Array.from({ length: 24 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')}`

/** The project of a store; undefined when it has none. */
export const projectOf = async (registry: Registry, storeId: string): Promise<ProjectRow | undefined> =>
  (await registry.control.read.select().from(projects).where(eq(projects.storeId, storeId)))[0]

/** Notes that a store has a project, and makes the key that its storefront works with, whose secret nobody gets to know. */
export function addProject(registry: Registry, storeId: string, now: Date): Promise<void> {
  return registry.change(async (tx) => {
    const [known] = await tx.select().from(projects).where(eq(projects.storeId, storeId))
    if (known) return
    const { row } = newKey({ storeId, name: 'Published storefront', environment: 'live', scopes: [...STOREFRONT_SCOPES] }, now)
    await tx.insert(apiKeys).values(row)
    await tx.insert(projects).values({ storeId, keyId: row.id, liveId: null, createdAt: now.toISOString() })
  })
}

/** A store with the key of its storefront, as the session in which that asks the API; null when the store or the project is gone. */
export async function storefrontSession(registry: Registry, storeId: string): Promise<Session | null> {
  const [row] = await registry.control.read
    .select({ store: stores, key: apiKeys })
    .from(projects)
    .innerJoin(stores, eq(stores.id, projects.storeId))
    .innerJoin(apiKeys, eq(apiKeys.id, projects.keyId))
    .where(eq(projects.storeId, storeId))
  return row ? sessionOf(row.store, row.key) : null
}

const sessionOf = (store: StoreRow, key: KeyRow): Session => ({
  store,
  key,
  // Whatever was done to the key: a storefront may no more than this.
  scopes: new Set(STOREFRONT_SCOPES),
  environment: 'live',
})

/** What a host serves: the store's live deployment, or the one that it is named after. */
export interface Hosted {
  storeId: string
  deployment: DeploymentRow
}

/** What the host of a store serves, found by the store's slug; null when there is no such store, or nothing live. */
export async function hostedBySlug(registry: Registry, slug: string): Promise<Hosted | null> {
  const [row] = await registry.control.read
    .select({ storeId: stores.id, deployment: deployments })
    .from(stores)
    .innerJoin(projects, eq(projects.storeId, stores.id))
    .innerJoin(deployments, eq(deployments.id, projects.liveId))
    .where(eq(stores.slug, slug))
  return row ?? null
}

/** What the host of a deployment serves: also one that was replaced, while its files are there. */
export async function hostedById(registry: Registry, id: string): Promise<Hosted | null> {
  const [deployment] = await registry.control.read.select().from(deployments).where(eq(deployments.id, id))
  return deployment ? { storeId: deployment.storeId, deployment } : null
}

/** What a custom domain serves; null when no store has proven that it is its own. */
export async function hostedByDomain(registry: Registry, domain: string): Promise<Hosted | null> {
  const [row] = await registry.control.read
    .select({ storeId: domains.storeId, deployment: deployments })
    .from(domains)
    .innerJoin(projects, eq(projects.storeId, domains.storeId))
    .innerJoin(deployments, eq(deployments.id, projects.liveId))
    .where(and(eq(domains.domain, domain), isNotNull(domains.verifiedAt)))
  return row ?? null
}

/** The custom domain that a store has proven to be its own; null when it has none. */
export async function provenDomain(registry: Registry, storeId: string): Promise<string | null> {
  const [row] = await registry.control.read
    .select({ domain: domains.domain })
    .from(domains)
    .where(and(eq(domains.storeId, storeId), isNotNull(domains.verifiedAt)))
  return row?.domain ?? null
}

/** Notes a deployment that was built. It is served under its own name from now on. */
export function addDeployment(registry: Registry, row: Omit<DeploymentRow, 'replacedAt' | 'closed'>): Promise<void> {
  return registry.change(async (tx) => {
    await tx
      .insert(deployments)
      .values({ ...row, replacedAt: null, closed: false })
      .onConflictDoNothing()
  })
}

/**
 * Has the hosts of a store serve a deployment from now on; the one before stays, to roll back to. False when the store is gone, or they
 * serve another one than `instead`, where that is given.
 */
export function pin(
  registry: Registry,
  { storeId, id, now, instead }: { storeId: string; id: string; now: Date; instead?: string },
): Promise<boolean> {
  return registry.change(async (tx) => {
    const [project] = await tx.select().from(projects).where(eq(projects.storeId, storeId))
    if (!project || (instead && project.liveId !== instead)) return false
    if (project.liveId === id) return true
    const wire = now.toISOString()
    if (project.liveId) await tx.update(deployments).set({ replacedAt: wire }).where(eq(deployments.id, project.liveId))
    await tx.update(deployments).set({ replacedAt: null }).where(eq(deployments.id, id))
    await tx.update(projects).set({ liveId: id }).where(eq(projects.storeId, storeId))
    return true
  })
}

/** Ends a preview: its host answers 410, and its files go later. */
export function closeDeployment(registry: Registry, id: string, now: Date): Promise<void> {
  return registry.change(async (tx) => {
    await tx.update(deployments).set({ closed: true, replacedAt: now.toISOString() }).where(eq(deployments.id, id))
  })
}

const LISTED_MAX = 100
/** The deployments of a store, the newest first. */
export const deploymentsOf = (registry: Registry, storeId: string): Promise<DeploymentRow[]> =>
  registry.control.read
    .select()
    .from(deployments)
    .where(eq(deployments.storeId, storeId))
    .orderBy(desc(deployments.createdAt))
    .limit(LISTED_MAX)

/**
 * The deployment to roll back to: the newest of another commit than the one that is live. Those of the same commit are refreshes, which show
 * the same design with older data.
 */
export async function previousOf(registry: Registry, { storeId, liveId }: ProjectRow): Promise<DeploymentRow | undefined> {
  const rows = await registry.control.read
    .select()
    .from(deployments)
    .where(and(eq(deployments.storeId, storeId), eq(deployments.kind, 'production')))
    .orderBy(desc(deployments.replacedAt))
  const live = rows.find(({ id }) => id === liveId)
  return rows.find(({ replacedAt, commitSha }) => replacedAt !== null && commitSha !== live?.commitSha)
}

/** Deployments that nobody has needed since an instant: all but the newest of what each store can roll back to. */
export async function outlived(registry: Registry, before: string): Promise<DeploymentRow[]> {
  const rows = await registry.control.read
    .select()
    .from(deployments)
    .where(and(isNotNull(deployments.replacedAt), lt(deployments.replacedAt, before)))
    .orderBy(deployments.replacedAt)
    .limit(1_000)
  const kept = new Set<string>()
  for (const storeId of new Set(rows.map((row) => row.storeId))) {
    const project = await projectOf(registry, storeId)
    const previous = project && (await previousOf(registry, project))
    if (previous) kept.add(previous.id)
  }
  return rows.filter(({ id }) => !kept.has(id))
}

/** Forgets a deployment. */
export function removeDeployment(registry: Registry, id: string): Promise<void> {
  return registry.change(async (tx) => {
    await tx.delete(deployments).where(eq(deployments.id, id))
  })
}

/** All stores whose hosts serve something. */
export const liveProjects = (registry: Registry) =>
  registry.control.read
    .select({ storeId: projects.storeId, liveId: projects.liveId, changes: deployments.changes, createdAt: deployments.createdAt })
    .from(projects)
    .innerJoin(deployments, eq(deployments.id, projects.liveId))
    .where(isNull(deployments.replacedAt))
