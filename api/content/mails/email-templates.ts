/** Templates of mails (document 3): the store's own words for what its buyers get, by language. */
import { and, eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { emailTemplates, TEMPLATE_KINDS } from '../../../db/store/pages.ts'
import { Lang } from '../../catalog/shapes.ts'
import { ownerOf } from '../../http/auth.ts'
import { resource, type Call } from '../../http/route.ts'
import { Body, deleted, Deleted, Label, Named, Nullable, OneOf, Text, Type } from '../../http/schema.ts'
import { framed } from '../../store/mails/frame.ts'
import { shopLinks } from '../../store/mails/shop-links.ts'
import { isLocale } from '../../values/locales.ts'
import { missing, wrong } from '../../values/refusal.ts'
import { KINDS, type TemplateKind } from './kinds.ts'
import { commonValues, languageOf } from './letter.ts'
import { samplePages, SAMPLES } from './samples.ts'
import { filled, requireKnown, requireNeeded, templateOf } from './template.ts'

const words = {
  subject: Label(300, { examples: ['Your order {{orderNumber}}'] }),
  body: Text(1, 20_000, { description: 'Markdown; HTML in it is text', examples: ['Thank you, {{customerName}}.\n\n{{lines}}'] }),
}
const EmailTemplate = Named('EmailTemplate', {
  kind: OneOf(TEMPLATE_KINDS),
  lang: Nullable(Type.String(), { description: "Null: the store's own language" }),
  subject: Type.String(),
  body: Type.String({ description: 'Markdown' }),
  custom: Type.Boolean({ description: 'The words are the store’s own, in this language' }),
  variables: Type.Record(Type.String(), Type.String(), { description: 'What may stand in it, as `{{name}}`, and what each is' }),
  updatedAt: Nullable(Type.String()),
})
const EmailTemplateInput = Body(
  'EmailTemplateInput',
  [{ subject: 'Your order {{orderNumber}}', body: 'Thank you, {{customerName}}.\n\n{{lines}}' }],
  words,
)
const PreviewInput = Body('EmailTemplatePreviewInput', [{ subject: 'Your order {{orderNumber}}', body: 'Thank you.\n\n{{lines}}' }], {
  subject: Type.Optional(words.subject),
  body: Type.Optional(words.body),
})
const Preview = Named('EmailTemplatePreview', { subject: Type.String(), text: Type.String(), html: Type.String() })

const query = { lang: Lang }
const about = `\`kind\` is one of ${TEMPLATE_KINDS.join(', ')}.`
type KindCall = Pick<Call<{ lang?: string }, unknown, { kind: string }>, 'params' | 'query' | 'settings'>

/** The kind and the language that a request is about. */
async function askedFor({ params, query: { lang }, settings }: KindCall): Promise<{ kind: TemplateKind; locale: string }> {
  const kind = TEMPLATE_KINDS.find((each) => each === params.kind)
  if (!kind) throw missing('email template')
  if (lang !== undefined && !isLocale(lang)) throw wrong('lang', 'is not a supported locale')
  return { kind, locale: lang === undefined || lang === (await settings()).locale ? '' : lang }
}

async function read(db: Reader, kind: TemplateKind, locale: string) {
  const own = await templateOf(db, kind, locale)
  const { subject, body, variables } = { ...KINDS[kind], ...(own && { subject: own.subject, body: own.body }) }
  return { kind, lang: locale || null, subject, body, custom: own?.locale === locale, variables, updatedAt: own?.updatedAt ?? null }
}

export const emailTemplateRoutes = resource('content', '/email-templates')
  .get(
    '/{kind}',
    {
      operationId: 'getEmailTemplate',
      summary: 'Read the template of a mail',
      description: `${about} A language without words of its own has those of the store's own language.`,
      scope: 'settings:read',
      query,
      responses: { 200: EmailTemplate },
      stored: true,
    },
    async (call) => {
      const { kind, locale } = await askedFor(call)
      return read(call.db, kind, locale)
    },
  )
  .put(
    '/{kind}',
    {
      operationId: 'putEmailTemplate',
      summary: 'Write the template of a mail',
      description: 'For one language. Variables that the kind does not have are refused, by their names.',
      scope: 'settings:write',
      query,
      body: EmailTemplateInput,
      responses: { 200: EmailTemplate },
    },
    (call) =>
      call.write(async (tx) => {
        const { kind, locale } = await askedFor(call)
        const { subject, body } = call.body
        requireKnown(kind, 'subject', subject)
        requireKnown(kind, 'body', body)
        requireNeeded(kind, body)
        const row = { kind, locale, subject, body, updatedAt: call.now }
        await tx
          .insert(emailTemplates)
          .values(row)
          .onConflictDoUpdate({ target: [emailTemplates.kind, emailTemplates.locale], set: row })
        return read(tx, kind, locale)
      }),
  )
  .delete(
    '/{kind}',
    {
      operationId: 'deleteEmailTemplate',
      summary: 'Go back to the words of Stoa',
      description: 'In one language.',
      scope: 'settings:write',
      query,
      responses: { 200: Deleted },
    },
    (call) =>
      call.write(async (tx) => {
        const { kind, locale } = await askedFor(call)
        const own = and(eq(emailTemplates.kind, kind), eq(emailTemplates.locale, locale))
        const gone = await tx.delete(emailTemplates).where(own).returning({ kind: emailTemplates.kind })
        if (!gone.length) throw missing('email template')
        return deleted
      }),
  )
  .post(
    '/{kind}/preview',
    {
      operationId: 'previewEmailTemplate',
      summary: 'See a mail as it would be',
      description: `${about} With sample data; nothing is sent. Words that are left out are those that are stored.`,
      scope: 'settings:write',
      unaudited: true,
      query,
      body: PreviewInput,
      bodyOptional: true,
      responses: { 200: Preview },
    },
    async (call) => {
      const { kind, locale } = await askedFor(call)
      const stored = await read(call.db, kind, locale)
      const subject = call.body?.subject ?? stored.subject
      const body = call.body?.body ?? stored.body
      requireKnown(kind, 'subject', subject)
      requireKnown(kind, 'body', body)
      const settings = await call.settings()
      const shop = await shopLinks(call.services, ownerOf(call), locale || null)
      const mail = filled({ subject, body }, { ...commonValues(settings, null), ...SAMPLES[kind], ...(shop && samplePages(shop.home)) })
      // Words that are tried out are in the language that they are tried for.
      const isOwn = stored.custom || call.body?.body !== undefined
      return {
        ...mail,
        html: await framed(call.db, settings, {
          language: languageOf(isOwn ? { locale } : null, settings),
          body: mail.html,
          home: shop?.home ?? null,
        }),
      }
    },
  )
