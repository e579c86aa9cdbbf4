/** Events (document 2): made and changed like products, sold as one ticket that is not shipped. */
import { and, asc, eq, sql } from 'drizzle-orm'
import { aside } from '../../db/aside.ts'
import type { Db } from '../../db/driver.ts'
import { collections, products } from '../../db/store/catalog.ts'
import { events, isUndated } from '../../db/store/events.ts'
import { indexGroup } from '../catalog/groups/groups.ts'
import { storeProduct } from '../catalog/insert-product.ts'
import { viewOf } from '../catalog/read.ts'
import { indexProduct } from '../catalog/search/index-products.ts'
import { tellProduct } from '../catalog/told.ts'
import { Images, Lang } from '../catalog/shapes.ts'
import { replaceCollections, writing } from '../catalog/write.ts'
import { blank } from '../http/input/blank.ts'
import { slugFor } from '../http/input/references.ts'
import { resource, type Call, type Params } from '../http/route.ts'
import { Body, Instant, Label, Line, Money, Named, Nullable, OneOf, Text, Type, Uuid, type Static } from '../http/schema.ts'
import { wrong } from '../values/refusal.ts'
import { fold } from '../values/slug.ts'
import { toMinor } from '../values/money.ts'
import { utc } from '../values/time.ts'
import { EVENT_STATUSES, EventDetail, EventItem, everyone, findEvent, readEvents, setCapacity } from './event.ts'

const CAPACITY_MAX = 1_000_000
/** A list without `limit` has as many. */
const LIST_MAX = 100

const changeable = {
  startsAt: Type.Optional(Nullable(Instant())),
  location: Type.Optional(Nullable(Line(0, 300))),
  capacity: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: CAPACITY_MAX, description: 'Null is no limit' }))),
  guestLabel: Type.Optional(Nullable(Line(0, 100, { description: 'What the guest is: "Speaker"' }))),
  guest: Type.Optional(Nullable(Line(0, 200, { description: 'Who is to be met there' }))),
  description: Type.Optional(Nullable(Text(0, 5000, { description: 'Plain text; the `summary` of answers' }))),
  images: Type.Optional(Images),
  collectionIds: Type.Optional(Type.Array(Uuid(), { maxItems: 100, uniqueItems: true, description: 'Of the kind `event-group`' })),
  collectionNames: Type.Optional(Type.Array(Label(300), { maxItems: 100, description: 'Groups that are made when they are not there' })),
}
const EventInput = Body(
  'EventInput',
  [
    {
      name: 'Mending workshop',
      price: '25.00',
      startsAt: '2027-12-05T10:00:00-08:00',
      location: 'Burnside Hall, Portland',
      capacity: 12,
      collectionNames: ['Workshops'],
    },
  ],
  {
    name: Label(300),
    price: Type.Union([Type.String({ pattern: '^\\d{1,10}(\\.\\d{1,4})?$' }), Money()], {
      description: 'Of one ticket, as a decimal text',
    }),
    slug: Type.Optional(Type.String({ pattern: '^[a-z0-9-]+$', minLength: 1, maxLength: 200 })),
    ...changeable,
    status: Type.Optional(OneOf(EVENT_STATUSES, { default: 'published' })),
  },
)
const EventPatch = Body('EventPatch', [{ startsAt: '2027-12-06T10:00:00-08:00', capacity: 14 }], {
  name: Type.Optional(Label(300)),
  ...changeable,
  status: Type.Optional(OneOf(EVENT_STATUSES)),
})

/** The groups that a request names by id or by name; those that are not there by that name are made. Null: it names none. */
async function groupsOf(tx: Db, { body, clock, now }: Call<unknown, Static<typeof EventPatch>>): Promise<string[] | null> {
  const { collectionIds, collectionNames } = body
  if (!collectionIds && !collectionNames) return null
  const ids = new Set<string>()
  for (const [i, id] of (collectionIds ?? []).entries()) {
    const [group] = await tx.select({ kind: collections.kind }).from(collections).where(eq(collections.id, id))
    if (group?.kind !== 'event-group') throw wrong(`collectionIds.${i}`, 'no such group of events in this store')
    ids.add(id)
  }
  for (const name of collectionNames ?? []) {
    const [known] = await tx
      .select({ id: collections.id })
      .from(collections)
      .where(and(eq(collections.kind, sql`'event-group'`), sql`${collections.name} collate nocase = ${name}`))
      .orderBy(asc(collections.id))
      .limit(1)
    if (known) ids.add(known.id)
    else {
      const row = {
        ...{ id: clock.id(), name, slug: await slugFor(tx, collections, undefined, name), kind: 'event-group' as const, active: true },
        ...{ description: null, longDescription: null, image: null, seo: {}, createdAt: now, updatedAt: now },
      }
      await tx.insert(collections).values(row)
      await indexGroup(tx, 'collection', row)
      ids.add(row.id)
    }
  }
  return [...ids]
}

/** A text that is blank clears a field, as null does; undefined leaves it. */

