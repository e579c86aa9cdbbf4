/** Deciding on many texts of visitors at once: what comes in, and what it asks for. */
import { inArray } from 'drizzle-orm'
import type { Db } from '../../../db/driver.ts'
import type { postComments, reviews } from '../../../db/store/visitors.ts'
import { Body, Named, Type, Uuid, type Static } from '../../http/schema.ts'
import { wrong } from '../../values/refusal.ts'

const BULK_MAX = 100

/** The input of a route that decides on up to 100. */
export const bulkInput = (name: string) =>
  Body(name, [{ ids: ['01985d2c-7c00-7a31-8c4e-0242ac120002'], approved: true }], {
    ids: Type.Array(Uuid(), { minItems: 1, maxItems: BULK_MAX, uniqueItems: true }),
    approved: Type.Optional(Type.Boolean()),
    delete: Type.Optional(Type.Literal(true)),
  })

export const Moderated = Named('ModeratedReviews', { ok: Type.Literal(true), changed: Type.Integer(), deleted: Type.Integer() })

/** Does to them what is asked for: `approved` as given, or `delete`. Refuses both, and neither; passes over ids that are gone. */
export async function decide(
  tx: Db,
  table: typeof reviews | typeof postComments,
  { ids, approved, delete: isDeleted }: Static<ReturnType<typeof bulkInput>>,
  now: string,
): Promise<Static<typeof Moderated>> {
  if ((approved === undefined) === (isDeleted === undefined)) throw wrong('approved', 'give either approved or delete')
  const named = inArray(table.id, ids)
  const done = isDeleted
    ? await tx.delete(table).where(named).returning({ id: table.id })
    : await tx.update(table).set({ approved, updatedAt: now }).where(named).returning({ id: table.id })
  return { ok: true, changed: isDeleted ? 0 : done.length, deleted: isDeleted ? done.length : 0 }
}
