/** Document 8, MCP: an answer has at most 20 KB, and the rest of it can be read on. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ANSWER_MAX_BYTES } from '../../api/mcp/trim.ts'
import { made, newShop } from '../shop.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { agent, type Agent } from './agent.ts'

let app: TestApp
let shop: TestStore
let admin: Agent
beforeAll(async () => {
  app = await testApp()
  shop = await app.newStore()
  admin = await agent((request) => app.app.fetch(request), shop.keys.admin)
})
afterAll(async () => {
  await admin.close()
  await app.close()
})

const words = (count: number, n = 0) => Array.from({ length: count }, (_, i) => `Ω${i + n}`).join(' ')
const documentOf = (text: string) => ({ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text }] }] })

/** The whole of an answer, read part by part. */
async function readOn(name: string, given: Record<string, unknown>): Promise<{ text: string; parts: number }> {
  let text = ''
  for (let from = 0, parts = 1; ; parts++) {
    const { texts, bytes } = await admin.call(name, { ...given, answerFrom: from })
    expect(bytes).toBeLessThanOrEqual(ANSWER_MAX_BYTES)
    text += texts[0]!
    const next = texts[1] && JSON.parse(texts[1]).truncated.next
    if (!next) return { text, parts }
    from = next.answerFrom
  }
}

test('a list that is too long ends with a whole entry, and its offset says where to go on', async () => {
  for (let i = 0; i < 30; i++) await shop.call('POST', '/products', { name: `Shirt ${i}`, summary: words(120, i) })
  const names: string[] = []
  let calls = 0
  for (let offset = 0; ; calls++) {
    const { value, bytes, texts } = await admin.call('listProducts', { limit: 100, offset })
    expect([bytes <= ANSWER_MAX_BYTES, texts.length]).toEqual([true, 1])
    names.push(...value.data.map(({ name }: { name: string }) => name))
    expect(value.meta.count).toBe(30)
    if (!value.truncated) break
    expect(value.truncated).toMatchObject({ shown: value.data.length, next: { offset: offset + value.data.length } })
    offset = value.truncated.next.offset
  }
  expect(calls).toBeGreaterThan(0)
  expect(names.toSorted()).toEqual(Array.from({ length: 30 }, (_, i) => `Shirt ${i}`).toSorted())
})

test('a list that goes on by a cursor says how many to ask for', async () => {
  for (let i = 0; i < 100; i++)
    await shop.call('PATCH', `/settings`, { lowStockThreshold: i }, { headers: { 'x-request-id': `${'r'.repeat(100)}${i}` } })
  const { value } = await admin.call('call_operation', { operationId: 'listAuditLog', arguments: { limit: 100 } })
  const { limit } = value.truncated.next
  expect([value.truncated.of, value.data.length, 'nextCursor' in value]).toEqual([100, limit, false])
  const fewer = await admin.call('call_operation', { operationId: 'listAuditLog', arguments: { limit } })
  expect([fewer.value.truncated, fewer.value.data.length, typeof fewer.value.nextCursor]).toEqual([undefined, limit, 'string'])
})

test('customers, whose list has another form, are cut behind a whole one, too', async () => {
  const store = await newShop(app)
  const { variants } = made(
    await store.post('/products', { name: 'Mug', variants: [{ price: 9, shippable: false, stock: { quantity: 100 } }] }),
  )
  const expected = Array.from({ length: 45 }, (_, i) => `${i}${'x'.repeat(50)}@${`${'y'.repeat(60)}.`.repeat(3)}com`)
  for (const email of expected) await store.buy({ items: [{ variantId: variants[0].id, quantity: 1 }], email, name: 'Ω'.repeat(100) })
  const own = await agent((request) => app.app.fetch(request), store.keys.admin)
  const emails: string[] = []
  for (let offset = 0; ;) {
    const { value } = await own.call('listCustomers', { limit: 100, offset })
    emails.push(...value.items.map(({ email }: { email: string }) => email))
    expect(value.pagination).toMatchObject({ total: 45, offset })
    if (!value.truncated) break
    expect(value.truncated).toEqual({ shown: value.items.length, of: 45 - offset, next: { offset: offset + value.items.length } })
    offset = value.truncated.next.offset
  }
  expect(emails.toSorted()).toEqual(expected.toSorted())
  await own.close()
})

test('one thing that is too long is read on in pieces, none of which breaks a character', async () => {
  const { body } = await shop.call('POST', '/products', { name: 'Novel', content: documentOf(words(15_000)) })
  const { text, parts } = await readOn('getProduct', { idOrSlug: body.id })
  expect(parts).toBeGreaterThan(3)
  expect(JSON.parse(text)).toEqual((await shop.call('GET', `/products/${body.id}`)).body)
  const beyond = await admin.call('getProduct', { idOrSlug: body.id, answerFrom: 10_000_000 })
  expect([beyond.texts[0], JSON.parse(beyond.texts[1]!).truncated.next]).toEqual(['', null])
})

test('what was done is told, and is not done again to be read on', async () => {
  const before = (await shop.call('GET', '/products?limit=1')).body.meta.count
  const { texts, isError, bytes } = await admin.call('createProduct', { name: 'Epic', content: documentOf(words(8_000)) })
  expect([isError, bytes <= ANSWER_MAX_BYTES, typeof JSON.parse(texts[1]!).truncated.next]).toEqual([false, true, 'string'])
  expect((await shop.call('GET', '/products?limit=1')).body.meta.count).toBe(before + 1)
})

test('a list whose first entry is too long is read on in pieces', async () => {
  await shop.call('POST', '/posts', { title: 'Long', slug: 'long', status: 'published', content: documentOf(words(9_000)) })
  const { texts } = await admin.call('call_operation', { operationId: 'listPosts' })
  if (texts.length === 2) expect(JSON.parse(texts[1]!).truncated.next).toHaveProperty('answerFrom')
  else expect(JSON.parse(texts[0]!).data.length).toBe(1)
})
