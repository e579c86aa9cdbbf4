/** Customers (document 1): who bought, where they live, and what they bought. They come with their first order. */
import { and, desc, eq, sql } from 'drizzle-orm'
import { aside } from '../../db/aside.ts'
import { customerAddresses, customers, ORDER_STATUSES, orders } from '../../db/store/orders.ts'
import { contains } from '../values/compared.ts'
import { addressOf } from './address.ts'
import { Address, ADDRESSES_MAX, Customer, findCustomer, item, readCustomer } from './customer.ts'
import { normalizeEmail } from '../values/email.ts'
import { conflict, missing, wrong } from '../values/refusal.ts'
import { resource } from '../http/route.ts'
import {
  Body,
  Cents,
  CountryCode,
  deleted,
  Deleted,
  Items,
  Label,
  Named,
  Nullable,
  OneOf,
  Paging,
  Text,
  Type,
  Uuid,
  type Static,
} from '../http/schema.ts'

const CustomerPatch = Body('CustomerPatch', [{ name: 'Ada Lovelace', phone: '+1 503 555 0100' }], {
  name: Type.Optional(Nullable(Text(0, 200))),
  phone: Type.Optional(Nullable(Text(0, 40))),
})
const optional = () => Type.Optional(Nullable(Text(0, 200)))
const AddressInput = Body(
  'AddressInput',
  [
    {
      line1: '1000 SW Broadway',
      city: 'Portland',
      postalCode: '97205',
      line2: 'Suite 4',
      state: 'OR',
      name: 'Ada Lovelace',
      company: 'Stoa Goods',
      phone: '+1 503 555 0100',
    },
  ],
  {
    line1: Label(200),
    city: Label(200),
    postalCode: Label(40),
    line2: optional(),
    country: Type.Optional(Nullable(CountryCode())),
    state: optional(),
    name: optional(),
    company: optional(),
    phone: optional(),
  },
)
const CustomerOrder = Named('CustomerOrder', {
  id: Uuid(),
  orderNumber: Type.String(),
  status: OneOf(ORDER_STATUSES),
  totalCents: Cents(),
  currency: Type.String(),
  createdAt: Type.String(),
})

/** Text without space around it; blank is null, and what is left out stays left out. */
const orNull = (text: string | null | undefined) => (text === undefined ? undefined : text?.trim() || null)

/** The address that a body describes; refuses one without the lines that it needs. */
function addressIn(body: Static<typeof AddressInput>) {
  const { line1, city, postalCode, ...rest } = addressOf(body)!
  for (const [field, value] of Object.entries({ line1, city, postalCode })) if (!value) throw wrong(field, 'must not be blank')
  return { ...rest, line1: line1!, city: city!, postalCode: postalCode! }
}

const paginated = <T>(items: T[], total: number, { limit, offset }: { limit: number; offset: number }) => ({
  items,
  pagination: { total, offset, limit, hasMore: offset + items.length < total },
})

export const customerRoutes = resource('orders', '/customers')
  .get(
    '',
    {
      operationId: 'listCustomers',
      summary: 'List customers',
      description: 'Newest first.',
      scope: 'customers:read',
      responses: { 200: Items(Named('CustomerItem', item)) },
      query: { ...Paging(50), search: Type.Optional(Type.String({ maxLength: 254, description: 'Part of the email' })) },
      stored: true,
    },
    async ({ db, query }) => {
      const where =
        query.search === undefined ? undefined : sql`${customers.email} like ${contains(normalizeEmail(query.search))} escape '\\'`
      const { id, email, name, createdAt } = customers
      const far = aside(db, 'customers')
      const rows = await far
        .select({ id, email, name, createdAt })
        .from(customers)
        .where(where)
        .orderBy(desc(customers.id))
        .limit(query.limit)
        .offset(query.offset)
      return paginated(rows, await far.$count(customers, where), query)
    },
  )
  .get(
    '/{id}',
    {
      operationId: 'getCustomer',
      summary: 'Read a customer with addresses',
      scope: 'customers:read',
      responses: { 200: Customer },
      stored: true,
    },
    ({ db, params }) => readCustomer(db, params.id),
  )
  .patch(
    '/{id}',
    {
      operationId: 'updateCustomer',
      summary: 'Change a customer',
      scope: 'customers:write',
      body: CustomerPatch,
      responses: { 200: Customer },
    },
    ({ body, params, write, now }) =>
      write(async (tx) => {
        const { id } = await findCustomer(tx, params.id)
        await tx
          .update(customers)
          .set({ name: orNull(body.name), phone: orNull(body.phone), updatedAt: now })
          .where(eq(customers.id, id))
        return readCustomer(tx, id)
      }),
  )
  .post(
    '/{id}/addresses',
    {
      operationId: 'createAddress',
      summary: 'Add an address',
      scope: 'customers:write',
      body: AddressInput,
      responses: { 201: Address },
    },
    ({ body, params, write, clock, now }) =>
      write(async (tx) => {
        const { id: customerId } = await findCustomer(tx, params.id)
        if ((await tx.$count(customerAddresses, eq(customerAddresses.customerId, customerId))) >= ADDRESSES_MAX)
          throw conflict(`a customer has at most ${ADDRESSES_MAX} addresses`)
        const row = { ...addressIn(body), id: clock.id(), customerId, createdAt: now }
        await tx.insert(customerAddresses).values(row)
        return row
      }),
  )
  .delete(
    '/{id}/addresses/{addressId}',
    { operationId: 'deleteAddress', summary: 'Remove an address', scope: 'customers:write', responses: { 200: Deleted } },
    ({ params, write }) =>
      write(async (tx) => {
        const { id } = await findCustomer(tx, params.id)
        const gone = await tx
          .delete(customerAddresses)
          .where(and(eq(customerAddresses.customerId, id), eq(customerAddresses.id, params.addressId)))
          .returning({ id: customerAddresses.id })
        if (!gone.length) throw missing('address')
        return deleted
      }),
  )
  .get(
    '/{id}/orders',
    {
      operationId: 'listCustomerOrders',
      summary: "List a customer's orders",
      description: 'Newest first.',
      scope: 'customers:read',
      query: Paging(20),
      responses: { 200: Items(CustomerOrder) },
      stored: true,
    },
    async ({ db, params, query }) => {
      const { id } = await findCustomer(db, params.id)
      const rows = await db
        .select({
          id: orders.id,
          lookup: orders.lookup,
          status: orders.status,
          totalCents: orders.totalCents,
          currency: orders.currency,
          createdAt: orders.createdAt,
        })
        .from(orders)
        .where(eq(orders.customerId, id))
        .orderBy(desc(orders.createdAt), desc(orders.id))
        .limit(query.limit)
        .offset(query.offset)
      return paginated(
        rows.map(({ lookup, ...row }) => ({ ...row, orderNumber: String(lookup) })),
        await db.$count(orders, eq(orders.customerId, id)),
        query,
      )
    },
  )
