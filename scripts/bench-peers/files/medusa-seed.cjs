/** Fills Medusa with the catalog by its own workflows: one sales channel, a key for it, one region. Writes what a storefront must know to the file `SEEDED`. */
const { readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { Modules, ProductStatus } = require('@medusajs/framework/utils')
const workflows = require('@medusajs/medusa/core-flows')

const AT_ONCE = 50
const catalog = JSON.parse(readFileSync(join(process.cwd(), 'catalog.json'), 'utf8'))

const inputOf = ({ name, slug, description, variants }, profileId, channelId) => ({
  title: name,
  handle: slug,
  description,
  status: ProductStatus.PUBLISHED,
  shipping_profile_id: profileId,
  sales_channels: [{ id: channelId }],
  options: [{ title: 'Size', values: variants.map((variant) => variant.name) }],
  variants: variants.map((variant) => ({
    title: variant.name,
    sku: variant.sku,
    manage_inventory: false,
    options: { Size: variant.name },
    prices: [{ amount: variant.cents / 100, currency_code: 'eur' }],
  })),
})

exports.default = async function seed({ container }) {
  const run = async (name, input) => (await workflows[name](container).run({ input })).result
  const [channel] = await run('createSalesChannelsWorkflow', { salesChannelsData: [{ name: 'Bench' }] })
  const [key] = await run('createApiKeysWorkflow', { api_keys: [{ title: 'Bench', type: 'publishable', created_by: '' }] })
  await run('linkSalesChannelsToApiKeyWorkflow', { id: key.id, add: [channel.id] })
  const [region] = await run('createRegionsWorkflow', {
    // No taxes, as on the other sides.
    regions: [
      { name: 'Europe', currency_code: 'eur', countries: ['de'], automatic_taxes: false, payment_providers: ['pp_system_default'] },
    ],
  })
  const [profile] = await run('createShippingProfilesWorkflow', { data: [{ name: 'Bench', type: 'default' }] })
  for (let from = 0; from < catalog.length; from += AT_ONCE)
    await run('createProductsWorkflow', {
      products: catalog.slice(from, from + AT_ONCE).map((product) => inputOf(product, profile.id, channel.id)),
    })
  const [, count] = await container.resolve(Modules.PRODUCT).listAndCountProducts({}, { take: 1 })
  if (count !== catalog.length) throw new Error(`${count} products`)
  writeFileSync(process.env.SEEDED, JSON.stringify({ key: key.token, regionId: region.id }))
}
