/** What a page's requests need: the scopes of their operations, and what each of their variables stands for. Said once, before them. */
import type { CodeBlock } from './markdown.ts'
import { argumentsOf, calledIn, programmed, requestOf, variablesOf } from './requests.ts'

/** Set before a page is followed: what each stands for, and where it comes from. */
const GIVEN: Record<string, string> = {
  STORE_URL: 'the address of the store API, `http://127.0.0.1:3000` after `npm start`',
  API_KEY: 'your API key',
  STOREFRONT_KEY: 'a [storefront key](/docs/api-reference/authentication)',
  STAGING_KEY: 'a key of the [sandbox](/help/getting-started/test-mode)',
  PRODUCT_ID: 'the id of a product',
  PRODUCT_SLUG: 'the slug of a product',
  VARIANT_ID: 'the id of a [variant](/docs/api-reference/variants)',
  CATEGORY_ID: 'the id of a category',
  COLLECTION_ID: 'the id of a collection',
  BRAND_ID: 'the id of a brand',
  BUNDLE_ID: 'the id of a bundle',
  TAX_RATE_ID: 'the id of a tax rate',
  SHIPPING_METHOD_ID: 'the id of a shipping method',
  COUPON_CODE: 'the code of a coupon',
  PROMOTION_ID: 'the id of a promotion',
  CART_ID: 'the id of a [cart](/docs/api-reference/carts)',
  CART_ITEM_ID: 'the id of an item in it',
  ORDER_ID: 'the id of a paid order ([from its number](/help/orders/manage-orders#find-orders))',
  LINE_ID: 'the id of a line of an order',
  PENDING_ORDER_ID: 'the id of an order that is not paid',
  CUSTOMER_ID: 'the id of a customer',
  MEMBER_ID: 'the id of a member of the team',
  KEY_ID: 'the id of an API key',
  CONTENT_URL: 'the address of the content site, `http://127.0.0.1:4000` after `npm start`',
  DATA_DIR: 'the [data folder](/docs/getting-started/configuration)',
  CARRIER_A_PASSWORD: 'the password of your account there',
  CARRIER_B_TOKEN: 'the token of your account there',
}

/** What every shell has. */
const OF_SHELLS = new Set(['HOME', 'PATH', 'PWD', 'USER'])

/** The commands that a page wants followed; examples of the reference stand each for itself. */
const shells = (code: readonly CodeBlock[]) =>
  code.filter(({ language, meta }) => language === 'sh' && !/\bexample\b/.test(meta)).map(({ text }) => text)
/** The variables that shell commands read. */
const readIn = (text: string) => [...text.matchAll(/\$\{?([A-Z][A-Z0-9_]*)\b/g)].map(([, name]) => name!)
/** Those that they set. */
const setIn = (text: string) =>
  [...text.matchAll(/(?:^|[\s;(])(?:(?:export )?([A-Z][A-Z0-9_]*)=|for ([A-Z][A-Z0-9_]*) in |read -?r? ?([A-Z][A-Z0-9_]*))/gm)].flatMap(
    (found) => found.slice(1).filter(Boolean),
  )

/** The variables that commands read which none of them, nor one before, has set. */
function readBeforeSet(texts: readonly string[]): ReadonlySet<string> {
  const set = new Set<string>()
  const read = new Set<string>()
  for (const text of texts) {
    for (const name of setIn(text)) set.add(name)
    for (const name of readIn(text)) if (!set.has(name)) read.add(name)
  }
  return read
}

/** The variables that a page reads, and neither sets nor says what they stand for. */
export function unexplained(code: readonly CodeBlock[], body: string): string[] {
  const texts = shells(code)
  const known = new Set([...texts.flatMap(setIn), ...Object.keys(GIVEN), ...OF_SHELLS])
  const prose = body.replace(/^```[^]*?^```$/gm, '')
  return [...new Set(texts.flatMap(readIn))].filter((name) => !known.has(name) && !prose.includes(`\`$${name}\``))
}

/** Whether commands have a form in TypeScript, and the first variable of theirs: no more of them are read than it takes. */
function inTypeScript(texts: readonly string[]): { isThere: boolean; example?: string } {
  let isThere = false
  for (const text of texts) {
    const request = requestOf(text)
    if (!request || argumentsOf(request) === null) continue
    isThere = true
    const [example] = variablesOf(request)
    if (example) return { isThere, example }
  }
  return { isThere }
}

/** The paragraph that says it; null for a page whose requests need nothing. */
export function needsOf(code: readonly CodeBlock[]): string | null {
  const texts = shells(code)
  const called = texts.flatMap(calledIn)
  const programs = code.filter(({ language, text }) => language === 'ts' && /\bAPI_KEY\b/.test(text)).map(({ text }) => text)
  if (!called.length && !programs.length) return null
  const routes = [...called.filter(({ key }) => key === 'API_KEY').map(({ route }) => route), ...programs.flatMap(programmed)]
  const scopes = new Set(
    routes.flatMap(({ options: { scope } }) => (scope === 'public' || scope === 'any key' ? [] : ([scope].flat()[0] ?? []))),
  )
  const read = readBeforeSet(texts)
  const given = Object.keys(GIVEN).filter((name) => read.has(name))
  const needed = [...scopes].toSorted().map((scope) => `\`${scope}\``)
  const sentences = [
    ...(needed.length ? [`You need an API key with ${listed(needed)} ([scopes](/docs/api-reference/authentication#scopes)).`] : []),
    ...(given.length ? [`In the requests, ${listed(given.map((name) => `\`$${name}\` is ${GIVEN[name]}`))}.`] : []),
  ]
  const { isThere, example } = inTypeScript(texts)
  if (isThere)
    sentences.push(
      `In TypeScript, \`stoa\` is [a client](/docs/commerce-sdk/quick-start) with the key of the request${example ? `, and \`$${example.replace(/[A-Z]/g, '_$&').toUpperCase()}\` is \`${example}\`` : ''}.`,
    )
  return sentences.length ? sentences.join(' ') : null
}

const listed = (parts: readonly string[]) => (parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`)
