/** What counts as the answer that a page shows, and what as another one. */
import { describe, expect, test } from 'vitest'
import { version } from '../../package.json'
import { differences, isNoted, isPrinted, shown } from './difference.ts'

const ID = '01a1febd-06bf-7062-aa3f-674d55ba3533'
const OTHER_ID = '01a2093a-c8ac-77c3-987e-1bd5d960aac2'
const HEX = '9d259b85229652864f50c96d88acaca2d8f11d9f'
const OTHER_HEX = '0a1b2c3d4e5f60718293a4b5c6d7e8f901234567'
const CURSOR = 'MjAyNi0xMS0yMVQxNTozMzozNy4xMzdaIDAxYTFmZWJkLWQ4ZjItNzE2Zi04ZDYz'
const OTHER_CURSOR = 'MjAyNi0xMS0yM1QxNjoyNzoyMi43ODBaIDAxYTIwOTNiLWJlODQtNzQ3ZC04N2I5'

const between = (text: string, real: unknown, asked?: string) => differences(shown(text), real, asked)

test.each<[what: string, shows: string, real: unknown, asked?: string]>([
  ['the same', '{ "a": [1, "x", null, true], "b": {} }', { b: {}, a: [1, 'x', null, true] }],
  ['another id', `{ "id": "${ID}" }`, { id: OTHER_ID }],
  ['another instant', '{ "at": "2026-11-21T15:33:37.137Z" }', { at: '2026-11-23T16:20:01.644Z' }],
  ['another key', `{ "key": "sk-${HEX}01234567", "prefix": "sk-71f1e" }`, { key: `sk-${OTHER_HEX}89abcdef`, prefix: 'sk-0a1b2' }],
  ['another key of the sandbox', `"sk-s-${HEX}01234567"`, `sk-s-${OTHER_HEX}89abcdef`],
  ['another signature', `"stoa-verification=${HEX}"`, `stoa-verification=${OTHER_HEX}`],
  ['another cursor', `"${CURSOR}"`, OTHER_CURSOR],
  ['another token', `"v1.${CURSOR}"`, `v1.${OTHER_CURSOR}`],
  ['another token, without a digit', `"${CURSOR}"`, 'aBcDeFgHiJkLmNoPqRsTuVwXyZ-_aBcDeFgHiJkLmNoPq'],
  ['an address with other ids', `"https://api.shop.example/cdn/${ID}/live/x.jpg"`, `http://127.0.0.1:4010/cdn/${OTHER_ID}/live/x.jpg`],
  ['a sentence with another id', `"key create --store ${ID} --scopes a"`, `key create --store ${OTHER_ID} --scopes a`],
  ['the name of the store', '{ "slug": "atelier-nord" }', { slug: 'test-71ee2122bc6f' }],
  ['the release', `{ "version": "${version}" }`, { version: 'test' }],
  ['a text cut at its end', '"unknown variables: orderNo. There are …"', 'unknown variables: orderNo. There are a, b'],
  ['a text cut in its middle', '"https://shop.example/cdn/…/320.webp"', `http://127.0.0.1:4010/cdn/${ID}/live/${OTHER_ID}/320.webp`],
  ['a text of which nothing is shown', '"…"', 'anything'],
  ['a text that has an ellipsis itself', '"made from **linen**. …"', 'made from **linen**. …'],
  ['a key cut after its start', '"sk-ce71a…"', `sk-${HEX}01234567`],
  ['an id cut within', '"/cdn/01a1febd-0609-…/live"', `/cdn/${ID}/live`],
  ['a cursor cut within', '"MjAyNi0xMS0yMVQxNToz…"', OTHER_CURSOR],
  ['a signature cut within', '"stoa-verification=2470…"', `stoa-verification=${HEX}`],
  ['an object of which fields are left out', '{ "a": 1, … }', { a: 1, b: 2 }],
  ['a list whose end is left out', '[1, 2, …]', [1, 2, 3, 4]],
  ['a list whose middle is left out', '[1, …, 4]', [1, 2, 3, 4]],
  ['a list of which nothing is shown', '{ "list": [ … ] }', { list: [1] }],
  ['an instant that the page has sent', '"2040-01-01T00:00:59.125Z"', '2040-01-01T00:00:59.125Z', 'until 2040-01-01T00:00:59.125Z'],
])('%s is the same', (_, shows, real, asked) => {
  expect(between(shows, real, asked)).toEqual([])
})

