/** Vendure on SQLite: its set-up, its server, and the ways of asking its shop API. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { environment } from '../bench/servers.ts'
import { CARTS, catalog, LIST, readAt } from './catalog.ts'
import { prepared } from './folder.ts'
import { copyFiles, ingredients, installed, node, versionIn } from './packages.ts'
import { answers, finish, freePort, serve } from './processes.ts'
import { type Ask, type Variant } from './variants.ts'
import { VENDURE } from './versions.ts'

const FILES = {
  'vendure-config.cjs': 'vendure-config.cjs',
  'vendure-seed.cjs': 'vendure-seed.cjs',
  'vendure-serve.cjs': 'vendure-serve.cjs',
}
/** Packages whose own scripts must run: both are compiled. */
const COMPILED = ['better-sqlite3', 'bcrypt']
const SEED_MAX_MS = 15 * 60_000
const START_MAX_MS = 120_000

const environmentAt = (port: number, extra: Record<string, string> = {}) =>
  environment({
    NODE_ENV: 'production',
    VENDURE_DISABLE_TELEMETRY: 'true',
    PORT: String(port),
    // Of each run its own: nobody signs in.
    SECRET: randomBytes(24).toString('base64url'),
    ...extra,
  })

/** Its folder with its packages and its data, set up unless they are. */
async function setUp(folder: string): Promise<string> {
  const path = await installed(folder, 'vendure', VENDURE, COMPILED)
  copyFiles(path, FILES)
  const seed = { command: [node(), 'vendure-seed.cjs'], cwd: path, log: join(path, 'seed.log'), maxMs: SEED_MAX_MS }
  await prepared(path, 'data', ingredients(FILES), () => finish({ ...seed, env: environmentAt(freePort(), { SYNC: '1' }) }))
  return path
}

const query = (text: string, variables: Record<string, unknown>, token?: string): Ask => ({
  method: 'POST',
  path: '/shop-api',
  headers: token ? { authorization: `Bearer ${token}` } : {},
  body: { query: text, variables },
})

/** Sends a query for what is not measured: the answer, and the token of the session where one was begun. */
async function sent(port: number, text: string, variables: Record<string, unknown>): Promise<{ data: any; token: string | null }> {
  const { path, body } = query(text, variables)
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const said = await response.text()
  const { data, errors } = JSON.parse(said) as { data?: any; errors?: unknown }
  if (!data || errors) throw new Error(`vendure: ${text}: ${said}`)
  return { data, token: response.headers.get('vendure-auth-token') }
}

const BY_SLUG = 'query ($slug: String!) { product(slug: $slug) { id variants { id } } }'
const ADD = 'mutation ($id: ID!) { addItemToOrder(productVariantId: $id, quantity: 1) { __typename } }'

/** Begins carts, each in a session of its own with the first variant of a product; their tokens. */
async function beginCarts(port: number): Promise<string[]> {
  const tokens: string[] = []
  for (const { slug } of catalog.slice(0, CARTS)) {
    const { data } = await sent(port, BY_SLUG, { slug })
    const added = await sent(port, ADD, { id: data.product.variants[0].id })
    if (added.data.addItemToOrder.__typename !== 'Order' || !added.token) throw new Error(`vendure: no cart: ${JSON.stringify(added)}`)
    tokens.push(added.token)
  }
  return tokens
}

const VARIANTS = 'variants { id name sku priceWithTax currencyCode }'
const PRICE = '{ ... on SinglePrice { value } ... on PriceRange { min max } }'
const lists = {
  'query products': `query ($skip: Int!) { products(options: { take: ${LIST}, skip: $skip }) { totalItems items { id name slug description ${VARIANTS} } } }`,
  'query products, few fields': `query ($skip: Int!) { products(options: { take: ${LIST}, skip: $skip }) { items { name slug variants { priceWithTax } } } }`,
}
const searches = {
  'query search': `query ($skip: Int!) { search(input: { take: ${LIST}, skip: $skip, groupByProduct: true }) { totalItems items { productId productName slug description sku currencyCode priceWithTax ${PRICE} } } }`,
  'query search, few fields': `query ($skip: Int!) { search(input: { take: ${LIST}, skip: $skip, groupByProduct: true }) { items { productName slug priceWithTax ${PRICE} } } }`,
}
const products = {
  'query product': `query ($slug: String!) { product(slug: $slug) { id name slug description ${VARIANTS} } }`,
  'query product, few fields': 'query ($slug: String!) { product(slug: $slug) { name slug variants { priceWithTax } } }',
}
const carts = {
  'query activeOrder': `query { activeOrder { id code state currencyCode subTotalWithTax shippingWithTax totalWithTax totalQuantity
    lines { id quantity unitPriceWithTax linePriceWithTax productVariant { id name sku } } } }`,
  'query activeOrder, few fields': 'query { activeOrder { code totalWithTax lines { id quantity linePriceWithTax } } }',
}

function variantsAt(port: number, tokens: readonly string[]): Variant[] {
  const of = (
    call: Variant['call'],
    queries: Record<string, string>,
    ask: (text: string, n: number) => Ask,
    found: Variant['found'],
  ): Variant[] =>
    Object.entries(queries).map(([variant, text]) => ({ call, system: 'vendure', variant, port, ask: (n) => ask(text, n), found }))
  const product = ({ slug, variants }: any) => ({ slug, cents: variants[0].priceWithTax })
  const page = (text: string, n: number) => query(text, { skip: n * LIST })
  return [
    ...of('list', lists, page, ({ data }) => data.products.items.map(product)),
    ...of('list', searches, page, ({ data }) =>
      data.search.items.map(({ slug, priceWithTax }: any) => ({ slug, cents: priceWithTax.min ?? priceWithTax.value })),
    ),
    ...of(
      'product',
      products,
      (text, n) => query(text, { slug: readAt(n).slug }),
      ({ data }) => [product(data.product)],
    ),
    ...of(
      'cart',
      carts,
      (text, n) => query(text, {}, tokens[n]),
      ({ data }) =>
        data.activeOrder.lines.map(({ quantity, linePriceWithTax }: any) => ({ slug: null, cents: linePriceWithTax, quantity })),
    ),
  ]
}

/** Sets it up where it is not, starts it, and tells what can be asked of it. */
export async function startVendure(folder: string): Promise<{ variants: Variant[]; version: string }> {
  const path = await setUp(folder)
  const port = freePort()
  const program = { command: [node(), 'vendure-serve.cjs'], cwd: path, env: environmentAt(port), log: join(path, 'serve.log') }
  await serve({ ...program, maxMs: START_MAX_MS }, answers(port, '/health'))
  return { variants: variantsAt(port, await beginCarts(port)), version: versionIn(path, '@vendure/core') }
}
