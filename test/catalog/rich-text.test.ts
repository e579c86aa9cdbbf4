import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'
import { create, read, refusal } from './shop.ts'

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp()
  shop = await app.newStore()
})
afterAll(() => app.close())

const text = (value: string) => ({ type: 'text', text: value })
const doc = (...content: unknown[]) => ({ type: 'doc', content })
const paragraph = (...content: unknown[]) => ({ type: 'paragraph', content })
/** A document whose JSON has exactly this many bytes. */
const sized = (bytes: number) => doc(paragraph(text('x'.repeat(bytes - JSON.stringify(doc(paragraph(text('')))).length))))
const FULL = doc(
  { type: 'heading', attrs: { level: 2 }, content: [text('Łódź 👋')] },
  paragraph(
    text('plain '),
    { type: 'text', text: 'bold', marks: [{ type: 'bold' }, { type: 'link', attrs: { href: 'https://example.com' } }] },
    { type: 'hardBreak' },
  ),
  { type: 'bulletList', content: [{ type: 'listItem', content: [paragraph(text('one'))] }] },
  { type: 'ordered_list', attrs: { order: 3 }, content: [{ type: 'list_item', content: [paragraph()] }] },
  { type: 'codeBlock', content: [text('x < y')] },
  { type: 'blockquote', content: [paragraph(text('said'))] },
  { type: 'horizontalRule' },
  { type: 'image', attrs: { src: 'https://example.com/a.png' } },
  {
    type: 'table',
    content: [
      {
        type: 'tableRow',
        content: [
          { type: 'tableHeader', content: [paragraph()] },
          { type: 'tableCell', content: [paragraph()] },
        ],
      },
    ],
  },
)

/** Every field that holds rich text, by the path that takes it. */
const FIELDS = [
  ['/products', 'content'],
  ['/bundles', 'content'],
  ['/categories', 'description'],
  ['/categories', 'longDescription'],
  ['/collections', 'description'],
  ['/collections', 'longDescription'],
  ['/brands', 'description'],
] as const

describe.each(FIELDS)('%s %s', (path, field) => {
  const post = (value: unknown) => shop.call('POST', path, { name: 'x', [field]: value })

  test('a ProseMirror document comes back as it was written, and null clears it', async () => {
    for (const value of [FULL, doc(), { type: 'doc' }, { type: 'doc', content: [paragraph()], attrs: { version: 2 } }]) {
      const made = await create(shop, path, { name: 'x', [field]: value })
      expect(made[field]).toEqual(value)
      expect((await read(shop, `${path}/${made.id}`))[field]).toEqual(value)
      expect((await shop.call('PATCH', `${path}/${made.id}`, { [field]: null })).body[field]).toBe(null)
    }
  })

  test('at most 200 KB', async () => {
    expect((await post(sized(204_800))).status).toBe(201)
    expect(refusal(await post(sized(204_801)))).toBe(`400 too_big ${field}`)
    expect(refusal(await post(doc(paragraph(text('ł'.repeat(110_000))))))).toBe(`400 too_big ${field}`)
  })

  test.each([
    ['an unknown node', doc({ type: 'iframe', attrs: { src: 'https://example.com' } }), 'invalid_enum_value', 'content.0.type'],
    ['a script', doc(paragraph(), { type: 'script' }), 'invalid_enum_value', 'content.1.type'],
    [
      'an unknown node within others',
      doc({ type: 'bulletList', content: [{ type: 'listItem', content: [{ type: 'embed' }] }] }),
      'invalid_enum_value',
      'content.0.content.0.content.0.type',
    ],
    ['a document within it', doc(doc()), 'invalid_enum_value', 'content.0.type'],
    ['a node without a type', doc({ content: [] }), 'invalid_enum_value', 'content.0.type'],
    ['a type that is no word', doc({ type: 5 }), 'invalid_enum_value', 'content.0.type'],
    ['an inherited name', doc({ type: 'constructor' }), 'invalid_enum_value', 'content.0.type'],
    ['no node', doc('text'), 'invalid_type', 'content.0'],
    ['null', doc(null), 'invalid_type', 'content.0'],
    ['a list', doc([]), 'invalid_type', 'content.0'],
    ['text that is none', doc(paragraph({ type: 'text', text: 5 })), 'invalid_type', 'content.0.content.0.text'],
    ['text without text', doc(paragraph({ type: 'text' })), 'invalid_type', 'content.0.content.0.text'],
    ['content that is no list', doc({ type: 'paragraph', content: 'x' }), 'invalid_type', 'content.0.content'],
    ['marks that are no list', doc(paragraph({ type: 'text', text: 'x', marks: 'bold' })), 'invalid_type', 'content.0.content.0.marks'],
  ])('%s is refused', async (_, value, code, at) => {
    expect(refusal(await post(value))).toBe(`400 ${code} ${field}.${at}`)
    const { id } = await create(shop, path, { name: 'x' })
    expect(refusal(await shop.call('PATCH', `${path}/${id}`, { [field]: value }))).toBe(`400 ${code} ${field}.${at}`)
  })

  test('what is no document is 400', async () => {
    for (const value of [5, true, [], {}, { type: 'paragraph' }, { content: [] }]) expect((await post(value)).status).toBe(400)
  })
})

