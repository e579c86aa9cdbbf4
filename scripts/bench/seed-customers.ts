/** The bench's customers, and where their orders go. */
import { inserter, type Db } from '../../db/driver.ts'
import { customers } from '../../db/store/orders.ts'
import type { Address } from '../../db/store/store.ts'

export const CUSTOMERS = 3_000

/** The address that orders go to. */
export const ADDRESS: Address = {
  name: 'Ada Lovelace',
  company: null,
  line1: '1000 SW Broadway',
  line2: null,
  city: 'Portland',
  state: 'OR',
  postalCode: '97205',
  country: 'US',
  phone: null,
}

/** The address for mail of the nth customer. */
export const customerEmail = (n: number) => `customer${n}@example.com`

const insertCustomer = inserter(customers)

/** Makes them all; returns their ids. */
export async function seedCustomers(tx: Db, now: string): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < CUSTOMERS; n++) {
    const id = Bun.randomUUIDv7()
    await insertCustomer(tx, { id, email: customerEmail(n), name: `Customer ${n}`, phone: null, createdAt: now, updatedAt: now })
    ids.push(id)
  }
  return ids
}
