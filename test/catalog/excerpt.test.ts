import { describe, expect, test } from 'vitest'
import { excerpts } from '../../api/catalog/excerpt.ts'

const of = (words: string[], body: string, name = 'A name') => excerpts(words)({ name, body })
const WORDS = Array.from({ length: 60 }, (_, n) => `w${n}`).join(' ')

describe('an excerpt', () => {
  test.each([
    [['linen'], 'A shirt of Linen, washed.', 'A shirt of **Linen**, washed.'],
    [['lin', 'wash'], 'A shirt of linen, washed.', 'A shirt of **linen**, **washed**.'],
    [['swieca'], 'Żółta świeca', 'Żółta **świeca**'],
    [['name'], 'Nothing of it', 'A **name**'],
    [['absent'], 'Nothing of it', 'Nothing of it'],
    [['absent'], '', 'A name'],
    [['w0'], WORDS, `**w0** ${WORDS.split(' ').slice(1, 16).join(' ')}…`],
    [['w59'], WORDS, '…w53 w54 w55 w56 w57 w58 **w59**'],
  ])('for %j in %j is %j', (words, body, expected) => {
    expect(of(words, body)).toBe(expected)
  })

  test('is short, however long a word is', () => {
    expect(of(['a'], 'a'.repeat(20_000)).length).toBe(600)
  })

  test('costs what the texts are long, however often a word stands in them', () => {
    const time = (body: string) => {
      const tries = Array.from({ length: 5 }, () => {
        const excerptOf = excerpts(['a'])
        const started = performance.now()
        for (let n = 0; n < 100; n++) excerptOf({ name: 'b', body })
        return performance.now() - started
      })
      return Math.max(0.5, Math.min(...tries))
    }
    time('b '.repeat(100))
    expect(time('b '.repeat(10_000)) / time('b '.repeat(1_000))).toBeLessThan(30)
    expect(time('a '.repeat(10_000)) / time('a '.repeat(1_000))).toBeLessThan(10)
  })
})
