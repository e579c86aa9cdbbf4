/** Who waits for a variant (document 3, availability notifications): how they begin to, and stop. */
import { and, eq, gt, inArray } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { products, variants } from '../../../db/store/catalog.ts'
import { unwantedMails } from '../../../db/store/pages.ts'
import { availabilityNotifications } from '../../../db/store/visitors.ts'
import type { Settings } from '../../http/route.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { Owner } from '../../outside/files.ts'
import { newToken } from '../../store/links/link-token.ts'
import type { Moment } from '../../values/clock.ts'
import { available, isOnSale } from './on-sale.ts'

export type Notification = typeof availabilityNotifications.$inferSelect

/** The jobs: the mails about a variant, which a trigger asks for, too; and the question whether somebody wants one. */
export const NOTIFY = 'availability.notify'
export const ASK = 'availability.ask'

/** Nobody is asked to confirm more often than this about one variant, and not more often than this about all of them. */
const ASK_AGAIN_MS = 86_400_000
const ASKS_MAX = 3

const OPEN = ['pending', 'waiting', 'sending'] as const

/** A variant that visitors see, and whether it can be bought now. */
export async function findWanted(db: Reader, id: string) {
  const [row] = await db
    .select({
      ...{ id: variants.id, name: variants.name, productName: products.name, productSlug: products.slug, productId: products.id },
      available,
    })
    .from(variants)
    .innerJoin(products, eq(products.id, variants.productId))
    .where(and(eq(variants.id, id), isOnSale))
  return row
}

async function ask(tx: Db, moment: Moment, row: Notification) {
  const since = new Date(Date.parse(moment.now) - ASK_AGAIN_MS).toISOString()
  const asked = await tx
    .select({ variantId: availabilityNotifications.variantId })
    .from(availabilityNotifications)
    .where(and(eq(availabilityNotifications.email, row.email), gt(availabilityNotifications.askedAt, since)))
    .limit(ASKS_MAX)
  // Whoever gives somebody else's address, for whatever and however often, has few mails sent there.
  if (asked.length >= ASKS_MAX || asked.some(({ variantId }) => variantId === row.variantId)) return
  await tx.update(availabilityNotifications).set({ askedAt: moment.now }).where(eq(availabilityNotifications.id, row.id))
  await enqueue(tx, moment, { kind: ASK, subject: row.id, dueAt: moment.now })
}

interface Wish {
  variantId: string
  email: string
  locale: string | null
  owner: Owner
}

/** Whether somebody has said of this address that it wants no such mail: the next one asks first. */
const hasStopped = async (db: Reader, email: string) =>
  (await db.$count(unwantedMails, and(eq(unwantedMails.email, email), eq(unwantedMails.kind, 'back-in-stock')))) > 0

/**
 * Notes that an address waits for a variant; one that does already is left as it is. With double opt-in, or once the address has said
 * no, a click in a mail comes first.
 */
export async function wait(
  tx: Db,
  moment: Moment,
  { variantId, email, locale, owner }: Wish,
  { email: own }: Settings,
): Promise<Notification> {
  const { now, clock } = moment
  const own_ = and(eq(availabilityNotifications.variantId, variantId), eq(availabilityNotifications.email, email))
  const [known] = await tx
    .select()
    .from(availabilityNotifications)
    .where(and(own_, inArray(availabilityNotifications.status, [...OPEN])))
  const row: Notification = known ?? {
    ...{ id: clock.id(), variantId, email, locale, token: newToken(owner) },
    ...{ status: own.doubleOptIn || (await hasStopped(tx, email)) ? ('pending' as const) : ('waiting' as const) },
    ...{ notBefore: null, deferrals: 0, error: null, askedAt: null, notifiedAt: null, createdAt: now, updatedAt: now },
  }
  if (!known) await tx.insert(availabilityNotifications).values(row)
  if (row.status === 'pending' && own.outboundEnabled) await ask(tx, moment, row)
  return row
}

/** The one with a link's token. */
export const byToken = async (db: Reader, token: string): Promise<Notification | undefined> =>
  (await db.select().from(availabilityNotifications).where(eq(availabilityNotifications.token, token)))[0]

const setStatus = (tx: Db, { now }: Moment, id: string, status: Notification['status']) =>
  tx.update(availabilityNotifications).set({ status, updatedAt: now }).where(eq(availabilityNotifications.id, id))

/** Takes the way in; whether somebody waits now. */
export async function confirmWish(tx: Db, moment: Moment, token: string): Promise<boolean> {
  const row = await byToken(tx, token)
  if (row?.status === 'waiting') return true
  if (row?.status !== 'pending') return false
  await setStatus(tx, moment, row.id, 'waiting')
  // It may have come back while the question was on its way.
  if ((await findWanted(tx, row.variantId))?.available)
    await enqueue(tx, moment, { kind: NOTIFY, subject: row.variantId, dueAt: moment.now })
  return true
}

/** Takes the way out: there will be no mail, nor another one that the address has not confirmed. */
export async function stop(tx: Db, moment: Moment, token: string) {
  const row = await byToken(tx, token)
  if (!row) return
  if (row.status !== 'sending') await setStatus(tx, moment, row.id, 'stopped')
  await tx.insert(unwantedMails).values({ email: row.email, kind: 'back-in-stock', createdAt: moment.now }).onConflictDoNothing()
}

/** Where a reader of a mail goes to. */
export const wishLink = (baseUrl: string, page: 'stop' | 'confirm', token: string) =>
  `${baseUrl}/api/v1/availability-notifications/${page}/${token}`
