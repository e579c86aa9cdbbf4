import { describe, expect, test } from 'vitest'
import { normalizeEmail } from '../../api/values/email.ts'
import { normal } from '../../api/values/compared.ts'
import { compared } from '../../api/content/visitors/submission.ts'
import { slugOf } from '../../api/values/slug.ts'

const FORMS = ['NFC', 'NFD', 'NFKC'] as const
/** Marks of two classes, in the order in which none may stay. */
const marks = (count: number) => 'a' + '\u0301\u0316'.repeat(count / 2)

describe('a normal form', () => {
  test.each(FORMS)('is that of Unicode where no more than 30 marks stand in a row: %s', (form) => {
    for (const text of ['', 'Crème brûlée', 'e\u0301', marks(30), 'ｶﾞ', 'กำ', 'ΐ', '한글', '\u0344', '😀', '\ud800'])
      expect(normal(text, form)).toBe(text.normalize(form))
  })

  test('of a normal form is itself, however many marks there are', () => {
    for (const count of [28, 30, 32, 64, 600]) {
      const once = normal(marks(count))
      expect(normal(once)).toBe(once)
    }
    expect(normalizeEmail(normalizeEmail(`${marks(40)}@a.example`))).toBe(normalizeEmail(`${marks(40)}@a.example`))
  })

  test('keeps texts apart that differ in their marks alone, and what they are compared by', () => {
    expect(normal(marks(62))).not.toBe(normal(marks(60)))
    expect(compared(marks(62))).not.toBe(compared(marks(60)))
    expect(slugOf(`Crème ${marks(600)}`)).toMatch(/^creme-a/)
  })
})
