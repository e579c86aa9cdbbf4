/**
 * Mails that go out once. Each is noted, durably, before it leaves: one that a crash finds on its way may have arrived, so it is never
 * sent again, and reads `unknown`.
 */
import { eq } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { sentMails } from '../../../db/store/pages.ts'
import type { Running } from '../../jobs/kind.ts'
import { MailError, type Mail } from '../../outside/mail.ts'
import type { Services } from '../../outside/services.ts'

/** How mails are tried again that a server did not take: for about a day. */
export const MAIL_RETRIES_MS = [5_000, 60_000, 600_000, 3_600_000, 6 * 3_600_000, 12 * 3_600_000]

type Outcome = 'sent' | 'unknown' | 'failed'

/** A mail, and what else is noted of it in the transaction that notes what became of it. */
export interface Sending {
  mail: Mail
  note(tx: Db, outcome: Outcome, told: string | null): Promise<void>
}

/** Notes that a mail leaves; what became of it when it has left before. */
async function claim({ store, clock, held }: Running, { mail: { id }, note }: Sending): Promise<Outcome | null> {
  return store.write(async (tx) => {
    await held(tx)
    const now = clock.now().toISOString()
    const [known] = await tx.select().from(sentMails).where(eq(sentMails.id, id))
    if (!known) {
      await tx.insert(sentMails).values({ id, status: 'sending', error: null, createdAt: now, updatedAt: now })
      return null
    }
    if (known.status !== 'sending') return known.status
    const error = 'the process ended while it was on its way'
    await tx.update(sentMails).set({ status: 'unknown', error, updatedAt: now }).where(eq(sentMails.id, id))
    await note(tx, 'unknown', error)
    return 'unknown'
  })
}

/** Sends a mail that was not sent before. Throws when it was not taken and may be tried again. */
export const sendOnce = (job: Running, mailers: Services['mailers'], mail: Mail) => sendNoted(job, mailers, { mail, note: async () => {} })

/** The same, and notes what became of it elsewhere, too. */
export async function sendNoted(job: Running, mailers: Services['mailers'], sending: Sending): Promise<Outcome> {
  const { store, clock } = job
  const { mail } = sending
  const before = await claim(job, sending)
  if (before) return before
  const note = (status: Outcome, error: string | null, told: string | null) =>
    store.write(async (tx) => {
      await tx.update(sentMails).set({ status, error, updatedAt: clock.now().toISOString() }).where(eq(sentMails.id, mail.id))
      await sending.note(tx, status, told)
    })
  const mailer = await mailers.open(job.environment)
  try {
    await mailer.send(mail)
  } catch (thrown) {
    const error = thrown instanceof MailError ? thrown : new MailError('unknown', String(thrown))
    if (error.outcome === 'refused' || error.outcome === 'unknown') {
      const outcome = error.outcome === 'refused' ? 'failed' : 'unknown'
      await note(outcome, error.message, error.told)
      return outcome
    }
    await store.write(async (tx) => void (await tx.delete(sentMails).where(eq(sentMails.id, mail.id))))
    throw error
  } finally {
    mailer.close()
  }
  await note('sent', null, null)
  return 'sent'
}
