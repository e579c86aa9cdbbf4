/** The page on which a customer reads a support case and answers: no key, the token of the link in the mails. */
import { and, eq, sql } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { attachedFiles, supportCases, supportMessages, type AttachedFile } from '../../../db/store/visitors.ts'
import { done, page } from '../../store/links/page.ts'
import { resource, type Call } from '../../http/route.ts'
import { Body, Text, Type, Uuid } from '../../http/schema.ts'
import { linkOwner, refusalPage, unknownLink } from '../../store/links/link-owner.ts'
import { ownerOfToken } from '../../store/links/link-token.ts'
import { settingsIn } from '../../http/call.ts'
import { html } from '../../values/html.ts'
import { conflict } from '../../values/refusal.ts'
import { spoken } from '../../values/time.ts'
import { ATTACHMENT_MAX_BYTES, findAttachment, keepAttachment, serveAttachment } from './attachment.ts'
import { addMessage, MESSAGES_MAX, messagesOf, type CaseRow } from './support-case.ts'

const MESSAGES_SHOWN = 100

const MESSAGE_MAX = 20_000
/** Files that a customer may add to one case. */
const FILES_MAX = 50
const message = {
  message: Text(1, MESSAGE_MAX),
  nonce: Type.Optional(Uuid({ description: 'One for each form that is shown: sent again, it is taken once' })),
}
const ReplyInput = Body('SupportReplyInput', [{ message: 'Thank you. This is the seam.' }], message)
const ReplyForm = Type.Object(
  {
    ...message,
    file: Type.Optional(Type.String({ contentMediaType: 'application/octet-stream', description: 'An image or a PDF, at most 10 MB' })),
  },
  { examples: [{ message: 'Thank you. This is the seam.', file: '@file' }] },
)

/** The case of a link; the store is the token's own, the case may be gone. */
const caseOf = async (db: Reader, token: string): Promise<CaseRow | undefined> =>
  (await db.select().from(supportCases).where(eq(supportCases.token, token)))[0]

/** What has the number of a form already. */
const withNonce = async (db: Reader, nonce: string | undefined) =>
  nonce === undefined ? undefined : (await db.select().from(supportMessages).where(eq(supportMessages.id, nonce)))[0]

/** Why a customer's answer is not taken, as a page says it; `sent`: it was taken before. */
async function obstacle(db: Reader, about: CaseRow | undefined, said: { message: string; nonce?: string }, hasFile: boolean) {
  if (!about) return 'gone'
  // A page that is loaded again sends its form again.
  const before = await withNonce(db, said.nonce)
  if (before?.caseId === about.id && before.author === 'customer' && before.message === said.message.trim()) return 'sent'
  if (about.messageCount >= MESSAGES_MAX) return 'long'
  const own = and(eq(supportMessages.caseId, about.id), eq(supportMessages.author, 'customer'))
  const files = sql`(select count(*) from ${attachedFiles} f join ${supportMessages} on ${supportMessages.id} = f.message_id where ${own})`
  return hasFile && Number((await db.all<[number]>(sql`select ${files}`))[0]![0]) >= FILES_MAX ? 'files' : null
}

type PageCall = Pick<Call<unknown, unknown, { token: string }>, 'db' | 'params' | 'request'>

async function conversation(call: PageCall, note = '') {
  const { db, params } = call
  const about = await caseOf(db, params.token)
  if (!about) return unknownLink(call)
  const { name, timezone, locale } = await settingsIn(db)
  const first = Math.max(0, about.messageCount - MESSAGES_SHOWN)
  const messages = await messagesOf(db, about.id, MESSAGES_SHOWN, first)
  return page(
    about.subject,
    html`<h1>${about.subject}</h1>
      ${note && html`<p role="status"><strong>${note}</strong></p>`}
      ${messages.map(
        ({ author, message, attachments, createdAt }) =>
          html`<article>
            <strong>${author === 'merchant' ? name : (about.name ?? 'You')}</strong> <small>${spoken(createdAt, timezone, locale)}</small>
            <p>${message}</p>
            ${attachments.map((file) => html`<p><a href="${params.token}/attachments/${file.id}">${file.name}</a></p>`)}
          </article>`,
      )}
      <form method="post" enctype="multipart/form-data">
        <input type="hidden" name="nonce" value="${Bun.randomUUIDv7()}" />
        <label for="message">Your answer</label>
        <textarea id="message" name="message" required maxlength="${MESSAGE_MAX}"></textarea>
        <label for="file">A picture (JPEG, PNG, WebP, GIF) or a PDF, at most 10 MB</label>
        <input id="file" name="file" type="file" accept=".jpg,.jpeg,.png,.webp,.gif,.pdf" />
        <p><button>Send</button></p>
      </form>`,
  )
}

const common = { scope: 'public' as const, refuses: [404], owner: linkOwner, ownerByPath: true as const, refusalPage }
const html_ = { 200: 'text/html', 404: 'text/html' } as const

export const supportPages = resource('content', '/support-replies')
  .get(
    '/{token}',
    { operationId: 'showSupportCase', summary: 'The page behind the link of a support mail', ...common, responses: html_ },
    (call) => conversation(call),
  )
  .post(
    '/{token}',
    {
      operationId: 'replyToSupportCase',
      summary: 'Answer in a support case',
      description: 'What the form of the page does.',
      ...common,
      body: ReplyInput,
      upload: ReplyForm,
      uploadMaxBytes: ATTACHMENT_MAX_BYTES,
      responses: html_,
      refuses: [404, 409],
      prepare: async (call) => {
        const { db, params, body, file } = call
        call.countSubmission()
        const isTaken = body.message.trim() && !(await obstacle(db, await caseOf(db, params.token), body, file !== null))
        return isTaken ? keepAttachment(call, ownerOfToken(params.token)!) : null
      },
    },
    async (call) => {
      const { body, params, write, clock, now, services } = call
      const message = body.message.trim()
      if (!message) return done('Nothing was written', 'Go back, and write an answer first.')
      const file = call.prepared as AttachedFile | null
      const why = await write(async (tx) => {
        const about = await caseOf(tx, params.token)
        const against = await obstacle(tx, about, body, call.file !== null)
        if (against) return against
        // Other words in the same form, after going back to it, are another message.
        const id = (await withNonce(tx, body.nonce)) ? undefined : body.nonce
        await addMessage(tx, { clock, now }, about!, { author: 'customer', message, attachments: file ? [file] : [], id })
        return null
      })
      // Kept before it was known that it has no message.
      if (why && file) await services.files.remove(ownerOfToken(params.token)!, file.id)
      if (why === 'gone') return unknownLink(call)
      if (why === 'long') throw conflict('This conversation is too long: please begin another one, through the shop')
      if (why === 'files') throw conflict('There are too many files in this conversation: please send your answer without one')
      return conversation(call, 'Your answer was sent.')
    },
  )
  .get(
    '/{token}/attachments/{attachmentId}',
    {
      operationId: 'getReplyAttachment',
      summary: 'A file of a support case, for its customer',
      ...common,
      responses: { 200: ['application/pdf', 'image/jpeg', 'image/png', 'image/webp', 'image/gif'], 404: 'text/html' },
    },
    async (call) => {
      const about = await caseOf(call.db, call.params.token)
      if (!about) return unknownLink(call)
      return serveAttachment(call, ownerOfToken(call.params.token)!, await findAttachment(call.db, about.id, call.params.attachmentId))
    },
  )
