/** Legal pages (document 3): at most one of each kind, rich text that the team edits and storefronts show. */
import { eq } from 'drizzle-orm'
import type { Reader } from '../../../db/driver.ts'
import { LEGAL_KINDS, legalPages } from '../../../db/store/pages.ts'
import { resource } from '../../http/route.ts'
import { Body, Line, Named, Nullable, OneOf, RichDocument, Type } from '../../http/schema.ts'
import { missing } from '../../values/refusal.ts'
import { richTextHtml, richTextMarkdown } from '../../values/rich-text/render.ts'
import { requireRichText } from '../../values/rich-text/rich-text.ts'

const LegalPage = Named('LegalPage', {
  kind: OneOf(LEGAL_KINDS),
  title: Nullable(Type.String({ examples: ['Returns'] })),
  content: Nullable(RichDocument()),
  contentHtml: Type.Optional(Type.String({ description: 'With `format=html`: safe to show as it is' })),
  contentMarkdown: Type.Optional(Type.String({ description: 'With `format=markdown`: without HTML in it' })),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const content = {
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text: 'You have 30 days from the day of delivery.' }] }],
}
const LegalPageInput = Body('LegalPageInput', [{ title: 'Returns', content }], {
  title: Type.Optional(Nullable(Line(0, 300))),
  content: Nullable(RichDocument()),
})

type Kind = (typeof LEGAL_KINDS)[number]
const isKind = (text: string): text is Kind => (LEGAL_KINDS as readonly string[]).includes(text)

async function find(db: Reader, kind: string) {
  const [row] = isKind(kind) ? await db.select().from(legalPages).where(eq(legalPages.kind, kind)) : []
  if (!row) throw missing('legal page')
  return row
}

export const legalPageRoutes = resource('content', '/legal-pages')
  .get(
    '/{kind}',
    {
      operationId: 'getLegalPage',
      summary: 'Read a legal page',
      description: `\`kind\` is one of ${LEGAL_KINDS.join(', ')}. 404 until it is written.`,
      scope: 'storefront:read',
      query: { format: Type.Optional(OneOf(['html', 'markdown'], { description: 'Gives the content in this form, too' })) },
      responses: { 200: LegalPage },
      stored: true,
    },
    async ({ db, params, query: { format }, storefront }) => {
      const row = await find(db, params.kind)
      if (storefront && row.content === null) throw missing('legal page')
      return {
        ...row,
        ...(format === 'html' ? { contentHtml: richTextHtml(row.content) } : {}),
        ...(format === 'markdown' ? { contentMarkdown: richTextMarkdown(row.content) } : {}),
      }
    },
  )
  .put(
    '/{kind}',
    {
      operationId: 'putLegalPage',
      summary: 'Write a legal page',
      description: 'The whole of it. Null as `content` takes it off the storefront.',
      scope: 'content:write',
      body: LegalPageInput,
      responses: { 200: LegalPage },
    },
    ({ params: { kind }, body, write, now }) =>
      write(async (tx) => {
        if (!isKind(kind)) throw missing('legal page')
        requireRichText(body, 'content')
        const row = {
          kind,
          title: body.title?.trim() || null,
          content: body.content as typeof legalPages.$inferInsert.content,
          updatedAt: now,
        }
        await tx
          .insert(legalPages)
          .values({ ...row, createdAt: now })
          .onConflictDoUpdate({ target: legalPages.kind, set: row })
        return find(tx, kind)
      }),
  )
