/** The store that the requests of a page are run against, and the variables that they use. */
import { dirname } from 'node:path'
import { sql } from 'drizzle-orm'
import type { TestApp } from '../harness.ts'
import { made, newShop } from '../shop.ts'
import { SMALL } from './picture.ts'

/** Makes a store with one of everything; returns the variables of content/README.md. */
export async function variablesOf(app: TestApp, url: string): Promise<Record<string, string>> {
  const shop = await newShop(app, { name: 'Atelier Nord', plan: 'scale' })
  const post = async (path: string, body: object) => made(await shop.post(path, body))
  await shop.settings({ enabledCurrencies: ['usd', 'eur'], enabledLanguages: { 'en-US': true, 'pl-PL': true } })
  // As `stoa store update --email-domain-verified true` does.
  await shop.settings({ email: { domain: 'mail.shop.example' } })
  await app.handles.use(shop.store.id, 'live', (store) => store.write((tx) => tx.run(sql`update settings set email_domain_verified = 1`)))
  const taxRate = await post('/tax-rates', { name: 'VAT', rate: 23, default: true })
  const category = await post('/categories', { name: 'Shirts' })
  const collection = await post('/collections', { name: 'Summer' })
  const brand = await post('/brands', { name: 'Northwind' })
  const product = await post('/products', {
    name: 'Linen shirt',
    summary: 'Made from European linen.',
    price: 49.9,
    prices: { eur: 46 },
    sku: 'LINEN-M',
    stock: { quantity: 40 },
    brandId: brand.id,
    categoryId: category.id,
    collectionIds: [collection.id],
    tags: ['linen'],
    images: [SMALL],
  })
  const variantId = product.variants[0].id
  const scarf = await post('/products', { name: 'Wool scarf', price: 25, sku: 'SCARF', stock: { quantity: 40 }, categoryId: category.id })
  const bundle = await post('/bundles', {
    name: 'Winter set',
    discountPercentage: 10,
    variants: [{ variantId }, { variantId: scarf.variants[0].id }],
  })
  const method = await post('/shipping', {
    name: 'Standard delivery',
    type: 'courier',
    price: 4.9,
    currencyPrices: { eur: { price: 4.5 } },
  })
  const coupon = await post('/coupons', { code: 'SPRING10', type: 'percentage', value: 10 })
  const promotion = await post('/promotions', { name: 'Autumn sale', type: 'percentage', value: 5, active: false })
  const address = { line1: '1000 SW Broadway', city: 'Portland', state: 'OR', postalCode: '97205', country: 'US' }
  const buy = async (paymentMethod: string, quantity: number) => {
    const { id } = await post('/carts', { items: [{ variantId, quantity }] })
    const body = { email: 'ada@example.com', name: 'Ada Lovelace', shippingMethodId: method.id, shippingAddress: address, paymentMethod }
    return (await post(`/carts/${id}/checkout`, body)).order
  }
  const order = await buy('test', 2)
  const pending = await buy('manual', 1)
  const cart = await post('/carts', { email: 'ada@example.com', items: [{ variantId, quantity: 1 }] })
  const { token } = await post('/team/invitations', { email: 'grace@example.com', role: 'admin' })
  const member = made(await app.send('POST', '/team/invitations/accept', { token, name: 'Grace Hopper' }))
  const till = await post('/api-keys', { name: 'till', scopes: ['cart:write'] })
  return {
    STORE_URL: url,
    API_KEY: shop.keys.admin,
    STOREFRONT_KEY: shop.keys.storefront,
    STAGING_KEY: shop.keys.staging,
    PRODUCT_ID: product.id,
    PRODUCT_SLUG: product.slug,
    VARIANT_ID: variantId,
    CATEGORY_ID: category.id,
    COLLECTION_ID: collection.id,
    BRAND_ID: brand.id,
    BUNDLE_ID: bundle.id,
    TAX_RATE_ID: taxRate.id,
    SHIPPING_METHOD_ID: method.id,
    COUPON_CODE: coupon.code,
    PROMOTION_ID: promotion.id,
    CART_ID: cart.id,
    CART_ITEM_ID: cart.items[0].id,
    ORDER_ID: order.id,
    LINE_ID: order.lines[0].id,
    PENDING_ORDER_ID: pending.id,
    CUSTOMER_ID: order.customer.id,
    MEMBER_ID: member.id,
    KEY_ID: till.id,
    DATA_DIR: dirname(app.mailFolder),
  }
}
