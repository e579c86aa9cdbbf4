/**
 * Which domain is which store's, in the control database. A store claims a domain by attaching it: nobody else gets it then, and the
 * claim ends unless it is verified in time.
 */
import { and, asc, eq, gt, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import { domains, stores, type DOMAIN_STATUSES } from '../../../db/control/tables.ts'
import { compile, named, type Db } from '../../../db/driver.ts'
import type { Registry } from '../../../db/control/registry.ts'
import { conflict } from '../../values/refusal.ts'

/** How long a domain that nobody has verified is kept for whoever claimed it. */
const CLAIM_MS = 7 * 86_400_000

type Claim = typeof domains.$inferSelect
type DomainStatus = (typeof DOMAIN_STATUSES)[number]

/** A domain that a store has attached, and the slug of that store. */
export interface DomainRow extends Claim {
  slug: string
}

const columns = {
  domain: domains.domain,
  storeId: domains.storeId,
  token: domains.token,
  status: domains.status,
  verifiedAt: domains.verifiedAt,
  checkedAt: domains.checkedAt,
  createdAt: domains.createdAt,
  slug: stores.slug,
}

/** Claims made up to then have ended, if nobody has verified them. */
const endOf = (now: string) => new Date(Date.parse(now) - CLAIM_MS).toISOString()
const hasEnded = (now: string) => and(isNull(domains.verifiedAt), lte(domains.createdAt, endOf(now)))
/** The claim as it was read: not one that has taken its place. */
const isSame = ({ domain, token }: Pick<Claim, 'domain' | 'token'>) => and(eq(domains.domain, domain), eq(domains.token, token))

/** The domain of a store; null when it has none, or only a claim that has ended. */
export async function domainOf({ control }: Registry, storeId: string, now: string): Promise<DomainRow | null> {
  const holds = or(isNotNull(domains.verifiedAt), gt(domains.createdAt, endOf(now)))
  const [row] = await control.read
    .select(columns)
    .from(domains)
    .innerJoin(stores, eq(stores.id, domains.storeId))
    .where(and(eq(domains.storeId, storeId), holds))
  return row ?? null
}

const storeByDomain = compile((db) =>
  db
    .select({ storeId: domains.storeId })
    .from(domains)
    .where(and(eq(domains.domain, named('host')), isNotNull(domains.verifiedAt))),
)

/** The id of the store whose verified domain a host is, which is in lower case and without a port; null when it is nobody's. */
export async function storeOfDomain({ control }: Registry, host: string): Promise<string | null> {
  return (await storeByDomain.get(control.read, { host }))?.storeId ?? null
}

/** A claim that was made, and what it has put away: the store's former one, and one of another store that had not shown anything for it. */
export interface Attached {
  claim: Claim
  former: Claim | null
  rival: Claim | null
}

/**
 * What the TXT record has to carry by which a store shows that a domain is its own though another one has claimed it. It is no secret: it says
 * which store is meant, and that it stands in the domain's DNS is what shows it.
 */
export const rivalToken = (storeId: string, domain: string): string =>
  new Bun.CryptoHasher('sha256').update(`custom domain ${domain} of ${storeId}`).digest('base64url')

/** Whether another store has claimed a domain, and shown nothing for it yet. */
export async function isClaimedElsewhere(
  { control }: Registry,
  { storeId, domain, now }: Pick<Claim, 'storeId' | 'domain'> & { now: string },
) {
  const [holder] = await control.read.select().from(domains).where(eq(domains.domain, domain))
  return holder !== undefined && holder.storeId !== storeId && holder.verifiedAt === null && holder.createdAt > endOf(now)
}

interface NewClaim extends Pick<Claim, 'storeId' | 'domain' | 'token'> {
  now: string
  /** The store has shown, by its `rivalToken`, that the domain is its own: it gets it from one that has shown nothing. */
  isShown?: boolean
}

/**
 * Claims a domain for a store, whose other one is detached; null when it has this one already. 409 when another store has it. One
 * transaction of the control database: of many stores that claim a domain at once, in however many processes, one gets it.
 */
export function attach(registry: Registry, { storeId, domain, token, now, isShown = false }: NewClaim): Promise<Attached | null> {
  return registry.change(async (tx) => {
    await tx.delete(domains).where(and(eq(domains.domain, domain), hasEnded(now)))
    const [holder] = await tx.select().from(domains).where(eq(domains.domain, domain))
    if (holder?.storeId === storeId) return null
    if (holder && !(isShown && holder.verifiedAt === null)) throw conflict('this domain is in use, or pending, on another project')
    if (holder) await tx.delete(domains).where(eq(domains.domain, domain))
    const [former = null] = await tx.delete(domains).where(eq(domains.storeId, storeId)).returning()
    const shown = holder ? rivalToken(storeId, domain) : token
    const claim: Claim = {
      domain,
      storeId,
      token: shown,
      status: 'Pending Verification',
      verifiedAt: null,
      checkedAt: null,
      createdAt: now,
    }
    await tx.insert(domains).values(claim)
    return { claim, former, rival: holder ?? null }
  })
}

/** Lets go of the domain of a store, and returns what it was. */
export function detach(registry: Registry, storeId: string): Promise<Claim | null> {
  return registry.change(async (tx) => (await tx.delete(domains).where(eq(domains.storeId, storeId)).returning())[0] ?? null)
}

/** Undoes that a claim was made, or that one was let go of. What somebody else has taken meanwhile is theirs. */
export function putBack(registry: Registry, { claim, former, rival }: Partial<Attached>): Promise<void> {
  return registry.change(async (tx) => {
    if (claim) await tx.delete(domains).where(isSame(claim))
    for (const other of [former, rival]) if (other) await tx.insert(domains).values(other).onConflictDoNothing()
  })
}

/** Notes what a look at a claim has found; `status` null: nothing. One that was let go of meanwhile does not come back by it. */
export async function noteCheck(
  registry: Registry,
  claim: Pick<Claim, 'domain' | 'token' | 'verifiedAt'>,
  status: DomainStatus | null,
  now: string,
): Promise<void> {
  const isProven = status === 'Valid Configuration'
  const update = async (tx: Db) => {
    const verifiedAt = isProven ? { verifiedAt: sql`coalesce(${domains.verifiedAt}, ${now})` } : {}
    await tx
      .update(domains)
      .set({ ...(status && { status }), ...verifiedAt, checkedAt: now })
      .where(isSame(claim))
  }
  // Which host serves which store is what processes remember.
  await (isProven && claim.verifiedAt === null ? registry.change(update) : registry.control.write(update))
}

/** Removes claims that nobody has verified in time. */
export async function removeEnded({ control }: Registry, now: string): Promise<void> {
  if (!(await control.read.$count(domains, hasEnded(now)))) return
  await control.write(async (tx) => {
    await tx.delete(domains).where(hasEnded(now))
  })
}

/** Domains that were looked at last up to `before`, those first that have waited longest; claims that nobody asked for yet are none. */
export function lookedAtUpTo({ control }: Registry, before: string, limit: number): Promise<DomainRow[]> {
  return control.read
    .select(columns)
    .from(domains)
    .innerJoin(stores, eq(stores.id, domains.storeId))
    .where(lte(domains.checkedAt, before))
    .orderBy(asc(domains.checkedAt))
    .limit(limit)
}
