/** What the package and the tools know of an operation from its route: whether programs call it, and how its list goes on. */
import { isSchema, type Route } from '../http/route.ts'
import type { TProperties } from '../http/schema.ts'

/** Whether a program calls it: not pages for people and their scripts, nor what only a payment provider sends. */
export const isForPrograms = ({ options: { operationId, responses } }: Route) =>
  operationId !== 'receiveStripeEvent' &&
  !Object.values(responses)
    .flat()
    .some((answer) => typeof answer === 'string' && /^text\/(html|javascript)/.test(answer))

/** The list that an operation answers. */
export interface ListForm {
  /** The field of its entries. */
  entries: 'data' | 'items'
  /** How it goes on: by a cursor, by an offset, or not at all. */
  by: 'cursor' | 'offset' | 'whole'
  /** The most entries of a page; null where no number can be asked for. */
  pageMax: number | null
}

/** How the entries of a list go on; null where the answer is no list. */
export function listOf({ method, query, options }: Route): ListForm | null {
  if (method !== 'GET') return null
  const answer = Object.values(options.responses)[0]
  const fields = answer && isSchema(answer) ? (answer.properties as TProperties | undefined) : undefined
  // Customers and their orders are `{items, pagination}`.
  const entries = fields?.pagination ? 'items' : 'data'
  if (fields?.[entries]?.type !== 'array') return null
  const given = query?.properties as TProperties | undefined
  const by = fields.nextCursor ? 'cursor' : given?.offset ? 'offset' : 'whole'
  return { entries, by, pageMax: given?.limit?.maximum ?? null }
}
