/** What webhooks hear of the catalog. */
import type { Db } from '../../db/driver.ts'
import { settingsIn } from '../http/call.ts'
import { Teller } from '../store/outbox.ts'
import type { Moment } from '../values/clock.ts'
import { Level, levelOf } from './level.ts'
import { readProduct } from './read.ts'
import { Product } from './shapes.ts'

export const productTold = new Teller('catalog', ['product.created', 'product.updated', 'product.deleted'], Product)
export const stockTold = new Teller('catalog', ['inventory.low'], Level)

/** Tells of a product what a merchant reads of it. One that is removed is told of before. */
export const tellProduct = (tx: Db, moment: Moment, type: (typeof productTold.types)[number], id: string) =>
  productTold.tell(tx, moment, type, {
    about: id,
    payload: { productId: id },
    show: async () => readProduct(tx, id, { currency: null, lang: null, storefront: false, settings: await settingsIn(tx) }),
  })

/** Tells that little of a variant is left. */
export const tellLow = (tx: Db, moment: Moment, variantId: string) =>
  stockTold.tell(tx, moment, 'inventory.low', { about: variantId, payload: { variantId }, show: () => levelOf(tx, variantId) })
