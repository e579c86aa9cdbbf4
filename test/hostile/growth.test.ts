import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ASKED } from './asked.ts'
import { growthOf, TIMES_MAX } from './growth.ts'
import { textsAgainst } from './pattern-shapes.ts'
import { shapesOf, type TextOf } from './shapes.ts'
import { codeOf, readersOf } from './sources.ts'
import { PATTERNS, UNASKED } from './unasked.ts'

const files = ['api', 'db', 'site']
  .flatMap((top) => readdirSync(top, { recursive: true, encoding: 'utf8' }).map((path) => join(top, path)))
  // What stands in a page of a browser holds that browser alone.
  .filter((path) => path.endsWith('.ts') && !/^site\/(scripts|storefront)\/|\/migrations\/|^site\/dist\//.test(path))
  .toSorted()
const code = new Map(files.map((path) => [path, codeOf(readFileSync(path, 'utf8'))]))

/** The first text that takes longer than it may, as a test shows it. */
function worse(ask: (text: string) => unknown, texts: [name: string, TextOf][]): string[] {
  for (const [name, textOf] of texts) {
    const growth = growthOf(ask, textOf)
    if (growth > TIMES_MAX) return [`${name}, ${JSON.stringify(textOf(40).slice(0, 60))}: ${growth.toFixed(0)} times as long`]
  }
  return []
}

describe('the measure itself', () => {
  const letters: [string, TextOf][] = [['one word', (length) => 'a'.repeat(length)]]
  const tags: [string, TextOf][] = [['tags', (length) => '<s>'.repeat(length / 3)]]
  let sink = 0
  const planted: Record<string, [(text: string) => unknown, [string, TextOf][]]> = {
    'a pattern with two parts that meet': [(text) => /\s*a+$/.test(`${text}!`), letters],
    'a lazy pattern to an end that never comes': [(text) => text.replace(/<s>[^]*?<\/s>/g, ''), tags],
    'a look for an end in a loop': [
      (text) => {
        for (let at = text.indexOf('<s>'); at >= 0; at = text.indexOf('<s>', at + 1)) sink += text.indexOf('</s>', at)
      },
      tags,
    ],
    'a pattern that tries everything': [(text) => /^(a+)+$/.test(`${'a'.repeat(Math.min(text.length, 30))}!`), letters],
    'marks that are put in order': [(text) => text.normalize('NFC'), [['marks', (length) => '\u0301\u0316'.repeat(length / 2)]]],
  }
  test.each(Object.keys(planted))('finds %s', (name) => expect(worse(...planted[name]!)).toHaveLength(1))

  test('lets pass what reads each character, and what keeps it', () => {
    expect(
      worse((text) => {
        for (const character of text) sink += character.length
        return [text.split('').join('-'), JSON.stringify(text.split('a'))]
      }, shapesOf()),
    ).toEqual([])
    expect(sink).not.toBe(0)
  })

  test('has seventeen shapes', () => {
    expect(new Set(shapesOf().map(([name]) => name)).size).toBe(17)
  })
})

describe('no pattern takes longer than its text is long', () => {
  const patterns = new Map(
    files.flatMap((path) =>
      code
        .get(path)!
        .patterns.map(({ source, flags }): [string, { source: string; flags: string }] => [`/${source}/${flags}`, { source, flags }]),
    ),
  )
  const exempt = new Set<string>(Object.values(PATTERNS).flat())

  test('all patterns of the code are found', () => {
    expect(patterns.size).toBeGreaterThan(300)
  })

  test.each([...patterns.keys()].filter((pattern) => !exempt.has(pattern)))('%s', (pattern) => {
    const { source, flags } = patterns.get(pattern)!
    const regExp = new RegExp(source, flags)
    const ask = (text: string) => (flags.includes('g') ? text.replace(regExp, '') : regExp.test(text))
    expect(worse(ask, textsAgainst(source, flags))).toEqual([])
  })

  test('those that may are there, and need it', () => {
    expect([...exempt].filter((pattern) => !patterns.has(pattern))).toEqual([])
  })
})

describe('no function takes longer than its text is long', () => {
  test.each(ASKED.map((asked, i) => [`${asked.file}: ${asked.names || '…'}`, i] as const))('%s', (_, i) => {
    const { ask, marks } = ASKED[i]!
    expect(worse(ask, shapesOf(marks))).toEqual([])
  })
})

describe('whatever reads text is asked', () => {
  const readers = files.flatMap((path) => readersOf(code.get(path)!).map((name) => `${path}: ${name}`))
  const asked = new Set(ASKED.flatMap(({ file, names }) => names.split(' ').map((name) => `${file}: ${name}`)))
  const excused = new Set(
    Object.values(UNASKED)
      .flat()
      .flatMap((entry) => {
        const [file, names] = entry.split(': ')
        return names ? names.split(' ').map((name) => `${file}: ${name}`) : readers.filter((reader) => reader.startsWith(file!))
      }),
  )

  test('or named with the reason why not', () => {
    expect(readers.filter((reader) => !asked.has(reader) && !excused.has(reader))).toEqual([])
  })

  test('and nothing is named that is not there', () => {
    const known = new Set(readers)
    expect([...asked, ...excused].filter((name) => !name.endsWith(': ') && !known.has(name))).toEqual([])
    expect(
      Object.values(UNASKED)
        .flat()
        .filter((entry) => !entry.includes(': ') && !readers.some((reader) => reader.startsWith(entry))),
    ).toEqual([])
    expect(ASKED.filter(({ file }) => !code.has(file)).map(({ file }) => file)).toEqual([])
  })
})
