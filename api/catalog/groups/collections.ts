/** Collections (document 3, Catalog): ordered choices of products, and the groups of events. */
import { and, asc, eq } from 'drizzle-orm'
import { aside } from '../../../db/aside.ts'
import type { Reader } from '../../../db/driver.ts'
import { collections } from '../../../db/store/catalog.ts'
import { resource } from '../../http/route.ts'
import { Body, deleted, Deleted, Label, Named, Nullable, OneOf, Page, RichTextOrText, Type, Uuid, type Static } from '../../http/schema.ts'
import { slugFor } from '../../http/input/references.ts'
import { requireRichText } from '../../values/rich-text/rich-text.ts'
import { activeInput, findGroup, forget, groupCondition, groupFilters, groupInput, indexGroup, overlay, overlayAll } from './groups.ts'
import { MEMBERS_MAX, membersOf, replaceMembers } from './members.ts'
import { viewOf } from '../read.ts'
import { translationsFor } from '../translated.ts'
import { imageInput, Lang, Seo } from '../shapes.ts'

const KINDS = ['products', 'event-group'] as const
const item = {
  id: Uuid(),
  name: Type.String({ examples: ['Summer'] }),
  slug: Type.String(),
  description: RichTextOrText(),
  longDescription: RichTextOrText(),
  image: Nullable(Type.String()),
  kind: OneOf(KINDS),
  active: Type.Boolean(),
  seo: Seo,
  createdAt: Type.String(),
  updatedAt: Type.String(),
}
const Collection = Named('Collection', {
  ...item,
  productIds: Type.Array(Uuid(), {
    description: 'In the order of the collection, at most 5,000 in an answer: the collections of a list share them',
  }),
  productCount: Type.Integer({ description: 'How many products it has' }),
})
const input = {
  ...groupInput,
  longDescription: Type.Optional(RichTextOrText()),
  image: imageInput,
  kind: Type.Optional(OneOf(KINDS)),
  productIds: Type.Optional(Type.Array(Uuid(), { maxItems: MEMBERS_MAX, uniqueItems: true })),
}
const CollectionInput = Body('CollectionInput', [{ name: 'Summer', active: true, kind: 'products' }], {
  name: Label(300),
  ...input,
  ...activeInput,
  kind: Type.Optional(OneOf(KINDS, { default: 'products' })),
})
const CollectionPatch = Body('CollectionPatch', [{ active: true, kind: 'products' }], { name: Type.Optional(Label(300)), ...input })
const everyone = { lang: null, storefront: false }

async function read(db: Reader, idOrSlug: string, view: { lang: string | null; storefront: boolean }) {
  const row = await findGroup(db, 'collection', idOrSlug, view)
  const translated = (await translationsFor(db, 'collection', view.lang, [row.id])).get(row.id)
  return { ...overlay(row, translated), ...(await membersOf(db, [row.id], view.storefront)).get(row.id)! }
}

const own = ({ productIds: _, ...body }: Static<typeof CollectionPatch>) => body as Partial<typeof collections.$inferInsert>

export const collectionRoutes = resource('catalog', '/collections')
  .get(
    '',
    {
      operationId: 'listCollections',
      summary: 'List collections',
      scope: 'storefront:read',
      responses: { 200: Page(Collection) },
      query: { ...groupFilters, kind: Type.Optional(OneOf(KINDS)) },
      stored: true,
    },
    async (call) => {
      const { limit, offset, kind } = call.query
      const view = await viewOf(call)
      const where = and(groupCondition('collection', call.query, view), kind === undefined ? undefined : eq(collections.kind, kind))
      const rows = await aside(call.db, 'collections')
        .select()
        .from(collections)
        .where(where)
        .orderBy(asc(collections.id))
        .limit(limit)
        .offset(offset)
      const ids = await membersOf(
        call.db,
        rows.map((row) => row.id),
        view.storefront,
      )
      const data = (await overlayAll(call.db, 'collection', rows, view.lang)).map((row) => ({ ...row, ...ids.get(row.id)! }))
      return { data, meta: { count: await aside(call.db, 'collections').$count(collections, where), offset, limit } }
    },
  )
  .post(
    '',
    {
      operationId: 'createCollection',
      summary: 'Add a collection',
      scope: 'catalog:write',
      body: CollectionInput,
      images: 'collection',
      responses: { 201: Collection },
    },
    (call) =>
      call.write(async (tx) => {
        const { body, now, clock } = call
        requireRichText(body, 'description', 'longDescription')
        const row = {
          description: null,
          longDescription: null,
          image: null,
          kind: 'products' as const,
          active: true,
          seo: {},
          createdAt: now,
          updatedAt: now,
          ...own(body),
          name: body.name,
          id: clock.id(),
          slug: await slugFor(tx, collections, body.slug, body.name),
        }
        await tx.insert(collections).values(row)
        await replaceMembers(tx, row.id, body.productIds ?? [])
        await indexGroup(tx, 'collection', row)
        return read(tx, row.id, everyone)
      }),
  )
  .get(
    '/{idOrSlug}',
    {
      operationId: 'getCollection',
      summary: 'Read a collection',
      scope: 'storefront:read',
      query: { lang: Lang },
      responses: { 200: Collection },
      stored: true,
    },
    async (call) => read(call.db, call.params.idOrSlug, await viewOf(call)),
  )
  .patch(
    '/{idOrSlug}',
    {
      operationId: 'updateCollection',
      summary: 'Change a collection',
      scope: 'catalog:write',
      body: CollectionPatch,
      images: 'collection',
      responses: { 200: Collection },
      refuses: [409],
    },
    (call) =>
      call.write(async (tx) => {
        const { body } = call
        requireRichText(body, 'description', 'longDescription')
        const { id } = await findGroup(tx, 'collection', call.params.idOrSlug, everyone)
        await tx
          .update(collections)
          .set({
            ...own(body),
            ...(body.slug === undefined ? {} : { slug: await slugFor(tx, collections, body.slug, '') }),
            updatedAt: call.now,
          })
          .where(eq(collections.id, id))
        if (body.productIds) await replaceMembers(tx, id, body.productIds)
        await indexGroup(tx, 'collection', await findGroup(tx, 'collection', id, everyone))
        return read(tx, id, everyone)
      }),
  )
  .delete(
    '/{idOrSlug}',
    {
      operationId: 'deleteCollection',
      summary: 'Remove a collection',
      description: 'Its products stay.',
      scope: 'catalog:write',
      responses: { 200: Deleted },
    },
    (call) =>
      call.write(async (tx) => {
        const { id } = await findGroup(tx, 'collection', call.params.idOrSlug, everyone)
        await tx.delete(collections).where(eq(collections.id, id))
        await forget(tx, 'collection', id)
        return deleted
      }),
  )
