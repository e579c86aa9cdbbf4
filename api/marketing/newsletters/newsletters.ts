/** Newsletters (document 1): drafts, and what has become of them. Sending is newsletter-sending.ts. */
import { desc, eq } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import { products, variants } from '../../../db/store/catalog.ts'
import { AUDIENCES, NEWSLETTER_STATUSES, newsletters, type Featured } from '../../../db/store/newsletters.ts'
import { conflict, wrong } from '../../values/refusal.ts'
import { resource } from '../../http/route.ts'
import { Body, deleted, Deleted, Label, Named, Nullable, OneOf, Page, Paging, Text, Type, Uuid, type Static } from '../../http/schema.ts'
import { requireIds } from '../../http/input/references.ts'
import { findNewsletter, Newsletter, type NewsletterRow } from './newsletter.ts'

/** Document 1, Limits. */
const FEATURED_MAX = 6
const CONTENT_MAX = 100_000

const Product = Named('CreateNewsletterProduct', {
  productId: Uuid(),
  variantId: Type.Optional(Nullable(Uuid({ description: 'The cheapest one when left out' }))),
})
const fields = {
  subject: Label(200),
  content: Text(1, CONTENT_MAX, { pattern: '\\S', description: 'Plain text; an empty line ends a paragraph' }),
}
const more = {
  products: Type.Optional(Type.Array(Product, { maxItems: FEATURED_MAX, description: 'Featured products, in their order' })),
}
const NewsletterInput = Body(
  'NewsletterInput',
  [{ subject: 'New in the shop', content: 'Hello!\n\nThree new cups are here.', audience: 'customers' }],
  { ...fields, audience: Type.Optional(OneOf(AUDIENCES, { default: 'all_active' })), ...more },
)
const NewsletterPatch = Type.Partial(Type.Object({ ...fields, audience: OneOf(AUDIENCES), ...more }), {
  $id: 'NewsletterPatch',
  examples: [{ audience: 'all_active' }],
})

function requireDraft({ status }: NewsletterRow, what: string) {
  if (status !== 'draft') throw conflict(`only drafts can be ${what}: the newsletter is ${status}`, { status })
}

/** The products that a body features; refuses what is not in the store, unless the newsletter has it already (then it is left out of the mail). */
async function featuredOf(tx: Db, given: Static<typeof more.products> | undefined, kept: readonly Featured[] = []): Promise<Featured[]> {
  const featured = (given ?? []).map(({ productId, variantId }) => ({
    productId: productId,
    variantId: variantId ?? null,
  }))
  const added = featured.map((entry) =>
    kept.some(({ productId, variantId }) => productId === entry.productId && variantId === entry.variantId) ? null : entry,
  )
  const ids = (field: 'productId' | 'variantId') => added.map((entry) => entry?.[field])
  await requireIds(tx, products, ids('productId'), (i) => `products.${i}.productId`)
  await requireIds(tx, variants, ids('variantId'), (i) => `products.${i}.variantId`)
  for (const [i, entry] of added.entries()) {
    if (!entry?.variantId) continue
    const [own] = await tx.select({ productId: variants.productId }).from(variants).where(eq(variants.id, entry.variantId))
    if (own!.productId !== entry.productId) throw wrong(`products.${i}.variantId`, 'is a variant of another product')
  }
  return featured
}

export const newsletterRoutes = resource('marketing', '/newsletters')
  .get(
    '',
    {
      operationId: 'listNewsletters',
      summary: 'List newsletters',
      description: 'Newest first.',
      scope: 'marketing:read',
      query: { ...Paging(50), status: Type.Optional(OneOf(NEWSLETTER_STATUSES)) },
      responses: { 200: Page(Newsletter) },
      stored: true,
    },
    async ({ db, query: { limit, offset, status } }) => {
      const where = status && eq(newsletters.status, status)
      const rows = await db.select().from(newsletters).where(where).orderBy(desc(newsletters.id)).limit(limit).offset(offset)
      return { data: rows, meta: { count: await db.$count(newsletters, where), offset, limit } }
    },
  )
  .post(
    '',
    {
      operationId: 'createNewsletter',
      summary: 'Write a newsletter',
      description: 'A draft: nothing is sent.',
      scope: 'marketing:write',
      body: NewsletterInput,
      responses: { 201: Newsletter },
    },
    ({ body, now, clock, write }) =>
      write(async (tx) => {
        const row: NewsletterRow = {
          ...{
            id: clock.id(),
            subject: body.subject.trim(),
            content: body.content,
            status: 'draft',
            audience: body.audience ?? 'all_active',
          },
          ...{ products: await featuredOf(tx, body.products), scheduledAt: null, recipientCount: 0, sentAt: null, failedAt: null },
          ...{ errorMessage: null, createdAt: now, updatedAt: now },
          ...{ lastSubscriberId: null, passedSubscriberId: null, quotaMonth: null, reserved: 0, triedBefore: 0 },
        }
        await tx.insert(newsletters).values(row)
        return row
      }),
  )
  .get(
    '/{id}',
    {
      operationId: 'getNewsletter',
      summary: 'Read a newsletter',
      scope: 'marketing:read',
      responses: { 200: Newsletter },
      stored: true,
    },
    ({ db, params }) => findNewsletter(db, params.id),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateNewsletter',
      summary: 'Change a draft',
      scope: 'marketing:write',
      body: NewsletterPatch,
      responses: { 200: Newsletter },
      refuses: [409],
    },
    ({ params, body, now, write }) =>
      write(async (tx) => {
        const row = await findNewsletter(tx, params.id)
        const { products: given, ...rest } = body
        const featured = given && (await featuredOf(tx, given, row.products))
        requireDraft(row, 'changed')
        const next = { ...row, ...rest, ...(featured ? { products: featured } : {}), updatedAt: now }
        await tx.update(newsletters).set(next).where(eq(newsletters.id, row.id))
        return next
      }),
  )
  .delete(
    '/{id}',
    { operationId: 'deleteNewsletter', summary: 'Remove a draft', scope: 'marketing:write', responses: { 200: Deleted }, refuses: [409] },
    ({ params, write }) =>
      write(async (tx) => {
        const row = await findNewsletter(tx, params.id)
        requireDraft(row, 'deleted')
        await tx.delete(newsletters).where(eq(newsletters.id, row.id))
        return deleted
      }),
  )
