/** Deciding on many texts of visitors at once: what comes in, and what it asks for. */
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

/** What is asked for: `approved` as given, or `delete`. Refuses both, and neither. */
export function decided(body: Static<ReturnType<typeof bulkInput>>): boolean | 'delete' {
  if ((body.approved === undefined) === (body.delete === undefined)) throw wrong('approved', 'give either approved or delete')
  return body.delete ? 'delete' : body.approved!
}
