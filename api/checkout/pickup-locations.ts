/** Pickup locations (document 1): the addresses where buyers collect what they bought. */
import { asc, eq } from 'drizzle-orm'
import type { Reader } from '../../db/driver.ts'
import { pickupLocations } from '../../db/store/checkout.ts'
import { missing } from '../values/refusal.ts'
import { resource } from '../http/route.ts'
import { Body, CountryCode, deleted, Deleted, Label, Line, Named, Nullable, Page, Paging, Type, Uuid, type Static } from '../http/schema.ts'

const Location = Named('PickupLocation', {
  id: Uuid(),
  label: Type.String(),
  name: Type.String({ examples: ['Shop on the square'] }),
  company: Nullable(Type.String()),
  line1: Type.String(),
  line2: Nullable(Type.String()),
  city: Type.String(),
  state: Nullable(Type.String()),
  postalCode: Type.String(),
  country: Type.String(),
  phone: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
const optional = () => Type.Optional(Nullable(Line(0, 200)))
const LocationInput = Body(
  'PickupLocationInput',
  [
    {
      label: 'Spring collection',
      name: 'Shop on the square',
      line1: '1000 SW Broadway',
      city: 'Portland',
      postalCode: '97205',
      country: 'US',
      phone: '+1 503 555 0100',
    },
  ],
  {
    label: Label(200, { description: 'What the merchant calls it' }),
    name: Label(200, { description: 'What buyers read' }),
    company: optional(),
    line1: Label(200),
    line2: optional(),
    city: Label(200),
    state: optional(),
    postalCode: Label(40),
    country: CountryCode(),
    phone: Label(40),
  },
)

async function find(db: Reader, id: string) {
  const [row] = await db.select().from(pickupLocations).where(eq(pickupLocations.id, id))
  if (!row) throw missing('pickup location')
  return row
}

/** The row that a body describes; what it leaves out is empty, on create and on PATCH alike. */
const columns = ({ company, line2, state, country, ...body }: Static<typeof LocationInput>) => ({
  ...body,
  company: company?.trim() || null,
  line2: line2?.trim() || null,
  state: state?.trim() || null,
  country: country.toUpperCase(),
})

const read = ['storefront:read', 'settings:read'] as const

export const pickupLocationRoutes = resource('checkout', '/pickup-locations')
  .get(
    '',
    {
      operationId: 'listPickupLocations',
      summary: 'List pickup locations',
      description: 'Oldest first.',
      scope: read,
      query: Paging(50),
      responses: { 200: Page(Location) },
      stored: true,
    },
    async ({ db, query: { limit, offset } }) => ({
      data: await db.select().from(pickupLocations).orderBy(asc(pickupLocations.id)).limit(limit).offset(offset),
      meta: { count: await db.$count(pickupLocations), offset, limit },
    }),
  )
  .post(
    '',
    {
      operationId: 'createPickupLocation',
      summary: 'Add a pickup location',
      scope: 'settings:write',
      body: LocationInput,
      responses: { 201: Location },
    },
    ({ body, now, clock, write }) =>
      write(async (tx) => {
        const row = { id: clock.id(), ...columns(body), createdAt: now, updatedAt: now }
        await tx.insert(pickupLocations).values(row)
        return row
      }),
  )
  .get(
    '/{id}',
    {
      operationId: 'getPickupLocation',
      summary: 'Read a pickup location',
      scope: read,
      responses: { 200: Location },
      stored: true,
    },
    ({ db, params }) => find(db, params.id),
  )
  .patch(
    '/{id}',
    {
      operationId: 'replacePickupLocation',
      summary: 'Replace a pickup location',
      description: 'A full replacement: all required fields have to be sent, and what is left out is emptied.',
      scope: 'settings:write',
      body: LocationInput,
      responses: { 200: Location },
    },
    ({ params, body, now, write }) =>
      write(async (tx) => {
        const next = { ...(await find(tx, params.id)), ...columns(body), updatedAt: now }
        await tx.update(pickupLocations).set(next).where(eq(pickupLocations.id, next.id))
        return next
      }),
  )
  .delete(
    '/{id}',
    {
      operationId: 'deletePickupLocation',
      summary: 'Remove a pickup location',
      description: 'Orders keep its id; open carts that name it can not be checked out before they name another, or none.',
      scope: 'settings:write',
      responses: { 200: Deleted },
    },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await find(tx, params.id)
        await tx.delete(pickupLocations).where(eq(pickupLocations.id, id))
        return deleted
      }),
  )
