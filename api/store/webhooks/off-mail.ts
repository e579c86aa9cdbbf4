/** The mail to those who own a store that a webhook of theirs was turned off. */
import { eq } from 'drizzle-orm'
import { teamMembers, webhooks } from '../../../db/store/store.ts'
import { settingsIn } from '../../http/call.ts'
import type { JobKind } from '../../jobs/kind.ts'
import type { Services } from '../../outside/services.ts'
import { html } from '../../values/html.ts'
import { framed } from '../mails/frame.ts'
import { senderOf } from '../mails/sender.ts'
import { MAIL_RETRIES_MS, sendOnce } from '../mails/sent.ts'

/** The kind of these jobs; their subject is the webhook's id, and when it was turned off. */
export const WEBHOOK_OFF = 'webhook.off'

/** A store has few owners. */
const OWNERS_MAX = 10

const REASONS = { gone: 'it answered 410 (Gone)', failing: 'it took nothing for three days' }

export const tellWebhookOff = (services: Services): JobKind => ({
  retriesMs: MAIL_RETRIES_MS,
  async run(job) {
    const [id, at] = job.subject.split(' ') as [string, string]
    const db = job.store.read
    const [row] = await db.select().from(webhooks).where(eq(webhooks.id, id))
    // Turned on again, or removed: there is nothing to tell any more.
    if (!row || row.active || row.disabledAt !== at || row.disabledReason === null) return
    const settings = await settingsIn(db)
    const { name, email } = teamMembers
    const owners = await db.select({ name, email }).from(teamMembers).where(eq(teamMembers.role, 'owner')).limit(OWNERS_MAX)
    const to = owners.length ? owners : settings.contactEmail ? [{ name: null, email: settings.contactEmail }] : []
    const words = [
      `The webhook ${row.url} of ${settings.name} was turned off, since ${REASONS[row.disabledReason]}. It gets no events any more.`,
      `What it missed: GET /api/v1/webhooks/${id}/deliveries?status=failed. To turn it on again: PATCH /api/v1/webhooks/${id} with {"active": true}; then POST …/deliveries/{deliveryId}/redeliver for each that you want.`,
    ]
    const body = html`${words.map((text) => html`<p>${text}</p>`)}`
    for (const owner of to)
      await sendOnce(job, services.mailers, {
        id: `webhook-off-${id}-${Date.parse(at)}-${Bun.hash(owner.email).toString(36)}`,
        ...senderOf(settings, services.mailers.baseUrl),
        to: { name: owner.name ?? '', address: owner.email },
        subject: `A webhook was turned off: ${new URL(row.url).host}`,
        text: `${words.join('\n\n')}\n`,
        html: await framed(db, settings, { language: 'en', body: body.text, home: null }),
      })
  },
})
