/** The mail with what a merchant wrote in a support case: one thread in the customer's mail program, with a link to answer. */
import { and, asc, eq, lt } from 'drizzle-orm'
import { supportCases, supportMessages, type DELIVERIES } from '../../../db/store/visitors.ts'
import type { JobKind } from '../../jobs/kind.ts'
import { senderOf } from '../../store/mails/sender.ts'
import type { Services } from '../../outside/services.ts'
import { html } from '../../values/html.ts'
import { shopLinks } from '../../store/mails/shop-links.ts'
import { framed } from '../../store/mails/frame.ts'
import { settingsIn } from '../../http/call.ts'
import { MAIL_RETRIES_MS, sendOnce } from '../../store/mails/sent.ts'
import { oneLine } from '../mails/template.ts'
import { mailIdOf } from './support-case.ts'

/** Where the customer answers. */
const caseLink = (baseUrl: string, token: string) => `${baseUrl}/api/v1/support-replies/${token}`

/** Earlier mails that a mail refers to. */
const REFERENCES_MAX = 20

/** The job: one message, once; none of a store that has turned outbound mail off. */
export const sendSupportMail = (services: Pick<Services, 'mailers' | 'storefronts' | 'secrets'>): JobKind => ({
  retriesMs: MAIL_RETRIES_MS,
  async run(job) {
    const { store, subject } = job
    const { mailers } = services
    const db = store.read
    const home = (await shopLinks(services, job, null))?.home ?? null
    const [message] = await db.select().from(supportMessages).where(eq(supportMessages.id, subject))
    const [about] = message ? await db.select().from(supportCases).where(eq(supportCases.id, message.caseId)) : []
    const settings = await settingsIn(db)
    if (!message || !about) return
    const note = (delivery: (typeof DELIVERIES)[number]) =>
      store.write(async (tx) => void (await tx.update(supportMessages).set({ delivery }).where(eq(supportMessages.id, subject))))
    if (!settings.email.outboundEnabled) return note('none')
    const own = and(eq(supportMessages.caseId, about.id), eq(supportMessages.author, 'merchant'))
    const earlier = await db
      .select({ id: supportMessages.id })
      .from(supportMessages)
      .where(and(own, lt(supportMessages.id, message.id)))
      .orderBy(asc(supportMessages.id))
    const sender = senderOf(settings, mailers.baseUrl)
    const host = sender.from.address.slice(sender.from.address.lastIndexOf('@') + 1)
    const ids = earlier.map(({ id }) => `<${mailIdOf(id)}@${host}>`)
    const link = caseLink(mailers.baseUrl, about.token)
    const files = message.attachments.map(({ name }) => name)
    const said = files.length ? `${message.message}\n\nFiles, on the page below: ${files.join(', ')}` : message.message
    const body = html`${message.message.split(/\n{2,}/).map((part) => html`<p style="white-space:pre-wrap">${part}</p>`)}
      ${files.length ? html`<p>Files, on the page below: ${files.join(', ')}</p>` : ''}
      <p><a href="${link}">Answer here, where it reaches us with the whole conversation</a></p>`
    const subjectLine = oneLine(about.subject)
    const outcome = await sendOnce(job, mailers, {
      id: mailIdOf(message.id),
      ...sender,
      to: { name: about.name ?? '', address: about.email },
      subject: ids.length || about.messageCount > 1 ? `Re: ${subjectLine}` : subjectLine,
      text: `${said}\n\nAnswer here, where it reaches us with the whole conversation:\n${link}\n`,
      html: await framed(db, settings, { language: 'en', body: body.text, home }),
      headers: ids.length ? { 'In-Reply-To': ids.at(-1)!, References: [ids[0]!, ...ids.slice(1).slice(1 - REFERENCES_MAX)].join(' ') } : {},
    })
    await note(outcome)
  },
  async givenUp(tx, _, subject) {
    await tx.update(supportMessages).set({ delivery: 'failed' }).where(eq(supportMessages.id, subject))
  },
})
