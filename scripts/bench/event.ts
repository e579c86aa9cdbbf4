/** The bench's event: a ticket that can be sold, and guests who have bought one. */
import { createHash, randomBytes } from 'node:crypto'
import { notInArray } from 'drizzle-orm'
import type { Secrets } from '../../api/outside/secrets.ts'
import { inserter, type Db } from '../../db/driver.ts'
import { products, variants } from '../../db/store/catalog.ts'
import { events, seats } from '../../db/store/events.ts'
import { orders } from '../../db/store/orders.ts'

export const EVENT_SLUG = 'opening-night'
/** More than any run sells. */
const CAPACITY = 1_000_000
const insertSeat = inserter(seats)

/**
 * An event whose guests have bought their seats: their tokens, and the variant of more. Without `secrets` no roster can tell the tokens.
 */
export async function seedEvent(
  tx: Db,
  count: number,
  { nowMs, secrets }: { nowMs: number; secrets: Secrets | null },
): Promise<{ variantId: string; tokens: string[] }> {
  const now = new Date(nowMs).toISOString()
  const [productId, variantId] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
  await tx.insert(products).values({
    ...{ id: productId, name: 'Opening night', slug: EVENT_SLUG, foldedName: 'opening night', status: 'published', isEvent: true },
    ...{ images: [], tags: [], seo: {}, ratingSum: 0, ratingCount: 0, createdAt: now, updatedAt: now },
  })
  await tx.insert(variants).values({
    ...{ id: variantId, productId, name: 'Opening night', price: 2_500, prices: {}, options: {}, position: 0, active: true },
    ...{ tracked: true, quantity: CAPACITY, reserved: 0, backorder: false, shippable: false, bookable: false },
    ...{ createdAt: now, updatedAt: now },
  })
  await tx.insert(events).values({ productId, variantId, createdAt: now, updatedAt: now })
  const [order] = await tx
    .select({ id: orders.id })
    .from(orders)
    .where(notInArray(orders.status, ['pending', 'cancelled', 'refunded']))
    .limit(1)
  const tokens: string[] = []
  for (let position = 0; position < count; position++) {
    const [id, token] = [Bun.randomUUIDv7(), randomBytes(33).toString('base64url')]
    tokens.push(token)
    await insertSeat(tx, {
      ...{ id, productId, orderId: order!.id, lineId: order!.id, position, state: 'valid' },
      ...{ tokenHash: createHash('sha256').update(token).digest('base64url'), token: secrets?.seal(token, `seat ${id}`) ?? 'v1.' },
      ...{ buyerEmail: `guest${position}@example.com`, name: `Guest ${position}`, foldedName: `guest ${position}` },
      ...{ listed: true, socialProfileUrl: 'https://www.linkedin.com/in/guest', createdAt: now, updatedAt: now },
    })
  }
  return { variantId, tokens }
}
