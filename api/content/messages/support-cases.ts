/** Support cases (document 3): conversations with customers, who answer through a link in the mails. */
import { and, desc, eq, getTableColumns, or, sql } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import { attachedFiles, CASE_STATUSES, supportCases, supportMessages, type AttachedFile } from '../../../db/store/visitors.ts'
import { ownerOf } from '../../http/auth.ts'
import { resource } from '../../http/route.ts'
import { Body, deleted, Deleted, Label, Line, Nullable, OneOf, Page, Paging, Text, Type } from '../../http/schema.ts'
import { newToken } from '../../store/links/link-token.ts'
import { contains } from '../../values/compared.ts'
import { writer, written } from '../visitors/submission.ts'
import { ATTACHMENT_MAX_BYTES, findAttachment, keepAttachment, serveAttachment } from './attachment.ts'
import { addMessage, findCase, findMessage, messagesOf, SupportCase, SupportMessage } from './support-case.ts'

const MESSAGE_MAX = 20_000
const author = Type.Optional(OneOf(['customer', 'merchant'], { description: 'Whose words they are: those of the merchant go out by mail' }))
const SupportCaseInput = Body(
  'SupportCaseInput',
  [{ name: 'Ada Lovelace', email: 'ada@example.com', subject: 'An open seam', message: 'One seam of my shirt is open.' }],
  {
    name: Type.Optional(Nullable(Line(0, 200))),
    email: Text(3, 254),
    subject: Label(300),
    message: Text(1, MESSAGE_MAX, { description: 'Plain text' }),
    author,
  },
)
const SupportCasePatch = Body('SupportCasePatch', [{ status: 'resolved' }], {
  status: Type.Optional(OneOf(CASE_STATUSES)),
  unread: Type.Optional(Type.Boolean()),
})
const message = { message: Text(1, MESSAGE_MAX, { description: 'Plain text' }), author }
const MessageInput = Body('SupportMessageInput', [{ message: 'We are sorry. Ten dollars go back to you.' }], message)
const MessageForm = Type.Object(
  {
    ...message,
    file: Type.Optional(Type.String({ contentMediaType: 'application/octet-stream', description: 'An image or a PDF, at most 10 MB' })),
  },
  { examples: [{ message: 'This is how it is mended.', file: '@file' }] },
)

