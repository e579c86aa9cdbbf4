/** How somebody becomes a subscriber, and stops being one: the only places in which a subscriber's status changes. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import type { Environment } from '../../../db/open.ts'
import { subscribers } from '../../../db/store/newsletters.ts'
import type { Outside, Settings } from '../../http/route.ts'
import { ask } from '../../jobs/queue.ts'
import { newToken } from './token.ts'
import { recount, type SubscriberStatus } from './tally.ts'

export type SubscriberRow = typeof subscribers.$inferSelect

type About = { outside: Outside; now: string }

/** Nobody is asked to confirm more often than this, whoever signs them up. */
const ASK_AGAIN_MS = 86_400_000

export const CONFIRM = 'subscriber.confirm'

/** What a sign-up says. */
export interface SignUp {
  email: string
  name: string | null
  source: string | null
}

async function setStatus(tx: Db, { now }: About, row: SubscriberRow, status: SubscriberStatus): Promise<SubscriberRow> {
  if (row.status === status) return row
  const columns = {
    status,
    updatedAt: now,
    ...(status === 'active' ? { subscribedAt: now } : {}),
    ...(status === 'unsubscribed' ? { unsubscribedAt: now } : {}),
  }
  await tx.update(subscribers).set(columns).where(eq(subscribers.id, row.id))
  await recount(tx, row.status, status)
  return { ...row, ...columns }
}

/** Asks for a mail with a link to confirm, unless there was one lately, or the store sends none. */
async function askToConfirm(tx: Db, about: About, row: SubscriberRow, { email }: Settings) {
  if (!email.outboundEnabled) return
  const { now } = about
  if (row.askedAt !== null && Date.parse(now) - Date.parse(row.askedAt) < ASK_AGAIN_MS) return
  await tx.update(subscribers).set({ askedAt: now }).where(eq(subscribers.id, row.id))
  await ask(tx, about, { kind: CONFIRM, subject: row.id, dueAt: now })
}

const byEmail = async (tx: Db, email: string) => (await tx.select().from(subscribers).where(eq(subscribers.email, email)))[0]

/**
 * Signs an address up. With double opt-in a new one waits for the click in a mail; one that has unsubscribed always does, so that
 * nobody is signed up again by somebody else.
 */
export async function signUp(
  tx: Db,
  about: About,
  { email, name, source }: SignUp,
  owner: { storeId: string; environment: Environment },
  settings: Settings,
): Promise<SubscriberRow> {
  const doubleOptIn = settings.email.doubleOptIn ?? false
  const known = await byEmail(tx, email)
  if (known) {
    if (known.status === 'active') return known
    if (known.status === 'pending' && !doubleOptIn) return setStatus(tx, about, known, 'active')
    await askToConfirm(tx, about, known, settings)
    return known
  }
  const { now, outside } = about
  const status = doubleOptIn ? 'pending' : 'active'
  const row: SubscriberRow = {
    ...{ id: outside.id(), email, name, source, status, token: newToken(owner.storeId, owner.environment) },
    ...{ subscribedAt: doubleOptIn ? null : now, unsubscribedAt: null, askedAt: null, createdAt: now, updatedAt: now },
  }
  await tx.insert(subscribers).values(row)
  await recount(tx, null, status)
  if (doubleOptIn) await askToConfirm(tx, about, row, settings)
  return row
}

/** Follows a link in a mail; a token that nobody has changes nothing. */
export async function follow(tx: Db, about: About, token: string, status: 'active' | 'unsubscribed') {
  const [row] = await tx.select().from(subscribers).where(eq(subscribers.token, token))
  if (row) await setStatus(tx, about, row, status)
}

/** Forgets a subscriber; whether there was one. */
export async function forget(tx: Db, id: string): Promise<boolean> {
  const [gone] = await tx.delete(subscribers).where(eq(subscribers.id, id)).returning({ status: subscribers.status })
  if (gone) await recount(tx, gone.status, null)
  return gone !== undefined
}
