/** The mail of the double opt-in: asks whoever reads it whether they signed up. */
import { eq } from 'drizzle-orm'
import { subscribers } from '../../../db/store/newsletters.ts'
import { html } from '../../values/html.ts'
import type { JobKind } from '../../jobs/kind.ts'
import type { Services } from '../../outside/services.ts'
import { button, framed } from '../../store/mails/frame.ts'
import { senderOf } from '../../store/mails/sender.ts'
import { shopLinks } from '../../store/mails/shop-links.ts'
import { subscriberLink } from './link.ts'
import { settingsIn } from '../../http/call.ts'

/** Sends one confirmation mail; a store that has turned outbound mail off sends none. */
export const confirmSubscriber = (services: Pick<Services, 'mailers' | 'storefronts' | 'secrets'>): JobKind => ({
  retriesMs: [5_000, 60_000, 600_000, 3_600_000],
  async run(job) {
    const { store, environment, subject } = job
    const { mailers } = services
    const [row] = await store.read.select().from(subscribers).where(eq(subscribers.id, subject))
    const own = await settingsIn(store.read)
    if (!row?.confirmToken || row.status === 'active' || !own.email.outboundEnabled) return
    const link = subscriberLink(mailers.baseUrl, 'confirm', row.confirmToken)
    const question = `Do you want the newsletters of ${own.name}?`
    const otherwise = 'If you did not ask for this, do nothing: you will get no more mail.'
    const body = html`<p>${question}</p>${button(link, 'Yes, subscribe me')}<p>${otherwise}</p>`
    const home = (await shopLinks(services, job, null))?.home ?? null
    const mailer = await mailers.open(environment)
    try {
      await mailer.send({
        id: `${row.id}-${Date.parse(row.askedAt ?? row.createdAt)}`,
        ...senderOf(own, mailers.baseUrl),
        to: { name: row.name ?? '', address: row.email },
        subject: question,
        text: `${question}\n\nOpen this page to confirm:\n${link}\n\n${otherwise}\n`,
        html: await framed(store.read, own, { language: 'en', body: body.text, home }),
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
    } finally {
      mailer.close()
    }
  },
})
