import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isUuid } from '../../api/values/uuid.ts'
import { fold, freeSlug, slugOf } from '../../api/values/slug.ts'

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ maxLength: 300 }),
)

describe('slug made from a name', () => {
  test.each([
    ['Łopata', 'lopata'],
    ['straße', 'strasse'],
    ['STRASSE', 'strasse'],
    ['Москва', 'moskva'],
    ['Αθήνα', 'athina'],
    ['Crème brûlée', 'creme-brulee'],
    ['Øre & Ægir', 'ore-aegir'],
    ['Žluťoučký kůň', 'zlutoucky-kun'],
    ["Men's – L/XL", 'mens-l-xl'],
    ['  spaces  ', 'spaces'],
    ['a---b', 'a-b'],
    ['100%', '100'],
    ['C++', 'c'],
    ['5.0', '5-0'],
  ])('%s is transliterated to %s', (name, slug) => {
    expect(slugOf(name)).toBe(slug)
  })

  test('composed and decomposed letters give the same', () => {
    for (const name of ['Łódź', 'Crème', 'Größe', 'Ångström']) expect(slugOf(name.normalize('NFD'))).toBe(slugOf(name.normalize('NFC')))
  })

  test('names of other scripts give different ones, in letters', () => {
    const slugs = ['日本語', 'हिन्दी', '한국어', 'العربية', 'עברית', 'ไทย', 'ქართული', '🚀'].map(slugOf)
    for (const slug of slugs) expect(slug).toMatch(SLUG)
    expect(new Set(slugs).size).toBe(slugs.length)
    expect(slugs).not.toContain('item')
  })

  test.each(['', ' ', '!!!', '..', '/', '-', '\u200b', '\u0000', '\ud800', '\u0301', '…'])('of %j is never empty', (name) => {
    expect(slugOf(name)).toMatch(SLUG)
  })

  test('is never empty, lowercase a-z0-9-, at most 200 characters and no UUID, whatever the name', () => {
    fc.assert(
      fc.property(anyText, (name) => {
        const slug = slugOf(name)
        expect(slug).toMatch(SLUG)
        expect(slug.length).toBeLessThanOrEqual(200)
        expect(isUuid(slug)).toBe(false)
      }),
      { numRuns: 5_000 },
    )
  })

  test('of a UUID is none', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.boolean(), (id, upper) => {
        expect(isUuid(slugOf(upper ? id.toUpperCase() : id))).toBe(false)
      }),
      { numRuns: 200 },
    )
  })

  test('of a slug is itself', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,4}$/), (slug) => {
        expect(slugOf(slug)).toBe(slug)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('a taken slug', () => {
  test('gets -2, -3', () => {
    expect(freeSlug('a', [])).toBe('a')
    expect(freeSlug('a', ['a'])).toBe('a-2')
    expect(freeSlug('a', ['a', 'a-2', 'a-4'])).toBe('a-3')
    expect(freeSlug('a', ['a-2', 'a-b'])).toBe('a')
    expect(freeSlug('a-2', ['a-2'])).toBe('a-2-2')
  })

  test('is never one that is taken', () => {
    const taken = new Set<string>()
    for (let i = 0; i < 500; i++) {
      const slug = freeSlug('a', taken)
      expect(taken.has(slug)).toBe(false)
      taken.add(slug)
    }
    expect(taken.has('a-500')).toBe(true)
  })
})

test('folded text is the same with and without diacritics, in any case', () => {
  for (const [a, b] of [
    ['ŁÓDŹ', 'lodz'],
    ['Größe', 'groSSe'],
    ['Crème', 'CREME'],
    ['Москва', 'moskva'],
  ] as const)
    expect(fold(a)).toBe(fold(b))
})
