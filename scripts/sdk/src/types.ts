/** The types of calls, by the `operationId` of what they call. */
import type { operations } from './schema.ts'

type Id = keyof operations
type Json<T> = T extends { content: { 'application/json': infer Value } } ? Value : never
type Content<T> = { [Status in keyof T]: Json<T[Status]> }[keyof T]

/** The query of an operation. */
export type Query<O extends Id> = operations[O] extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never
/** The body that an operation takes. */
export type Body<O extends Id> = operations[O] extends { requestBody?: infer B } ? Json<NonNullable<B>> : never
/** What an operation answers. */
export type Answer<O extends Id> = operations[O] extends { responses: infer R } ? Content<R> : never
/** An entry of the list that an operation answers. */
export type Item<O extends Id> =
  Answer<O> extends { data: readonly (infer I)[] } ? I : Answer<O> extends { items: readonly (infer I)[] } ? I : never
