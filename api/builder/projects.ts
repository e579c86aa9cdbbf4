/** Which stores have a storefront, and what their hosts serve: rows of the registry. */
import { and, desc, eq, exists, gt, inArray, isNotNull, isNull, lt, ne, or } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { newKey } from '../../db/control/keys.ts'
import { STOREFRONT_SCOPES, type KeyRow, type Registry, type Session, type StoreRow } from '../../db/control/registry.ts'
import { apiKeys, deployments, domains, projects, stores } from '../../db/control/tables.ts'

type ProjectRow = typeof projects.$inferSelect
export type DeploymentRow = typeof deployments.$inferSelect

/** A deployment as a store names it: an id that came with a backup may be another store's, so that none does anything by itself. */
interface Named {
  storeId: string
  id: string
}
const isIt = ({ storeId, id }: Named) => and(eq(deployments.id, id), eq(deployments.storeId, storeId))

/** Whether a deployment of this id is another store's. */
export async function isElsewhere({ control }: Registry, { storeId, id }: Named): Promise<boolean> {
  const [row] = await control.read.select({ storeId: deployments.storeId }).from(deployments).where(eq(deployments.id, id))
  return row !== undefined && row.storeId !== storeId
}

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

/** The deployment that the hosts of a project serve. */
const isLive = and(eq(deployments.id, projects.liveId), eq(deployments.storeId, projects.storeId))

/** What the host of a store serves, found by the store's slug; null when there is no such store, or nothing live. */
export async function hostedBySlug(registry: Registry, slug: string): Promise<Hosted | null> {
  const [row] = await registry.control.read
    .select({ storeId: stores.id, deployment: deployments })
    .from(stores)
    .innerJoin(projects, eq(projects.storeId, stores.id))
    .innerJoin(deployments, isLive)
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
    .innerJoin(deployments, isLive)
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

/** Notes a deployment that was built. It is served under its own name from now on. Throws when it is another store's. */
export function addDeployment(registry: Registry, row: Omit<DeploymentRow, 'replacedAt' | 'closed'>): Promise<void> {
  return registry.change(async (tx) => {
    await tx
      .insert(deployments)
      .values({ ...row, replacedAt: null, closed: false })
      .onConflictDoNothing()
    if (!(await tx.$count(deployments, isIt(row)))) throw new Error(`the deployment ${row.id} is another store's`)
  })
}

/**
 * Has the hosts of a store serve a deployment of its own from now on; the one before stays, to roll back to. False when the store or the
 * deployment is gone, or they serve another one than `instead`, where that is given.
 */
export function pin(registry: Registry, { storeId, id, now, instead }: Named & { now: Date; instead?: string }): Promise<boolean> {
  return registry.change(async (tx) => {
    const [project] = await tx.select().from(projects).where(eq(projects.storeId, storeId))
    if (!project || (instead && project.liveId !== instead)) return false
    if (project.liveId === id) return true
    if (!(await tx.$count(deployments, isIt({ storeId, id })))) return false
    const wire = now.toISOString()
    if (project.liveId)
      await tx
        .update(deployments)
        .set({ replacedAt: wire })
        .where(isIt({ storeId, id: project.liveId }))
    await tx.update(deployments).set({ replacedAt: null }).where(isIt({ storeId, id }))
    await tx.update(projects).set({ liveId: id }).where(eq(projects.storeId, storeId))
    return true
  })
}

/** Ends a preview of a store: its host answers 410, and its files go later. */
export function closeDeployment(registry: Registry, preview: Named, now: Date): Promise<void> {
  return registry.change(async (tx) => {
    await tx.update(deployments).set({ closed: true, replacedAt: now.toISOString() }).where(isIt(preview))
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
export async function previousOf({ control }: Registry, { storeId, liveId }: ProjectRow): Promise<DeploymentRow | undefined> {
  if (!liveId) return undefined
  const [live] = await control.read
    .select()
    .from(deployments)
    .where(isIt({ storeId, id: liveId }))
  const [previous] = await control.read
    .select()
    .from(deployments)
    .where(
      and(
        ...[eq(deployments.storeId, storeId), eq(deployments.kind, 'production'), eq(deployments.closed, false)],
        ...[isNotNull(deployments.replacedAt), ne(deployments.commitSha, live?.commitSha ?? '')],
      ),
    )
    .orderBy(desc(deployments.replacedAt))
    .limit(1)
  return previous
}

const [DAY_MS, MINUTE_MS] = [86_400_000, 60_000]
/** As many as one round takes away. */
const OUTLIVED_MAX = 1_000

/** What nobody serves any more: replaced a day ago, or built a day ago and never served, such as what was found wanting. */
async function unused({ control }: Registry, before: string): Promise<DeploymentRow[]> {
  const rows = await control.read
    .select({ deployment: deployments })
    .from(deployments)
    .leftJoin(projects, eq(projects.liveId, deployments.id))
    .where(
      or(
        lt(deployments.replacedAt, before),
        and(isNull(deployments.replacedAt), eq(deployments.kind, 'production'), lt(deployments.createdAt, before), isNull(projects.liveId)),
      ),
    )
    .orderBy(deployments.replacedAt)
    .limit(OUTLIVED_MAX)
  return rows.map(({ deployment }) => deployment)
}

/**
 * Refreshes in whose place a newer one of the same commit was served. There may be one a minute, each with all files of the store; nobody
 * goes back to them, and who still looks at a page of them has had time for what it names.
 */
function refreshed({ control }: Registry, before: string): Promise<DeploymentRow[]> {
  const newer = alias(deployments, 'newer')
  const live = control.read.select({ id: projects.liveId }).from(projects).where(eq(projects.storeId, newer.storeId))
  const after = control.read
    .select({ id: newer.id })
    .from(newer)
    .where(
      and(
        ...[eq(newer.storeId, deployments.storeId), eq(newer.commitSha, deployments.commitSha), eq(newer.kind, 'production')],
        or(gt(newer.replacedAt, deployments.replacedAt), inArray(newer.id, live)),
      ),
    )
  return control.read
    .select()
    .from(deployments)
    .where(and(lt(deployments.replacedAt, before), eq(deployments.kind, 'production'), exists(after)))
    .limit(OUTLIVED_MAX)
}

/** Deployments that nobody needs at an instant: neither their visitors, nor who would roll back to them. */
export async function outlived(registry: Registry, now: Date): Promise<DeploymentRow[]> {
  const ago = (ms: number) => new Date(now.getTime() - ms).toISOString()
  const rows = await unused(registry, ago(DAY_MS))
  const kept = new Set<string>()
  for (const storeId of new Set(rows.map((row) => row.storeId))) {
    const project = await projectOf(registry, storeId)
    const previous = project && (await previousOf(registry, project))
    if (previous) kept.add(previous.id)
  }
  const found = new Map(
    [...rows.filter(({ id }) => !kept.has(id)), ...(await refreshed(registry, ago(10 * MINUTE_MS)))].map((row) => [row.id, row]),
  )
  return [...found.values()]
}

/** Forgets a deployment of a store. */
export function removeDeployment(registry: Registry, named: Named): Promise<void> {
  return registry.change(async (tx) => {
    await tx.delete(deployments).where(isIt(named))
  })
}

/** All stores whose hosts serve something. */
export const liveProjects = (registry: Registry) =>
  registry.control.read
    .select({ storeId: projects.storeId, liveId: projects.liveId, changes: deployments.changes, createdAt: deployments.createdAt })
    .from(projects)
    .innerJoin(deployments, isLive)
    .where(isNull(deployments.replacedAt))
