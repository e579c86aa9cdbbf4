/** A support case (document 3): a conversation with a customer, its shapes, and how a message gets into it. */
import { asc, eq } from 'drizzle-orm'
import type { Db, Reader } from '../../../db/driver.ts'
import { CASE_STATUSES, DELIVERIES, supportCases, supportMessages, type AttachedFile } from '../../../db/store/visitors.ts'
import { Named, Nullable, OneOf, Type, Uuid } from '../../http/schema.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { Moment } from '../../values/clock.ts'
import { conflict, missing } from '../../values/refusal.ts'
import { settingsIn } from '../../http/call.ts'
import { noteFiles } from './attachment.ts'

/** The job that mails a message of the merchant. */
export const SUPPORT_MAIL = 'support.mail'
/** Messages of one case. */
export const MESSAGES_MAX = 1_000

export type CaseRow = typeof supportCases.$inferSelect
type MessageRow = typeof supportMessages.$inferSelect

export const SupportMessage = Named('SupportMessage', {
  id: Uuid(),
  caseId: Uuid(),
  author: OneOf(['customer', 'merchant']),
  message: Type.String(),
  attachments: Type.Array(
    Named('MessageAttachment', { id: Uuid(), name: Type.String(), type: Type.String({ examples: ['image/jpeg'] }), size: Type.Integer() }),
  ),
  delivery: OneOf(DELIVERIES, {
    description:
      'Of the mail with it: `none` for what the customer wrote, and from a store that sends no mail; `unknown` when nobody can say whether it arrived',
  }),
  createdAt: Type.String(),
})
const item = {
  id: Uuid(),
  name: Nullable(Type.String({ examples: ['Ada Lovelace'] })),
  email: Type.String(),
  subject: Type.String(),
  status: OneOf(CASE_STATUSES, { description: '`open` waits for the merchant, `pending` for the customer' }),
  unread: Type.Boolean({ description: 'The customer has written since the merchant last answered, resolved it, or set this to false' }),
  messageCount: Type.Integer(),
  lastMessageAt: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
}
export const SupportCase = Named('SupportCase', item)

/** A case by its id, or 404. */
export async function findCase(db: Reader, id: string): Promise<CaseRow> {
  const [row] = await db.select().from(supportCases).where(eq(supportCases.id, id))
  if (!row) throw missing('support case')
  return row
}

/** The mail that carries a message: the part of its Message-ID before the @. */
export const mailIdOf = (messageId: string) => `${messageId}-support`

const { id, caseId, createdAt } = supportMessages

/** Messages of a case, oldest first. */
export const messagesOf = (db: Reader, ofCase: string, limit: number, offset: number) =>
  db.select().from(supportMessages).where(eq(caseId, ofCase)).orderBy(asc(createdAt), asc(id)).limit(limit).offset(offset)

/** A message to be added. */
interface NewMessage {
  author: MessageRow['author']
  message: string
  attachments: AttachedFile[]
  /** The one that its form was given, when it was shown: the same form sent again is known by it. */
  id?: string
}

/** Adds a message: the merchant's goes out by mail and waits for the customer, the customer's opens the case. */
export async function addMessage(
  tx: Db,
  moment: Moment,
  row: CaseRow,
  { author: by, message: text, attachments: files, id: given }: NewMessage,
) {
  const { clock, now } = moment
  if (row.messageCount >= MESSAGES_MAX) throw conflict(`a case has at most ${MESSAGES_MAX} messages`)
  const isMailed = by === 'merchant' && (await settingsIn(tx)).email.outboundEnabled
  const own: MessageRow = {
    ...{ id: given ?? clock.id(), caseId: row.id, author: by, message: text, attachments: files },
    ...{ delivery: isMailed ? ('queued' as const) : ('none' as const), createdAt: now },
  }
  await tx.insert(supportMessages).values(own)
  await noteFiles(tx, own.id, files)
  await tx
    .update(supportCases)
    .set({
      status: by === 'merchant' ? 'pending' : 'open',
      unread: by === 'customer',
      messageCount: row.messageCount + 1,
      lastMessageAt: now,
      updatedAt: now,
    })
    .where(eq(supportCases.id, row.id))
  if (isMailed) await enqueue(tx, moment, { kind: SUPPORT_MAIL, subject: own.id, dueAt: now })
  return own
}

/** A message as it is answered. */
export async function findMessage(db: Reader, ofCase: string, messageId: string) {
  const [row] = await db.select().from(supportMessages).where(eq(id, messageId))
  if (row?.caseId !== ofCase) throw missing('message')
  return row
}