export const supportCaseRoutes = resource('content', '/support-cases')
  .get(
    '',
    {
      operationId: 'listSupportCases',
      summary: 'List support cases',
      description: 'Those in which something was said last come first. `meta.unread` counts all that are unread.',
      scope: 'messages:read',
      query: {
        ...Paging(20),
        status: Type.Optional(OneOf(CASE_STATUSES)),
        query: Type.Optional(Type.String({ maxLength: 200, description: 'Part of name, email or subject' })),
      },
      responses: {
        200: Type.Object({
          data: Type.Array(SupportCase),
          meta: Type.Object({ count: Type.Integer(), unread: Type.Integer(), offset: Type.Integer(), limit: Type.Integer() }),
        }),
      },
      stored: true,
    },
    async ({ db, query: { limit, offset, status, query } }) => {
      const { id, name, email, subject, lastMessageAt } = supportCases
      const pattern = query === undefined ? undefined : contains(query)
      const where = and(
        status === undefined ? undefined : eq(supportCases.status, status),
        pattern === undefined ? undefined : or(...[name, email, subject].map((column) => sql`${column} like ${pattern} escape '\\'`)),
      )
      const far = aside(db, 'support_cases', { search: query !== undefined })
      const page = far
        .select({ id })
        .from(supportCases)
        .where(where)
        .orderBy(desc(lastMessageAt), desc(id))
        .limit(limit)
        .offset(offset)
        .as('page')
      const data = await far
        .select(getTableColumns(supportCases))
        .from(page)
        .crossJoin(supportCases)
        .where(eq(id, page.id))
        .orderBy(desc(lastMessageAt), desc(id))
      const unread = await far.$count(supportCases, sql`${supportCases.unread} = 1`)
      return { data, meta: { count: await far.$count(supportCases, where), unread, offset, limit } }
    },
  )
  .post(
    '',
    {
      operationId: 'createSupportCase',
      summary: 'Open a support case',
      description: 'With its first message, which is the customer’s unless `author` says otherwise.',
      scope: 'messages:write',
      body: SupportCaseInput,
      responses: { 201: SupportCase },
    },
    (call) =>
      call.write(async (tx) => {
        const { body, clock, now } = call
        const row = {
          ...{ id: clock.id(), name: body.name?.trim() || null, email: writer(body), subject: written(body, 'subject') },
          ...{ status: 'open' as const, unread: false, token: newToken(ownerOf(call)), messageCount: 0 },
          ...{ lastMessageAt: now, createdAt: now, updatedAt: now },
        }
        await tx.insert(supportCases).values(row)
        await addMessage(tx, call, row, { author: body.author ?? 'customer', message: written(body, 'message'), attachments: [] })
        return findCase(tx, row.id)
      }),
  )
  .get(
    '/{id}',
    {
      operationId: 'getSupportCase',
      summary: 'Read a support case',
      scope: 'messages:read',
      responses: { 200: SupportCase },
      stored: true,
    },
    ({ db, params }) => findCase(db, params.id),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateSupportCase',
      summary: 'Change the state of a support case',
      scope: 'messages:write',
      body: SupportCasePatch,
      responses: { 200: SupportCase },
    },
    ({ params, body, write, now }) =>
      write(async (tx) => {
        const { id } = await findCase(tx, params.id)
        const unread = body.unread ?? (body.status === 'resolved' ? false : undefined)
        await tx.update(supportCases).set({ status: body.status, unread, updatedAt: now }).where(eq(supportCases.id, id))
        return findCase(tx, id)
      }),
  )
  .delete(
    '/{id}',
    {
      operationId: 'deleteSupportCase',
      summary: 'Remove a support case',
      description: 'For good, with all its messages and files.',
      scope: 'messages:write',
      responses: { 200: Deleted },
    },
    (call) =>
      call.write(async (tx) => {
        const { id } = await findCase(tx, call.params.id)
        const files = await tx
          .select({ id: attachedFiles.id })
          .from(attachedFiles)
          .innerJoin(supportMessages, eq(supportMessages.id, attachedFiles.messageId))
          .where(eq(supportMessages.caseId, id))
        await tx.delete(supportCases).where(eq(supportCases.id, id))
        call.after(async () => {
          for (const file of files) await call.services.files.remove(ownerOf(call), file.id)
        })
        return deleted
      }),
  )
  .get(
    '/{id}/messages',
    {
      operationId: 'listSupportMessages',
      summary: 'Read the messages of a support case',
      description: 'Oldest first.',
      scope: 'messages:read',
      query: Paging(50),
      responses: { 200: Page(SupportMessage) },
      stored: true,
    },
    async ({ db, params, query: { limit, offset } }) => {
      const { id, messageCount: count } = await findCase(db, params.id)
      return { data: await messagesOf(db, id, limit, offset), meta: { count, offset, limit } }
    },
  )
  .post(
    '/{id}/messages',
    {
      operationId: 'createSupportMessage',
      summary: 'Write in a support case',
      description: 'As the merchant, by mail, and the case is `pending`; as the customer, where `author` says so, and it is `open`.',
      scope: 'messages:write',
      body: MessageInput,
      upload: MessageForm,
      uploadMaxBytes: ATTACHMENT_MAX_BYTES,
      responses: { 201: SupportMessage },
      prepare: async (call) => {
        const { id } = await findCase(call.db, call.params.id)
        return { id, file: await keepAttachment(call, ownerOf(call)) }
      },
    },
    (call) =>
      call.write(async (tx) => {
        const { file } = call.prepared as { file: AttachedFile | null }
        const row = await findCase(tx, call.params.id)
        const attachments = file ? [file] : []
        const own = { author: call.body.author ?? ('merchant' as const), message: written(call.body, 'message'), attachments }
        const { id } = await addMessage(tx, call, row, own)
        return findMessage(tx, row.id, id)
      }),
  )
  .get(
    '/{id}/attachments/{attachmentId}',
    {
      operationId: 'getSupportAttachment',
      summary: 'Read a file of a support case',
      scope: 'messages:read',
      responses: { 200: ['application/pdf', 'image/jpeg', 'image/png', 'image/webp', 'image/gif'] },
    },
    async (call) => {
      const { id } = await findCase(call.db, call.params.id)
      return serveAttachment(call, ownerOf(call), await findAttachment(call.db, id, call.params.attachmentId))
    },
  )
