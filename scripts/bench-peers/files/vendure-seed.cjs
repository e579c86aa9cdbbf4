/** Fills Vendure with the catalog by its own import, and waits until its search index has all of it. */
const { mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { bootstrap, JobQueueService, TransactionalConnection } = require('@vendure/core')
const { populate } = require('@vendure/core/cli')
const { config } = require('./vendure-config.cjs')

const INDEX_MAX_MS = 300_000
const catalog = JSON.parse(readFileSync(join(__dirname, 'catalog.json'), 'utf8'))

/** The lines of the import: a product begins with its first variant, the others follow with the columns of the product empty. */
const COLUMNS =
  'name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets'
const linesOf = ({ name, slug, description, variants }) =>
  variants.map((variant, i) => {
    const product = i ? ['', '', '', '', '', ''] : [name, slug, `"${description}"`, '', '', 'size']
    return [...product, variant.name, variant.sku, (variant.cents / 100).toFixed(2), 'standard', '1000000', 'false', '', ''].join(',')
  })

/** No taxes, as on the other sides: Vendure wants a rate, so it is nought. */
const initial = {
  defaultLanguage: 'en',
  defaultZone: 'Europe',
  countries: [{ name: 'Germany', code: 'DE', zone: 'Europe' }],
  taxRates: [{ name: 'Standard Tax', percentage: 0 }],
  shippingMethods: [{ name: 'Standard Shipping', price: 500 }],
  paymentMethods: [],
  collections: [],
}

async function seed() {
  mkdirSync(join(__dirname, 'data/assets'), { recursive: true })
  const file = join(__dirname, 'data/catalog.csv')
  writeFileSync(file, [COLUMNS, ...catalog.flatMap(linesOf)].join('\n') + '\n')
  const app = await populate(() => bootstrap(config), initial, file)
  const { rawConnection } = app.get(TransactionalConnection)
  const count = async (query) => Number((await rawConnection.query(`select count(*) as n from ${query}`))[0].n)
  await app.get(JobQueueService).start()
  const startedMs = Date.now()
  while (await count("job_record where state in ('PENDING', 'RUNNING', 'RETRYING')")) {
    if (Date.now() - startedMs > INDEX_MAX_MS) throw new Error('the search index was not done in time')
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  const [products, indexed] = [await count('product'), await count('search_index_item')]
  if (products !== catalog.length || indexed < catalog.length) throw new Error(`${products} products, ${indexed} in the index`)
  await app.close()
}

seed().then(
  () => process.exit(0),
  (error) => {
    console.error(error)
    process.exit(1)
  },
)
