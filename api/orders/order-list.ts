/** How orders are listed and narrowed (document 3, Orders): newest first, each list along an index. */
import { and, desc, eq, gte, isNotNull, isNull, lt, lte, or, sql } from 'drizzle-orm'
import { aside } from '../../db/aside.ts'
import type { Reader } from '../../db/driver.ts'
import { isDue, ORDER_SOURCES, ORDER_STATUSES, orders, PAYMENT_STATUSES } from '../../db/store/orders.ts'
import { contains } from '../values/compared.ts'
import { normalizeEmail } from '../values/email.ts'
import { wrong } from '../values/refusal.ts'
import { CurrencyCode, Instant, OneOf, Paging, Type, Uuid, type Static } from '../http/schema.ts'
import { isUuid } from '../values/uuid.ts'
import { isCurrency } from '../values/money.ts'
import { fold } from '../values/slug.ts'
import { utc } from '../values/time.ts'
import { viewOrders } from './order.ts'

const Total = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** The query parameters that narrow a list of orders. */
export const OrderFilters = {
  ...Paging(20),
  status: Type.Optional(OneOf(ORDER_STATUSES)),
  paymentStatus: Type.Optional(OneOf(PAYMENT_STATUSES)),
  source: Type.Optional(OneOf(ORDER_SOURCES)),
  workstation: Type.Optional(Type.String({ maxLength: 36, description: 'A workstation id, or `unassigned`' })),
  customerId: Type.Optional(Uuid()),
  currency: Type.Optional(CurrencyCode({ description: 'Those in this currency: an order is never priced in another' })),
  query: Type.Optional(Type.String({ maxLength: 200, description: 'Order number, or part of email or name' })),
  from: Type.Optional(Instant()),
  to: Type.Optional(Instant({ description: 'Exclusive' })),
  minTotalCents: Type.Optional(Total),
  maxTotalCents: Type.Optional(Total),
  due: Type.Optional(Type.Boolean({ description: 'True: not cancelled, and paid less than its total; false: all others' })),
  mailIssue: Type.Optional(Type.Boolean({ description: 'True: those with a mail that did not arrive; false: all others' })),
}
type Query = Static<ReturnType<typeof Type.Object<typeof OrderFilters>>>

/** `isWalked`: by time, so that the total is only compared, not looked up. */
function condition(query: Query, isWalked = false) {
  if (query.workstation !== undefined && query.workstation !== 'unassigned' && !isUuid(query.workstation))
    throw wrong('workstation', 'must be a workstation id, or unassigned')
  if (query.currency && !isCurrency(query.currency)) throw wrong('currency', 'is not a currency of ISO 4217')
  const text = query.query?.trim()
  const part = text ? contains(fold(text)) : ''
  const total = isWalked ? sql<number>`+${orders.totalCents}` : sql<number>`${orders.totalCents}`
  // Emails are stored in lowercase beyond ASCII, which LIKE does not fold.
  const email = text ? contains(normalizeEmail(text)) : ''
  return and(
    query.status ? eq(orders.status, query.status) : undefined,
    query.paymentStatus ? eq(orders.paymentStatus, query.paymentStatus) : undefined,
    query.source ? eq(orders.source, query.source) : undefined,
    query.workstation === undefined
      ? undefined
      : query.workstation === 'unassigned'
        ? isNull(orders.workstationId)
        : eq(orders.workstationId, query.workstation.toLowerCase()),
    query.currency ? eq(orders.currency, query.currency.toLowerCase()) : undefined,
    query.customerId ? eq(orders.customerId, query.customerId) : undefined,
    query.minTotalCents === undefined ? undefined : gte(total, query.minTotalCents),
    query.maxTotalCents === undefined ? undefined : lte(total, query.maxTotalCents),
    query.due === undefined ? undefined : query.due ? sql`${isDue} = 1` : sql`${isDue} = 0`,
    query.mailIssue === undefined ? undefined : query.mailIssue ? isNotNull(orders.mailIssues) : isNull(orders.mailIssues),
    query.from ? gte(orders.createdAt, utc(query.from)) : undefined,
    query.to ? lt(orders.createdAt, utc(query.to)) : undefined,
    text
      ? or(
          /^\d{1,15}$/.test(text) ? eq(orders.lookup, Number(text)) : undefined,
          sql`${orders.email} like ${email} escape '\\'`,
          sql`${orders.foldedName} like ${part} escape '\\'`,
        )
      : undefined,
  )
}

/** As many orders of a range of totals are sorted; of more the newest are found sooner by reading them by time. */
const SORTED_MAX = 5_000

/** One page of orders, and how many there are. */
export async function listOrders(db: Reader, query: Query) {
  const { limit, offset } = query
  const where = condition(query)
  const far = aside(db, 'orders')
  const count = await far.$count(orders, where)
  const isSorted = (query.minTotalCents !== undefined || query.maxTotalCents !== undefined) && count <= SORTED_MAX
  const newest = isSorted ? [sql`+${orders.createdAt} desc`, desc(orders.id)] : [desc(orders.createdAt), desc(orders.id)]
  const rows = await far
    .select()
    .from(orders)
    .where(isSorted ? where : condition(query, true))
    .orderBy(...newest)
    .limit(limit)
    .offset(offset)
  return { data: await viewOrders(db, rows), meta: { count, offset, limit } }
}
