/** A customer: the shape on the wire, and what webhooks hear of one (document 1, Customers). */
import { asc, eq } from 'drizzle-orm'
import type { Db, Reader } from '../../db/driver.ts'
import { customerAddresses, customers } from '../../db/store/orders.ts'
import { Named, Nullable, Type, Uuid } from '../http/schema.ts'
import { Teller } from '../store/outbox.ts'
import type { Moment } from '../values/clock.ts'
import { missing } from '../values/refusal.ts'

export const ADDRESSES_MAX = 50
export const item = {
  id: Uuid(),
  email: Type.String(),
  name: Nullable(Type.String({ examples: ['Ada Lovelace'] })),
  createdAt: Type.String(),
}
const address = {
  line2: Nullable(Type.String()),
  state: Nullable(Type.String()),
  country: Nullable(Type.String()),
  name: Nullable(Type.String({ examples: ['Ada Lovelace'] })),
  company: Nullable(Type.String()),
  phone: Nullable(Type.String()),
}
export const Address = Named('Address', { id: Uuid(), line1: Type.String(), city: Type.String(), postalCode: Type.String(), ...address })
export const Customer = Named('Customer', { ...item, phone: Nullable(Type.String()), addresses: Type.Array(Address) })

export const customerTold = new Teller('orders', ['customer.created'], Customer)

/** The row of a customer, or 404. */
export async function findCustomer(db: Reader, id: string) {
  const [row] = await db.select().from(customers).where(eq(customers.id, id))
  if (!row) throw missing('customer')
  return row
}

/** A customer with addresses, or 404. */
export async function readCustomer(db: Reader, id: string) {
  const row = await findCustomer(db, id)
  const addresses = await db
    .select()
    .from(customerAddresses)
    .where(eq(customerAddresses.customerId, row.id))
    .orderBy(asc(customerAddresses.id))
    .limit(ADDRESSES_MAX)
  return { ...row, addresses }
}

/** Tells of a customer who is new. */
export const tellCustomer = (tx: Db, moment: Moment, id: string) =>
  customerTold.tell(tx, moment, 'customer.created', { about: id, payload: { customerId: id }, show: () => readCustomer(tx, id) })
