/** A mail of a store to one person: its template filled, in the store's looks, from its own address. */
import type { Settings } from '../../http/route.ts'
import type { Running } from '../../jobs/kind.ts'
import type { Services } from '../../outside/services.ts'
import { postalAddress, senderOf } from '../../store/mails/sender.ts'
import type { Attachment, Mail } from '../../outside/mail.ts'
import { button, framed } from '../../store/mails/frame.ts'
import { shopLinks, type ShopLinks } from '../../store/mails/shop-links.ts'
import { KINDS, type TemplateKind } from './kinds.ts'
import { labelsOf } from './labels.ts'
import { filled, oneLine, templateOf, type Values } from './template.ts'

interface Letter {
  /** Unique for ever: the part of the Message-ID before the @. */
  id: string
  kind: TemplateKind
  /** The language of its reader; null for the store's own. */
  locale: string | null
  to: { name: string | null; address: string }
  /** What stands in it, in the language that it is written in, with the pages of the shop. */
  values: Values | ((locale: string, shop: ShopLinks | null) => Values)
  headers?: Record<string, string>
  attachments?: readonly Attachment[]
}

/** The button with which mail programs say that no such mail is wanted (RFC 8058). */
export const wayOut = (url: string) => ({ 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' })

/** The variables that every mail has. */
export const commonValues = (settings: Settings, customerName: string | null): Values => ({
  storeName: settings.name,
  storeAddress: postalAddress(settings),
  contactEmail: settings.contactEmail ?? '',
  customerName: customerName ?? '',
})

/** The address of a page of the shop as variables of a mail, as a link and as a button; nothing for a page that is not there. */
export function pageValues(page: 'order' | 'tickets' | 'product', url: string | null, locale: string): Values {
  const words = labelsOf(locale)[page]
  return url === null ? {} : { [`${page}Url`]: { url }, [`${page}Button`]: { text: `${words}: ${url}`, html: button(url, words) } }
}

/** The language of a template: Stoa's own words are English, and so are the amounts and dates between them. */
export const languageOf = (own: { locale: string } | null, { locale }: Settings): string =>
  own ? own.locale || locale : locale.startsWith('en') ? locale : 'en'

/** What a mail is written with: the store of a job, and the outside. */
type Writing = Pick<Running, 'store' | 'storeId' | 'environment'> & { services: Pick<Services, 'mailers' | 'storefronts' | 'secrets'> }

/** The mail of a letter. */
export async function mailOf(
  { store: { read }, storeId, environment, services }: Writing,
  settings: Settings,
  letter: Letter,
): Promise<Mail> {
  const { id, kind, locale, to, headers, attachments } = letter
  const own = await templateOf(read, kind, locale)
  const spoken = languageOf(own, settings)
  const shop = await shopLinks(services, { storeId, environment }, locale)
  const values = {
    ...commonValues(settings, to.name),
    ...(typeof letter.values === 'function' ? letter.values(spoken, shop) : letter.values),
  }
  const { subject, text, html: body } = filled(own ?? KINDS[kind], values)
  return {
    ...{ id, ...senderOf(settings, services.mailers.baseUrl), to: { name: oneLine(to.name ?? ''), address: to.address } },
    // A subject of variables that say nothing here.
    ...{
      subject: subject || filled(KINDS[kind], values).subject,
      text,
      html: await framed(read, settings, { language: spoken, body, home: shop?.home ?? null }),
    },
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    ...(attachments ? { attachments } : {}),
  }
}
