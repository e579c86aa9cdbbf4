/**
 * Merchants' tasks from content/help, each done by an agent that knows what is wanted and nothing of the API: it searches, describes and
 * calls. It takes the first operation that has a place for all it knows and needs nothing more.
 */
import { readFileSync } from 'node:fs'
import matter from 'gray-matter'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variablesOf } from '../docs/store.ts'
import { testApp, type TestApp } from '../harness.ts'
import { agent, type Agent, type Told } from './agent.ts'

/** What is wanted, in a merchant's words, what the merchant knows, and the operation that does it. A word in capitals is one of the store's. */
type Task = [page: string, wanted: string, known: Record<string, unknown>, done: string]

const text = (words: string) => ({ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: words }] }] })

const TASKS: Task[] = [
  ['products/add-a-product', 'add a product to my shop', { name: 'Wool hat', price: 29.5 }, 'createProduct'],
  ['products/product-variants', 'add another size to a product', { idOrSlug: 'PRODUCT_SLUG', name: 'XL', price: 52 }, 'createVariant'],
  [
    'products/manage-inventory',
    'correct how many are in stock',
    { variantId: 'VARIANT_ID', quantity: 12, reason: 'Counted' },
    'changeStock',
  ],
  ['products/brands', 'create a brand', { name: 'Southwind' }, 'createBrand'],
  ['products/bundles', 'sell products together as a bundle', { name: 'Spring set', discountPercentage: 15 }, 'createBundle'],
  ['products/categories-and-collections', 'make a new collection', { name: 'Winter', description: 'Warm things' }, 'createCollection'],
  ['products/events', 'create an event with tickets', { name: 'Workshop', price: '25', capacity: 12 }, 'createEvent'],
  [
    'orders/manage-orders',
    'record a bank transfer for an order',
    { id: 'PENDING_ORDER_ID', amountCents: 100, method: 'bank transfer' },
    'createPayment',
  ],
  [
    'orders/refunds-and-returns',
    'give a customer some money back for an order',
    { id: 'ORDER_ID', amountCents: 500, reason: 'Torn' },
    'createRefund',
  ],
  [
    'orders/fulfill-and-ship',
    'mark an order as shipped with its tracking number',
    { id: 'ORDER_ID', trackingNumber: '1Z999' },
    'createShipment',
  ],
  ['orders/customers', 'find a customer by email', { search: 'ada@example.com' }, 'listCustomers'],
  ['orders/warehouse', 'set up a packing station', { name: 'Bench 1' }, 'createWorkstation'],
  ['marketing/coupons-and-discounts', 'create a discount code', { code: 'SUMMER15', type: 'percentage', value: 15 }, 'createCoupon'],
  ['marketing/promotions', 'start an automatic sale', { name: 'Week of wool', type: 'percentage', value: 5 }, 'createPromotion'],
  [
    'marketing/loyalty-program',
    'give a customer loyalty points',
    { customerId: 'CUSTOMER_ID', points: 50, reason: 'Sorry' },
    'adjustLoyaltyPoints',
  ],
  ['marketing/newsletters-and-subscribers', 'write an email campaign', { subject: 'Spring', content: 'It is here.' }, 'createNewsletter'],
  ['payments/taxes', 'add a VAT rate', { name: 'Reduced', rate: 8 }, 'createTaxRate'],
  ['shipping/shipping-methods', 'offer another delivery method', { name: 'Express', type: 'courier', price: 12.9 }, 'createShippingMethod'],
  [
    'shipping/pickup-locations',
    'let people pick up their orders at my shop',
    { label: 'Shop', name: 'Atelier', line1: 'Quay 1', city: 'Portland', postalCode: '97205', country: 'US', phone: '+1 503 555 0100' },
    'createPickupLocation',
  ],
  ['storefront/legal-pages', 'publish my terms and conditions', { kind: 'terms', content: text('Be kind.') }, 'putLegalPage'],
  ['storefront/social-links', 'link my instagram', { instagram: 'https://instagram.com/atelier' }, 'putSocials'],
  ['storefront/blog', 'write a blog article', { title: 'How linen is made', content: text('Slowly.') }, 'createPost'],
  [
    'localization/multi-language',
    'translate a product into Polish',
    { idOrSlug: 'PRODUCT_SLUG', locale: 'pl-PL', name: 'Koszula' },
    'translateProduct',
  ],
  ['account/team-members', 'invite a colleague', { email: 'alan@example.com', role: 'staff' }, 'inviteTeamMember'],
]

interface Found {
  operationId: string
  arguments: string
}

/** Whether an operation has a place for all that is known, and needs nothing more. */
function fits({ arguments: signature }: Found, known: readonly string[]): boolean {
  const names = signature.split(', ').filter(Boolean)
  const takes = new Set(names.map((name) => name.replace('?', '')))
  return known.every((name) => takes.has(name)) && names.every((name) => name.endsWith('?') || known.includes(name))
}

interface Done {
  calls: number
  bytes: number
  operationId: string | null
  answer: Told | null
}

/** Does a task: each tool that is called is one call. */
async function done(own: Agent, wanted: string, known: Record<string, unknown>): Promise<Done> {
  let [calls, bytes] = [0, 0]
  const call = async (name: string, given: Record<string, unknown>) => {
    const told = await own.call(name, given)
    calls++
    bytes += told.bytes
    return told
  }
  const found = (await call('search_operations', { query: wanted })).value.operations as Found[]
  for (const { operationId } of found.filter((each) => fits(each, Object.keys(known)))) {
    const { value: described } = await call('describe_operation', { operationId })
    const needed = (described.arguments.required ?? []) as string[]
    if (!needed.every((name) => name in known)) continue
    const answer = await call('call_operation', { operationId, arguments: known })
    if (!answer.isError) return { calls, bytes, operationId, answer }
  }
  return { calls, bytes, operationId: null, answer: null }
}

let app: TestApp
let own: Agent
let words: Record<string, string>
beforeAll(async () => {
  app = await testApp()
  words = await variablesOf(app, 'http://localhost')
  own = await agent((request) => app.app.fetch(request), words.API_KEY!)
})
afterAll(async () => {
  await own.close()
  await app.close()
})

describe('tasks of merchants', () => {
  const all: number[] = []

  test.each(TASKS)('%s: %s', async (page, wanted, known, operation) => {
    const { data } = matter(readFileSync(`content/help/${page}.md`, 'utf8'))
    const { path } = app.app.routes.find(({ options }) => options.operationId === operation)!
    expect((data.describes as string[]).some((described) => path === described || path.startsWith(`${described}/`))).toBe(true)
    const facts = Object.fromEntries(Object.entries(known).map(([name, value]) => [name, words[String(value)] ?? value]))
    const { calls, bytes, operationId } = await done(own, wanted, facts)
    all.push(calls)
    expect([operationId, bytes < 30_000]).toEqual([operation, true])
  })

  test('take three calls at the median: search, describe, call', () => {
    expect(all.length).toBe(24)
    expect(all.toSorted((a, b) => a - b)[12]).toBeLessThanOrEqual(3)
  })
})
