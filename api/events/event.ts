/** An event (document 2): a product with a date, a place and a capacity, which is the stock of its one ticket. */
import { and, eq, sql } from 'drizzle-orm'
import { compile, named, type Db, type Reader } from '../../db/driver.ts'
import { collectionProducts, collections, products, variants } from '../../db/store/catalog.ts'
import { events, seats } from '../../db/store/events.ts'
import { eventFieldsOf, findProduct, type View } from '../catalog/read.ts'
import { EventFields } from '../catalog/shapes.ts'
import { translationsFor } from '../catalog/translated.ts'
import { changeVariant, writing } from '../catalog/write.ts'
import type { Call } from '../http/route.ts'
import { Named, Nullable, OneOf, Type, Uuid } from '../http/schema.ts'
import { conflict, missing, Refusal } from '../values/refusal.ts'

export const EVENT_STATUSES = ['draft', 'published'] as const

const item = {
  id: Uuid(),
  name: Type.String({ examples: ['Mending workshop'] }),
  slug: Type.String(),
  images: Type.Array(Type.String()),
  event: EventFields,
  ticketsSold: Type.Integer({ description: 'Seats of orders that are paid' }),
  groups: Type.Array(Type.Object({ id: Uuid(), name: Type.String(), slug: Type.String() }), {
    description: 'The collections of the kind `event-group` that it is in',
  }),
}
export const EventItem = Named('EventItem', item)
export const EventDetail = Named('EventDetail', {
  ...item,
  summary: Nullable(Type.String()),
  status: OneOf(EVENT_STATUSES, { description: 'An event whose product is `hidden` is a draft, too' }),
})

const columns = {
  id: products.id,
  name: products.name,
  slug: products.slug,
  summary: products.summary,
  status: products.status,
  images: products.images,
  sold: events.sold,
}
const byIds = compile((db) =>
  db
    .select(columns)
    .from(events)
    .innerJoin(products, eq(products.id, events.productId))
    .where(sql`${events.productId} in (select value from json_each(${named('ids')}))`),
)
const groupsOf = compile((db) =>
  db
    .select({
      productId: collectionProducts.productId,
      id: collections.id,
      name: collections.name,
      slug: collections.slug,
      active: collections.active,
    })
    .from(collectionProducts)
    .innerJoin(collections, and(eq(collections.id, collectionProducts.collectionId), eq(collections.kind, 'event-group')))
    .where(sql`${collectionProducts.productId} in (select value from json_each(${named('ids')}))`),
)

/** Events as the view sees them, in the order of the ids. */
export async function readEvents(db: Reader, ids: readonly string[], view: View) {
  if (!ids.length) return []
  const values = { ids: JSON.stringify(ids) }
  const rows = new Map((await byIds.all(db, values)).map((row) => [row.id, row]))
  const fields = await eventFieldsOf(db, ids)
  const groups = Map.groupBy(await groupsOf.all(db, values), ({ productId }) => productId)
  const translated = await translationsFor(db, 'product', view.lang, [...ids])
  return ids.flatMap((id) => {
    const row = rows.get(id)
    if (!row) return []
    const { name, slug, summary, images, sold, status } = row
    const t = translated.get(id)
    return [
      {
        ...{ id, name: t?.name ?? name, slug: t?.slug ?? slug, summary: t?.summary ?? summary, images },
        event: fields.get(id)!,
        ticketsSold: sold,
        groups: (groups.get(id) ?? []).filter(({ active }) => active || !view.storefront).sort((a, b) => (a.id < b.id ? -1 : 1)),
        status: status === 'published' ? status : ('draft' as const),
      },
    ]
  })
}

/** What the operators of a store see. */
export const everyone = { lang: null, storefront: false }
/** What names people, or opens their seats, is kept by nobody on the way. */
export const PRIVATE = { 'cache-control': 'no-store' }

/** An event by its id or slug; 404 for a product that is none, and for one that a storefront may not see. */
export async function findEvent(db: Reader, idOrSlug: string, view: Pick<View, 'lang' | 'storefront'>) {
  const product = await findProduct(db, idOrSlug, view).catch((error: unknown) => {
    throw error instanceof Refusal && error.status === 404 ? missing('event') : error
  })
  const [event] = await db.select().from(events).where(eq(events.productId, product.id))
  if (!event) throw missing('event')
  return { product, event }
}

/** Gives an event a capacity, or takes it away; 409 when more seats are sold. */
export async function setCapacity(tx: Db, call: Call, variantId: string, capacity: number | null) {
  const [ticket] = await tx.select().from(variants).where(eq(variants.id, variantId))
  const sold = await tx.$count(seats, and(eq(seats.productId, ticket!.productId), sql`${seats.state} <> 'void'`))
  if (capacity !== null && capacity < sold) throw conflict(`${sold} seats are sold or held: the capacity can't be less`, { sold })
  const stock = capacity === null ? { tracked: false } : { tracked: true, quantity: capacity }
  await changeVariant(tx, writing(call), ticket!, { stock }, await call.settings())
}
