/** The promotions of a cart or an order, as they stand beside its coupons (document 3, Clarifications). */
import { Cents, Named, Type, Uuid } from '../http/schema.ts'
import type { Price } from './price.ts'

export const AppliedPromotions = Type.Array(
  Named('CreateCartPromotion', {
    id: Uuid(),
    name: Type.String({ examples: ['Spring sale'] }),
    discountCents: Cents({ description: 'What it took off the goods; 0 for free shipping' }),
  }),
  { description: 'Those that apply, in the order in which they do' },
)

export const appliedPromotions = ({ promotions }: Pick<Price, 'promotions'>) =>
  promotions.map(({ id, name, discount }) => ({ id, name, discountCents: discount }))
