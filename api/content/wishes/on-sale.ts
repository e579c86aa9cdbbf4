/** What can be wished for: conditions on a variant and its product. */
import { sql } from 'drizzle-orm'
import { products, variants } from '../../../db/store/catalog.ts'

/** Visitors see it. */
export const isOnSale = sql`${products.status} = 'published' and ${variants.active} = 1`
/** It can be bought now; as the triggers that ask for mails have it, which see it change. */
export const available =
  sql<boolean>`(${variants.tracked} = 0 or ${variants.backorder} = 1 or ${variants.quantity} > ${variants.reserved})`.mapWith(Boolean)
