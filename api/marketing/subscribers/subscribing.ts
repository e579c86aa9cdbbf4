/** How somebody becomes a subscriber, and stops being one: the only places in which a subscriber's status changes. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { subscribers } from '../../../db/store/newsletters.ts'
import { settings as settingsTable } from '../../../db/store/store.ts'
import type { Settings } from '../../http/route.ts'
import type { Moment } from '../../values/clock.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { Owner } from '../../outside/files.ts'
import { newToken } from '../../store/links/link-token.ts'
import { tokenFor } from './token.ts'
import { countSignUp, recount, type SubscriberStatus } from '../newsletters/tally.ts'

type SubscriberRow = typeof subscribers.$inferSelect

/** Nobody is asked to confirm more often than this, whoever signs them up. */
const ASK_AGAIN_MS = 86_400_000

export const CONFIRM = 'subscriber.confirm'

/** A sign-up to the mails of a store. */
interface SignUp {
  email: string
  name: string | null
  source: string | null
}

async function setStatus(tx: Db, { now }: Moment, row: SubscriberRow, status: SubscriberStatus): Promise<SubscriberRow> {
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
async function askToConfirm(tx: Db, moment: Moment, row: SubscriberRow, owner: Owner, { email }: Settings) {
  if (!email.outboundEnabled) return
  const { now } = moment
  if (row.askedAt !== null && Date.parse(now) - Date.parse(row.askedAt) < ASK_AGAIN_MS) return
  const confirmToken = newToken(owner)
  await tx.update(subscribers).set({ askedAt: now, confirmToken }).where(eq(subscribers.id, row.id))
  await enqueue(tx, moment, { kind: CONFIRM, subject: row.id, dueAt: now })
}

/** The token of an address; the store's secret is made with its first one. */
async function ownToken(tx: Db, { clock }: Moment, owner: Owner, email: string): Promise<string> {
  const [stored] = await tx.select({ secret: settingsTable.mailSecret }).from(settingsTable)
  const secret = stored!.secret ?? clock.secret()
  if (stored!.secret === null) await tx.update(settingsTable).set({ mailSecret: secret })
  return tokenFor(owner, email, secret)
}

const byEmail = async (tx: Db, email: string) => (await tx.select().from(subscribers).where(eq(subscribers.email, email)))[0]

/**
 * Signs an address up. With double opt-in a new one waits for the click in a mail; one that has unsubscribed always does, so that
 * nobody is signed up again by somebody else.
 */
export async function signUp(
  tx: Db,
  moment: Moment,
  { email, name, source }: SignUp,
  owner: Owner,
  settings: Settings,
): Promise<SubscriberRow> {
  await countSignUp(tx)
  const doubleOptIn = settings.email.doubleOptIn ?? false
  const known = await byEmail(tx, email)
  if (known) {
    if (known.status === 'active') return known
    if (known.status === 'pending' && !doubleOptIn) return setStatus(tx, moment, known, 'active')
    await askToConfirm(tx, moment, known, owner, settings)
    return known
  }
  const { now, clock } = moment
  const status = doubleOptIn ? 'pending' : 'active'
  const row: SubscriberRow = {
    ...{ id: clock.id(), email, name, source, status, token: await ownToken(tx, moment, owner, email), confirmToken: null },
    ...{ subscribedAt: doubleOptIn ? null : now, unsubscribedAt: null, askedAt: null, createdAt: now, updatedAt: now },
  }
  await tx.insert(subscribers).values(row)
  await recount(tx, null, status)
  if (doubleOptIn) await askToConfirm(tx, moment, row, owner, settings)
  return row
}

/** Takes the way out; a token that nobody has changes nothing. */
export async function unsubscribe(tx: Db, moment: Moment, token: string) {
  const [row] = await tx.select().from(subscribers).where(eq(subscribers.token, token))
  if (row) await setStatus(tx, moment, row, 'unsubscribed')
}

/** Takes the way in, for a sign-up that waits for it; whether they are subscribed now. */
export async function confirm(tx: Db, moment: Moment, token: string): Promise<boolean> {
  const [row] = await tx.select().from(subscribers).where(eq(subscribers.confirmToken, token))
  if (!row) return false
  // Who has left since they were asked has to sign up again.
  if (row.status === 'unsubscribed' && row.askedAt! < row.unsubscribedAt!) return false
  await setStatus(tx, moment, row, 'active')
  return true
}

/** Forgets a subscriber; whether there was one. */
export async function forget(tx: Db, id: string): Promise<boolean> {
  const [gone] = await tx.delete(subscribers).where(eq(subscribers.id, id)).returning({ status: subscribers.status })
  if (gone) await recount(tx, gone.status, null)
  return gone !== undefined
}
