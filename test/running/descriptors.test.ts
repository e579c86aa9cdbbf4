import { expect, test } from 'vitest'
import { handlesFor, processLimits } from '../../db/descriptors.ts'

const limits = (files: string) =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax processes             96286                96286                processes\nMax open files            ${files.padEnd(20)} 1048576              files\n`

test.each([
  ['1048576', 1_000],
  ['20000', 1_000],
  ['1024', 96],
  ['256', 24],
  ['16', 4],
  ['unlimited', 1_000],
])('a limit of %s descriptors keeps at most %i stores open', (files, handles) => {
  expect(handlesFor(limits(files))).toBe(handles)
})

test('a system that tells no limits keeps as many as are ever kept', () => {
  expect(handlesFor(null)).toBe(1_000)
  expect(handlesFor(processLimits())).toBeGreaterThanOrEqual(4)
})
