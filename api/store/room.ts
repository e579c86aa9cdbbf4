/** The room that a store has: its quotas of disk and of builds, and what is used of them (document 3's way of the monthly email quota). */
import { asc, count, eq, lte, sql } from 'drizzle-orm'
import { roomOf, type Allowance, type Measured } from '../../db/control/room.ts'
import type { Registry } from '../../db/control/registry.ts'
import { compile, type Db, type Reader } from '../../db/driver.ts'
import type { Environment } from '../../db/open.ts'
import { buildStarts } from '../../db/store/builder.ts'
import { diskUse } from '../../db/store/content.ts'
import type { Owner } from '../outside/files.ts'
import type { Moment } from '../values/clock.ts'
import { LIMITS, type Plan } from '../values/plans.ts'
import { Refusal } from '../values/refusal.ts'

const MB = 1024 * 1024
const DAY_MS = 86_400_000

/** The quotas of a store: what the platform has set, else those of its plan. */
const quotasOf = (plan: Plan, { diskQuotaMb, buildsPerDay }: Allowance) => ({
  diskBytes: (diskQuotaMb ?? LIMITS[plan].diskMb) * MB,
  buildsPerDay: buildsPerDay ?? LIMITS[plan].buildsPerDay,
})

const mediaRow = compile((db) => db.select({ bytes: diskUse.mediaBytes }).from(diskUse).where(eq(diskUse.id, 1)))
/** The bytes of media and attachments of a database: counted as they come and go. */
export const mediaBytes = async (db: Reader): Promise<number> => ((await mediaRow.get(db, {})) as { bytes: number } | undefined)?.bytes ?? 0

const other = (environment: Environment): Environment => (environment === 'live' ? 'sandbox' : 'live')
const sum = (values: Record<string, number | undefined>) => Object.values(values).reduce<number>((all, one) => all + (one ?? 0), 0)

/** What a store uses of the disk: the media of the database at hand as they are now, the rest as it was measured. */
interface DiskUse {
  mediaBytes: number
  databaseBytes: number
  deploymentBytes: number
  projectBytes: number
}
function diskUseOf({ media, databases, deployments, project }: Measured, environment: Environment, ownMedia: number): DiskUse {
  return {
    mediaBytes: ownMedia + (media[other(environment)] ?? 0),
    databaseBytes: sum(databases),
    deploymentBytes: sum(deployments),
    projectBytes: project,
  }
}

/** The quotas and the use of a store; `restBytes` is what is used beside the media of the database at hand. */
export async function usageOf(registry: Registry, db: Reader, { storeId, environment }: Owner) {
  const room = await roomOf(registry.control.read, storeId)
  const plan = (await registry.store(storeId))?.plan ?? 'starter'
  const own = await mediaBytes(db)
  const disk = diskUseOf(room.measured, environment, own)
  const usedBytes = sum({ ...disk })
  return { ...quotasOf(plan, room), disk, usedBytes, restBytes: usedBytes - own, measuredAt: room.measuredAt }
}

/** What a request may take of the disk: asked in the transaction that takes it, without the registry. */
export interface DiskRoom {
  limit: number
  rest: number
}

function overDisk(used: number, limit: number): Refusal {
  const told = (bytes: number) => Math.ceil(bytes / MB)
  const message = `the disk quota of the store is used up: ${told(used)} of ${told(limit)} MB are used; remove media, or have the quota raised`
  return new Refusal(403, message, { details: [{ code: 'custom', message, path: ['plan'] }], limit, used })
}

interface Asking {
  registry: Registry
  db: Reader
  owner: Owner
}

/** The room of a store, which has some at the moment. Refuses with 403 where its quota is used up: nothing is added then. */
export async function requireRoom({ registry, db, owner }: Asking): Promise<DiskRoom> {
  const { diskBytes, usedBytes, restBytes } = await usageOf(registry, db, owner)
  if (usedBytes >= diskBytes) throw overDisk(usedBytes, diskBytes)
  return { limit: diskBytes, rest: restBytes }
}

/** Refuses with 403 when what is stored now, as a transaction sees it, is more than the store may have. */
export async function requireWithin(tx: Reader, { limit, rest }: DiskRoom) {
  const used = rest + (await mediaBytes(tx))
  if (used > limit) throw overDisk(used, limit)
}

/** Whether a store has room left. */
export async function hasRoom({ registry, db, owner }: Asking): Promise<boolean> {
  const { diskBytes, usedBytes } = await usageOf(registry, db, owner)
  return usedBytes < diskBytes
}

/** How many builds a store may ask for in a day. */
export async function buildsPerDayOf(registry: Registry, { id, plan }: { id: string; plan: Plan }): Promise<number> {
  return quotasOf(plan, await roomOf(registry.control.read, id)).buildsPerDay
}

/** The builds that were asked for in the last day. */
export async function buildsIn(db: Reader, now: string): Promise<number> {
  const since = new Date(Date.parse(now) - DAY_MS).toISOString()
  const [row] = await db
    .select({ n: count() })
    .from(buildStarts)
    .where(sql`${buildStarts.createdAt} > ${since}`)
  return row!.n
}

/** Takes one build of the day's, in the transaction that asks for it. Refuses with 429, and says when there is one again. */
export async function takeBuild(tx: Db, { clock, now }: Moment, perDay: number) {
  const since = new Date(Date.parse(now) - DAY_MS).toISOString()
  await tx.delete(buildStarts).where(lte(buildStarts.createdAt, since))
  if ((await tx.$count(buildStarts)) >= perDay) {
    const [oldest] = await tx.select().from(buildStarts).orderBy(asc(buildStarts.createdAt)).limit(1)
    const seconds = oldest ? Math.max(1, Math.ceil((Date.parse(oldest.createdAt) + DAY_MS - Date.parse(now)) / 1_000)) : DAY_MS / 1_000
    const message = `the builds of a day are used up: ${perDay} publishes and previews in 24 hours; wait, or have the quota raised`
    throw new Refusal(429, message, { limit: perDay }, { 'retry-after': String(seconds) })
  }
  await tx.insert(buildStarts).values({ id: clock.id(), createdAt: now })
}
