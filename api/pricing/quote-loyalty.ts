/** The points that a cart is paid with: what the member has now, and what the store lets it redeem. */
import { eq } from 'drizzle-orm'
import { compile, named, type Reader } from '../../db/driver.ts'
import { loyaltySettings } from '../../db/store/loyalty.ts'
import { customers } from '../../db/store/orders.ts'
import type { Settings } from '../http/route.ts'
import { availablePoints } from '../marketing/loyalty/points.ts'
import { redemptionProblem } from '../marketing/loyalty/redeeming.ts'
import { decimalsOf } from '../values/money.ts'
import type { PriceInput } from './price.ts'

const rules = compile((db) => db.select().from(loyaltySettings))
const customerByEmail = compile((db) =>
  db
    .select({ id: customers.id })
    .from(customers)
    .where(eq(customers.email, named('email'))),
)

/** The id of no customer. */
const NOBODY = '00000000-0000-0000-0000-000000000000'

/** The points that a cart wants to pay with, and whose they are. */
interface Paying {
  loyaltyPoints?: number
  email?: string | null
  currency: string
}

/** The points of a cart as the price takes them, or why it takes none (`isOff`: no cart of the store does); neither when the cart has none. */
export async function loyaltyFor(
  db: Reader,
  { loyaltyPoints: points = 0, email = null, currency }: Paying,
  settings: Settings,
  now: string,
): Promise<{ loyalty: PriceInput['loyalty']; warning?: string; isOff?: boolean }> {
  if (points <= 0) return { loyalty: null }
  const redemption = (await rules.get(db)) as typeof loyaltySettings.$inferSelect | undefined
  if (!redemption || !settings.tools.loyalty) return { loyalty: null, warning: 'the store has no loyalty program', isOff: true }
  if (email === null) return { loyalty: null, warning: 'points are redeemed by customers: set the email of the cart first' }
  const customer = (await customerByEmail.get(db, { email })) as { id: string } | undefined
  // Whoever may set an email is not told whether it is a customer's: nobody's points are looked up, and are none.
  const problem = redemptionProblem(points, await availablePoints(db, customer?.id ?? NOBODY, now), redemption)
  if (problem) return { loyalty: null, warning: problem }
  return { loyalty: { ...redemption, points, minorPerUnit: 10 ** decimalsOf(currency) } }
}
