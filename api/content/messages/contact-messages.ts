/** Contact messages (document 3): what visitors write in the form of a shop, and whether somebody has dealt with it. */
import { and, desc, eq, getTableColumns, or } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import { holds, type Reader } from '../../../db/driver.ts'
import { contactMessages, MESSAGE_STATUSES } from '../../../db/store/visitors.ts'
import { resource } from '../../http/route.ts'
import { Body, deleted, Deleted, Line, Named, Nullable, OneOf, Paging, Text, Type, Uuid } from '../../http/schema.ts'
import { missing } from '../../values/refusal.ts'
import { formInput, screen, SignalsShape, writer, written } from '../visitors/submission.ts'

const sent = {
  id: Uuid(),
  name: Nullable(Type.String({ examples: ['Ada Lovelace'] })),
  email: Type.String(),
  subject: Nullable(Type.String()),
  message: Type.String(),
  status: OneOf(MESSAGE_STATUSES),
  createdAt: Type.String(),
}
const SentMessage = Named('SentMessage', sent)
const ContactMessage = Named('ContactMessage', { ...sent, signals: SignalsShape, updatedAt: Type.String() })
const example = { name: 'Ada Lovelace', email: 'ada@example.com', subject: 'Sizes', message: 'Does M run large?' }
const ContactMessageInput = Body('ContactMessageInput', [example], {
  name: Type.Optional(Nullable(Line(0, 200))),
  email: Text(3, 254, { description: 'Where the answer goes' }),
  subject: Type.Optional(Nullable(Line(0, 300))),
  message: Text(1, 10_000, { description: 'Plain text' }),
  ...formInput,
})
const ContactMessagePatch = Body('ContactMessagePatch', [{ status: 'read' }], { status: OneOf(MESSAGE_STATUSES) })

/** Each may have 10,000 characters: what looks through some of them costs as much as what reads many rows. */
const LONG_MESSAGES = 100

async function find(db: Reader, id: string) {
  const [row] = await db.select().from(contactMessages).where(eq(contactMessages.id, id))
  if (!row) throw missing('contact message')
  return row
}

export const contactMessageRoutes = resource('content', '/contact-messages')
  .post(
    '',
    {
      operationId: 'createContactMessage',
      summary: 'Send a message to the shop',
      scope: 'storefront:write',
      unaudited: true,
      body: ContactMessageInput,
      responses: { 201: SentMessage },
    },
    (call) => {
      const { body, clock, now } = call
      const [message, email] = [written(body, 'message'), writer(body)]
      call.countSubmission()
      return call.write(async (tx) => {
        const [name, subject] = [body.name?.trim() || null, body.subject?.trim() || null]
        const signals = await screen(tx, call, { kind: 'message', about: '', email, text: `${subject ?? ''}\n${message}` })
        const row = { id: clock.id(), name, email, subject, message, status: 'new' as const, signals, createdAt: now, updatedAt: now }
        await tx.insert(contactMessages).values(row)
        return row
      })
    },
  )
  .get(
    '',
    {
      operationId: 'listContactMessages',
      summary: 'List contact messages',
      description: 'Newest first. `meta.unread` counts all that are `new`.',
      scope: 'messages:read',
      query: {
        ...Paging(20),
        status: Type.Optional(OneOf(MESSAGE_STATUSES)),
        query: Type.Optional(Type.String({ maxLength: 200, description: 'Part of name, email, subject or message' })),
      },
      responses: {
        200: Type.Object({
          data: Type.Array(ContactMessage),
          meta: Type.Object({ count: Type.Integer(), unread: Type.Integer(), offset: Type.Integer(), limit: Type.Integer() }),
        }),
      },
      stored: true,
    },
    async ({ db, query: { limit, offset, status, query } }) => {
      const { id, name, email, subject, message, createdAt } = contactMessages
      const where = and(
        status === undefined ? undefined : eq(contactMessages.status, status),
        query === undefined ? undefined : or(...[name, email, subject, message].map((column) => holds(column, query))),
      )
      const far = aside(db, 'contact_messages', { search: query !== undefined, longRows: query === undefined ? undefined : LONG_MESSAGES })
      const page = far
        .select({ id })
        .from(contactMessages)
        .where(where)
        .orderBy(desc(createdAt), desc(id))
        .limit(limit)
        .offset(offset)
        .as('page')
      const data = await far
        .select(getTableColumns(contactMessages))
        .from(page)
        .crossJoin(contactMessages)
        .where(eq(id, page.id))
        .orderBy(desc(createdAt), desc(id))
      const unread = await far.$count(contactMessages, eq(contactMessages.status, 'new'))
      return { data, meta: { count: await far.$count(contactMessages, where), unread, offset, limit } }
    },
  )
  .get(
    '/{id}',
    {
      operationId: 'getContactMessage',
      summary: 'Read a contact message',
      scope: 'messages:read',
      responses: { 200: ContactMessage },
      stored: true,
    },
    ({ db, params }) => find(db, params.id),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateContactMessage',
      summary: 'Note what became of a contact message',
      scope: 'messages:write',
      body: ContactMessagePatch,
      responses: { 200: ContactMessage },
    },
    ({ params, body, write, now }) =>
      write(async (tx) => {
        const { id } = await find(tx, params.id)
        await tx.update(contactMessages).set({ status: body.status, updatedAt: now }).where(eq(contactMessages.id, id))
        return find(tx, id)
      }),
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteContactMessage',
      summary: 'Remove a contact message',
      description: 'For good, such as on the request of who wrote it.',
      scope: 'messages:write',
      responses: { 200: Deleted },
    },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await find(tx, params.id)
        await tx.delete(contactMessages).where(eq(contactMessages.id, id))
        return deleted
      }),
  )
