/** A mail of a store to one person: its template filled, in the store's looks, from its own address. */
import type { Reader } from '../../../db/driver.ts'
import type { Settings } from '../../http/route.ts'
import { postalAddress, senderOf } from '../../marketing/newsletters/sender.ts'
import type { Attachment, Mail } from '../../outside/mail.ts'
import { Html, html } from '../../values/html.ts'
import { readLooks } from '../pages/looks.ts'
import { KINDS, type TemplateKind } from './kinds.ts'
import { filled, oneLine, templateOf, type Values } from './template.ts'

interface Letter {
  /** Unique for ever: the part of the Message-ID before the @. */
  id: string
  kind: TemplateKind
  /** The language of its reader; null for the store's own. */
  locale: string | null
  to: { name: string | null; address: string }
  /** What stands in it, in the language that it is written in. */
  values: Values | ((locale: string) => Values)
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

/** The page of a mail around its words. */
export async function framed(db: Reader, settings: Settings, locale: string, body: string): Promise<string> {
  const { logo, colors, fonts } = await readLooks(db)
  const family = fonts.body === null ? 'system-ui,sans-serif' : `'${fonts.body}',system-ui,sans-serif`
  const footer = [settings.name, postalAddress(settings)].filter(Boolean).join(' · ')
  const page = `font:16px/1.5 ${family};max-width:36rem;margin:0 auto;padding:24px;color:${colors.text};background:${colors.background};overflow-wrap:anywhere`
  // Mail programs have colours of their own for links, and show images as large as they are.
  const dressed = body
    .replace(/<a (?=href=)/g, `<a style="color:${colors.accent}" `)
    .replace(/<img (?!style=)(?=src="http)/g, '<img style="max-width:100%;height:auto" ')
  return html`<!doctype html>
<html lang="${locale}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
<body style="${page}">
${logo === null ? '' : html`<p><img src="${logo}" alt="${settings.name}" style="max-height:48px;max-width:100%"></p>`}
${new Html(dressed)}
<p style="margin-top:32px;color:${colors.muted};font-size:14px">${footer}</p>
</body></html>
`.text
}

/** The language of a template: Stoa's own words are English, and so are the amounts and dates between them. */
export const languageOf = (own: { locale: string } | null, { locale }: Settings): string =>
  own ? own.locale || locale : locale.startsWith('en') ? locale : 'en'

/** The mail of a letter. */
export async function mailOf(db: Reader, settings: Settings, baseUrl: string, letter: Letter): Promise<Mail> {
  const { id, kind, locale, to, headers, attachments } = letter
  const own = await templateOf(db, kind, locale)
  const spoken = languageOf(own, settings)
  const values = { ...commonValues(settings, to.name), ...(typeof letter.values === 'function' ? letter.values(spoken) : letter.values) }
  const { subject, text, html: body } = filled(own ?? KINDS[kind], values)
  return {
    ...{ id, ...senderOf(settings, baseUrl), to: { name: oneLine(to.name ?? ''), address: to.address } },
    // A subject of variables that say nothing here.
    ...{ subject: subject || filled(KINDS[kind], values).subject, text, html: await framed(db, settings, spoken, body) },
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    ...(attachments ? { attachments } : {}),
  }
}
