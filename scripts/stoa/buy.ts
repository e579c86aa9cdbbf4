/** `stoa buy`: a purchase as a shop makes it, each request printed as the curl command that does the same. */
import type { Command } from 'commander'
import { readConfig, storesDomainOf } from '../../api/server/config.ts'
import { projectOf } from '../../api/builder/projects.ts'
import { decimalsOf, toMajor } from '../../api/values/money.ts'
import { commandFor } from '../../site/lib/curl.ts'
import { checked, print, withRegistry } from './context.ts'

interface Options {
  url: string
  email: string
  country: string
}

const URL_USUAL = 'http://127.0.0.1:3000'
/** What is looked through for something that can be bought. */
const PRODUCTS = 20
const ADDRESS = { name: 'Ada Lovelace', line1: '1000 SW Broadway', city: 'Portland', state: 'OR', postalCode: '97205' }

const COUNTRY = checked(
  (text) => (/^[a-z]{2}$/i.test(text) ? null : 'It is no code of a country such as US.'),
  (text) => text.toUpperCase(),
)
const ORIGIN = checked((text) => (/^https?:$/.test(URL.parse(text)?.protocol ?? '') ? null : `It is no address such as ${URL_USUAL}.`))

interface Asked {
  method: 'GET' | 'POST'
  /** Behind `/api/v1`. */
  path: string
  body?: unknown
}

class Buyer {
  constructor(
    readonly url: string,
    readonly key: string,
    readonly say: (text: string) => void,
  ) {}

  /** Makes a request, prints it and, by `tell`, what came of it. Throws with the API's own words when it is refused. */
  async ask<T>(asked: Asked, tell: (answer: T) => string): Promise<T> {
    this.say(`$ ${commandFor({ ...asked, key: 'STOREFRONT_KEY' })}`)
    const { method, path, body } = asked
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((error) => {
      throw new Error(`there is no answer at ${this.url}: start Stoa with npm start, or say where it is with --url (${error.message})`)
    })
    const text = await response.text()
    const answer = jsonIn(text)
    if (!response.ok) throw new Error(`${method} ${path} is refused with ${response.status}: ${answer?.error ?? text.slice(0, 200)}`)
    this.say(`${response.status}  ${tell(answer)}\n`)
    return answer
  }
}

function jsonIn(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

interface Variant {
  id: string
  price: number
  shippable: boolean
  stock: { available: number | null }
}
interface Product {
  name: string
  variants: Variant[]
}
interface Amounts {
  currency: string
  totalCents: number
}

const money = ({ currency, totalCents }: Amounts) =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency, minimumFractionDigits: decimalsOf(currency) }).format(
    toMajor(totalCents, currency),
  )

/** Something that is sent: what is booked, or needs names, asks for more than a cart of one line. */
function firstOf(products: readonly Product[]): { product: Product; variant: Variant } {
  for (const product of products)
    for (const variant of product.variants) if (variant.shippable && (variant.stock.available ?? 0) > 0) return { product, variant }
  throw new Error('the store has nothing in stock that could be sent: add a product with stock, or use npm run -s stoa -- seed')
}

/** Where the shop of the key's store is, or will be, when it is published from the data folder of this machine; else null. */
async function shopOf(key: string, url: string): Promise<{ shop: string; isOpen: boolean } | null> {
  const found = withRegistry(async (registry) => {
    const session = await registry.session(key, new Date())
    if (!session?.store.aiBuilt) return null
    const { protocol, port } = new URL(url)
    const shop = `${protocol}//${session.store.slug}.${storesDomainOf(readConfig(process.env), Number(port) || 80)}`
    return { shop, isOpen: Boolean((await projectOf(registry, session.store.id))?.liveId) }
  })
  return found.catch(() => null)
}

async function buy({ url, email, country }: Options, command: Command) {
  const key = process.env.STOREFRONT_KEY
  if (!key)
    throw new Error(
      'STOREFRONT_KEY is not set: paste the line with export that npm start printed, or make a key with npm run -s stoa -- key create --store demo',
    )
  const isJson = command.optsWithGlobals().json === true
  const buyer = new Buyer(url.replace(/\/+$/, ''), key, isJson ? () => {} : console.log)
  const found = await buyer.ask<{ data: Product[]; meta: { count: number } }>(
    { method: 'GET', path: `/products?inStock=true&sort=-price&limit=${PRODUCTS}` },
    ({ data, meta }) => `${meta.count} products in stock, the dearest ${data[0]?.name ?? 'none'}`,
  )
  const { product, variant } = firstOf(found.data)
  const cart = await buyer.ask<Amounts & { id: string }>(
    {
      method: 'POST',
      path: '/carts',
      body: { email, items: [{ variantId: variant.id, quantity: 1 }], shippingAddress: { ...ADDRESS, country } },
    },
    (made) => `a cart with ${product.name}, ${money(made)}`,
  )
  const options = await buyer.ask<{ data: { id: string; name: string; priceCents: number; currency: string }[] }>(
    { method: 'GET', path: `/carts/${cart.id}/shipping-options` },
    ({ data }) => `${data.length} ways to ship it there`,
  )
  const [method] = options.data
  if (!method) throw new Error(`nothing ships to ${country}: name a country that the store ships to with --country`)
  const { order } = await buyer.ask<{ order: Amounts & { id: string; orderNumber: string; status: string } }>(
    { method: 'POST', path: `/carts/${cart.id}/checkout`, body: { shippingMethodId: method.id, paymentMethod: 'test' } },
    ({ order }) => `order ${order.orderNumber}, shipped by ${method.name}`,
  )
  const published = await shopOf(key, url)
  const { id, orderNumber, status, currency, totalCents } = order
  print(command, { id, orderNumber, status, currency, totalCents, email, shop: published?.shop ?? null }, [
    `Order ${orderNumber} is ${status}: ${money(order)}`,
    ...(published
      ? [`Its page  ${published.shop}/order  (by its number and ${email}${published.isOpen ? '' : ', once the shop is open'})`]
      : []),
  ])
}

/** Adds `buy` to the command line. */
export function buyCommand(program: Command) {
  program
    .command('buy')
    .description('buy something with the key in STOREFRONT_KEY and the test payment, printing each request')
    .option('--url <url>', 'where the store API is', ORIGIN, process.env.STORE_URL || URL_USUAL)
    .option('--email <email>', 'whose order it is', 'ada@example.com')
    .option('--country <code>', 'where it is sent', COUNTRY, 'US')
    .action(buy)
}