describe('translations', () => {
  test('their documents are held to the same', async () => {
    for (const [path, field] of [
      ['/products', 'content'],
      ['/categories', 'description'],
      ['/collections', 'longDescription'],
    ] as const) {
      const { id } = await create(shop, path, { name: 'x' })
      const put = (value: unknown) => shop.call('PUT', `${path}/${id}/translations/pl-PL`, { [field]: value })
      expect((await put(FULL)).status).toBe(200)
      expect(refusal(await put(doc({ type: 'iframe' })))).toBe(`400 invalid_enum_value ${field}.content.0.type`)
      expect(refusal(await put(sized(204_801)))).toBe(`400 too_big ${field}`)
      expect((await read(shop, `${path}/${id}?lang=pl-PL`))[field]).toEqual(FULL)
    }
  })
})

test("a product's content is a document or null; a description may be text, and comes back as it was written", async () => {
  expect(refusal(await shop.call('POST', '/products', { name: 'x', content: 'text' }))).toBe('400 invalid_type content')
  for (const path of ['/categories', '/collections', '/brands']) {
    for (const description of ['Plain <b>text</b>\n two lines ', '', '{"type":"doc"}', 'x'.repeat(100_000)])
      expect((await create(shop, path, { name: 'x', description })).description).toBe(description)
    expect((await shop.call('POST', path, { name: 'x', description: 'x'.repeat(100_001) })).status).toBe(400)
  }
})

describe('addresses in rich text', () => {
  const linked = (href: unknown) => doc(paragraph({ type: 'text', text: 'x', marks: [{ type: 'link', attrs: { href } }] }))
  const post = (content: unknown) => shop.call('POST', '/products', { name: 'x', content })

  test.each([
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:x',
    'data:text/html,x',
    'vbscript:x',
  ])('%j is none that a link or an image may have', async (address) => {
    expect(refusal(await post(linked(address)))).toBe('400 invalid_string content.content.0.content.0.marks.0.attrs.href')
    expect(refusal(await post(doc({ type: 'image', attrs: { src: address } })))).toBe('400 invalid_string content.content.0.attrs.src')
  })

  test.each([
    'https://example.com/a?b=c:d',
    'HTTP://example.com',
    'mailto:a@example.com',
    'tel:+48123',
    '/help',
    '#top',
    '?page=2',
    'help/cart',
    '',
  ])('%j is one', async (address) => {
    expect((await post(linked(address))).status).toBe(201)
  })

  test('marks are objects with a type', async () => {
    for (const mark of ['bold', null, 1, {}])
      expect(refusal(await post(doc(paragraph({ type: 'text', text: 'x', marks: [mark] }))))).toBe(
        '400 invalid_type content.content.0.content.0.marks.0',
      )
  })
})