async function createEvent(tx: Db, call: Call<unknown, Static<typeof EventInput>>): Promise<string> {
  const { body, now } = call
  const { name, description, images = [], status, capacity = null } = body
  const collectionIds = (await groupsOf(tx, call)) ?? []
  const settings = await call.settings()
  toMinor(Number(body.price), settings.currency, 'price')
  const stock = { tracked: capacity !== null, quantity: capacity ?? 0, backorder: false }
  const own = {
    ...{ name, slug: body.slug, summary: description ?? null, images, status, collectionIds },
    variants: [{ name: 'Ticket', price: Number(body.price), shippable: false, stock }],
  }
  const product = await storeProduct(tx, writing(call), settings, own, true)
  const [ticket] = await tx.all<[string]>(sql`select id from variants where product_id = ${product}`)
  await tx.insert(events).values({
    productId: product,
    variantId: ticket![0],
    startsAt: utc(body.startsAt ?? null),
    location: blank(body.location) ?? null,
    guest: blank(body.guest) ?? null,
    guestLabel: blank(body.guestLabel) ?? null,
    createdAt: now,
    updatedAt: now,
  })
  await indexProduct(tx, product)
  await tellProduct(tx, call, 'product.created', product)
  return product
}

async function changeEvent(tx: Db, call: Call<unknown, Static<typeof EventPatch>, Params<'/{idOrSlug}'>>): Promise<string> {
  const { body, now } = call
  const { event } = await findEvent(tx, call.params.idOrSlug, everyone)
  const id = event.productId
  const { name, description, images, status, startsAt, location, guest, guestLabel, capacity } = body
  const groups = await groupsOf(tx, call)
  if (groups) {
    const others = await tx.all<[string]>(
      sql`select m.collection_id from collection_products m join collections c on c.id = m.collection_id where m.product_id = ${id} and c.kind <> 'event-group'`,
    )
    await replaceCollections(tx, id, [...others.map(([other]) => other), ...groups])
  }
  await tx
    .update(products)
    .set({
      ...(name === undefined ? {} : { name, foldedName: fold(name) }),
      ...{ summary: description, images, status, updatedAt: now },
    })
    .where(eq(products.id, id))
  await tx
    .update(events)
    .set({ startsAt: utc(startsAt), location: blank(location), guest: blank(guest), guestLabel: blank(guestLabel), updatedAt: now })
    .where(eq(events.productId, id))
  if (capacity !== undefined) await setCapacity(tx, call, event.variantId, capacity)
  await indexProduct(tx, id)
  await tellProduct(tx, call, 'product.updated', id)
  return id
}

export const eventRoutes = resource('events', '/events')
  .get(
    '',
    {
      operationId: 'listEvents',
      summary: 'List events',
      description: 'By their date, those without one last. Without `limit` as many as it may be at most.',
      scope: ['storefront:read', 'events:read'],
      tool: 'events',
      query: {
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_MAX, description: 'Page size' })),
        offset: Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0, description: 'How many to skip' }),
        lang: Lang,
      },
      responses: { 200: Named('EventList', { data: Type.Array(EventItem), total: Type.Integer() }) },
      stored: true,
    },
    async (call) => {
      const { limit = LIST_MAX, offset } = call.query
      const view = await viewOf(call)
      const seen = view.storefront ? eq(products.status, 'published') : undefined
      const far = aside(call.db, 'events')
      const found = await far
        .select({ id: sql<string>`${events.productId}`.mapWith(events.productId) })
        .from(sql`${events} cross join ${products}`)
        .where(and(eq(products.id, events.productId), seen))
        .orderBy(asc(isUndated), asc(events.startsAt), asc(events.productId))
        .limit(limit)
        .offset(offset)
      const [counted] = await far
        .select({ total: sql<number>`count(*)` })
        .from(sql`${events} cross join ${products}`)
        .where(and(eq(products.id, events.productId), seen))
      const ids = found.map(({ id }) => id)
      return { data: await readEvents(call.db, ids, view), total: counted!.total }
    },
  )
  .post(
    '',
    {
      operationId: 'createEvent',
      summary: 'Add an event',
      scope: 'events:write',
      tool: 'events',
      body: EventInput,
      images: 'product',
      responses: {
        201: Named('CreatedEvent', {
          message: Type.String(),
          event: Type.Object({
            ...{ id: Uuid(), slug: Type.String(), name: Type.String(), status: OneOf(EVENT_STATUSES) },
            ...{ startsAt: Nullable(Type.String()), location: Nullable(Type.String()), capacity: Nullable(Type.Integer()) },
            ...{ images: Type.Array(Type.String()), collectionIds: Type.Array(Uuid()) },
          }),
        }),
      },
    },
    (call) =>
      call.write(async (tx) => {
        const id = await createEvent(tx, call)
        const [made] = await readEvents(tx, [id], { ...everyone, currency: null, settings: await call.settings() })
        const { groups, event, ...rest } = made!
        return { message: 'the event was made', event: { ...rest, ...event, collectionIds: groups.map((group) => group.id) } }
      }),
  )
  .get(
    '/{idOrSlug}',
    {
      operationId: 'getEvent',
      summary: 'Read an event',
      scope: ['storefront:read', 'events:read'],
      tool: 'events',
      query: { lang: Lang },
      responses: { 200: Named('EventAnswer', { event: EventDetail }) },
      stored: true,
    },
    async (call) => {
      const view = await viewOf(call)
      const { event } = await findEvent(call.db, call.params.idOrSlug, view)
      const [found] = await readEvents(call.db, [event.productId], view)
      return { event: found! }
    },
  )
  .patch(
    '/{idOrSlug}',
    {
      operationId: 'updateEvent',
      summary: 'Change an event',
      description: "Neither the ticket's price nor its variant: those are changed where variants are.",
      scope: 'events:write',
      tool: 'events',
      body: EventPatch,
      images: 'product',
      responses: { 200: Named('ChangedEvent', { message: Type.String(), event: Type.Object({ id: Uuid() }) }) },
      refuses: [409],
    },
    (call) => call.write(async (tx) => ({ message: 'the event was changed', event: { id: await changeEvent(tx, call) } })),
  )