test.each<[what: string, shows: string, real: unknown, asked?: string]>([
  ['another number', '{ "n": 1 }', { n: 2 }],
  ['another name', '{ "name": "Linen shirt" }', { name: 'Wool scarf' }],
  ['another message', '"must be at most 100"', 'must be at most 50'],
  ['another kind', '{ "n": 1 }', { n: '1' }],
  ['null where something stands', '{ "note": null }', { note: 'Leave it at the door' }],
  ['something where null stands', '{ "note": "Leave it at the door" }', { note: null }],
  ['null in place of a list', 'null', []],
  ['an id in place of a name', `{ "code": "${ID}" }`, { code: 'SPRING10' }],
  ['a name in place of an id', '{ "code": "SPRING10" }', { code: ID }],
  ['an instant in place of an id', '"2026-11-21T15:33:37.137Z"', ID],
  ['a key in place of its start', '"sk-71f1e"', `sk-${HEX}01234567`],
  ['a key of the sandbox in place of one of the store', `"sk-${HEX}01234567"`, `sk-s-${HEX}01234567`],
  ['a signature in place of a key', `"sk-${HEX}01234567"`, HEX],
  ['a word in place of a token', `"${CURSOR}"`, 'the-winter-collection-of-linen-and-of-merino-wool'],
  ['an address of another picture', `"https://shop.example/cdn/${ID}/image.webp"`, `http://127.0.0.1:4010/cdn/${OTHER_ID}/image.jpg`],
  ['an address elsewhere', '"https://cdn.example.com/image.jpg"', 'http://127.0.0.1:4010/image.jpg'],
  ['a host whose name begins alike', '"https://shop.example.com/"', 'http://127.0.0.1:4010/'],
  ['an instant that was asked for by the hour', '"2027-12-05T18:00:00.000Z"', '2027-12-05T19:00:00.000Z'],
  ['an instant by the hour where a clock was read', '"2026-11-22T09:00:00.000Z"', '2026-11-23T16:27:11.572Z'],
  ['an instant other than the page has sent', '"2040-01-01T00:00:59.125Z"', '2040-01-01T01:00:59.125Z', 'until 2040-01-01T00:00:59.125Z'],
  ['a number of a parcel other than the page has sent', `"${'1'.repeat(20)}"`, '2'.repeat(20), `{"trackingNumber":"${'1'.repeat(20)}"}`],
  ['another release', '{ "version": "3.1.0" }', { version: 'test' }],
  ['the release in another field', `{ "method": "${version}" }`, { method: 'test' }],
  ['another beginning before a cut', '"unknown fields: …"', 'unknown variables: orderNo'],
  ['another end behind a cut', '"/cdn/…/640.webp"', `/cdn/${ID}/320.webp`],
  ['the start of a key where a word goes on', '"sk-ce71a…"', 'sk-ce71a is no key'],
  ['a field that is not there', '{ "total": 1, … }', { totalCents: 1, b: 2 }],
  ['a field that is left out in silence', '{ "a": 1 }', { a: 1, b: 2 }],
  ['an ellipsis for no field', '{ "a": 1, … }', { a: 1 }],
  ['an entry that is left out in silence', '[1, 2]', [1, 2, 3]],
  ['an ellipsis for no entry', '[1, 2, …]', [1, 2]],
  ['an entry that is not there', '[1, 2]', [1]],
  ['another last entry behind a cut', '[1, …, 4]', [1, 2, 3, 5]],
  ['another order', '["a", …]', ['b', 'a']],
  ['an object in place of a list', '{ … }', [1]],
  ['an empty list in place of an object', '[]', {}],
])('%s is another', (_, shows, real, asked) => {
  expect(between(shows, real, asked)).toHaveLength(1)
})

describe('what is told of a difference', () => {
  test('names the place, what is there and what is shown', () => {
    expect(between('{ "data": [{ "name": "Ada", "sku": null, … }] }', { data: [{ name: 'Grace', sku: 'A', id: 1 }] })).toEqual([
      'the answer.data[0].name is "Grace", not "Ada"',
      'the answer.data[0].sku is "A", not null',
    ])
  })

  test('shortens what is long', () => {
    expect(between('1', 'x'.repeat(1000))[0]!.length).toBeLessThan(400)
  })
})

describe('what a program prints', () => {
  test('is what stands below it, of whatever day, with more before and behind', () => {
    const printed = 'reading\norder 1003 of 2026-11-23 is paid \n2 lines\ndone\n'
    expect(isPrinted('order 1003 of 2026-11-21 is paid\n2 lines', printed)).toBe(true)
    expect(isPrinted('order … is paid\n…', printed)).toBe(true)
  })

  test.each([
    ['another line', 'order 1004 is paid', 'order 1003 is paid'],
    ['lines that do not follow each other', 'a\nc', 'a\nb\nc'],
    ['lines in another order', 'b\na', 'a\nb'],
    ['more than is printed', 'a\nb', 'a'],
    ['a part of a line', 'paid', 'order 1003 is paid'],
  ])('is not %s', (_, shows, real) => {
    expect(isPrinted(shows, real)).toBe(false)
  })

  test('has the days that the program names', () => {
    expect(isPrinted('from 2026-01-01', 'from 2026-02-01', 'const FROM = "2026-01-01"')).toBe(false)
  })
})

describe('a comment behind console.log', () => {
  const printed = '1 3\nSet(2) {\n  "S",\n  "M",\n}\nCreate a key: POST /api-keys, or npm run\n'

  test.each(['1 3', 'Set(2) { "S", "M" }', 'Create a key: POST /api-keys, or …'])('%s is printed', (comment) => {
    expect(isNoted(comment, printed)).toBe(true)
  })

  test.each(['1 2', '1 3: the same variant adds up', 'Set(2) { "M", "S" }', 'Create a key: DELETE …'])('%s is not', (comment) => {
    expect(isNoted(comment, printed)).toBe(false)
  })
})
