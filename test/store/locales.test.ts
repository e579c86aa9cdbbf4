import { expect, test } from 'vitest'
import { isLocale } from '../../api/values/locales.ts'

test.each(['en-US', 'pl-PL', 'es-ES', 'de-DE', 'fil-PH', 'sr-XK', 'ja-JP'])('%s is a locale', (text) => {
  expect(isLocale(text)).toBe(true)
})

test.each([
  ['xx-XX', 'neither exists'],
  ['en-XX', 'no such region'],
  ['zz-US', 'no such language'],
  ['en-ZZ', 'the unknown region'],
  ['en-XA', 'a region for tests'],
  ['eng-US', 'en by another name'],
  ['iw-IL', 'he by an older name'],
  ['en', 'no region'],
  ['en-us', 'lowercase region'],
  ['EN-US', 'uppercase language'],
  ['en_US', 'an underscore'],
  ['en-US-x', 'more'],
  ['', 'empty'],
  ['en-US\n', 'a line end'],
])('%j is none (%s)', (text) => {
  expect(isLocale(text)).toBe(false)
  expect(isLocale(text)).toBe(false)
})
