import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { FileConnection } from '../../db/connection.ts'

const folder = mkdtempSync(join(tmpdir(), 'stoa-connection-'))
let file: FileConnection
let count = 0
beforeEach(() => {
  file = new FileConnection(join(folder, `${count++}.db`))
  file.exec("create table t (id text primary key, v integer); insert into t values ('a', 1), ('b', 2)")
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const WAYS = {
  rows: (text: string, params: unknown[]) => file.rows(text, params)[0],
  row: (text: string, params: unknown[]) => file.row(text, params),
  run: (text: string, params: unknown[]) => { file.run(text, params) },
} as const
type Way = keyof typeof WAYS
const pairs = (ways: Way[]) => ways.flatMap((first) => ways.map((second) => [first, second] as const))

describe('a statement that is used again answers for its own parameters', () => {
  test.each(pairs(['rows', 'row']))('%s, then %s', (first, second) => {
    const select = 'select id from t where id = ?'
    const update = 'update t set v = v + 10 where id = ? returning id'
    for (const text of [select, update]) {
      expect(WAYS[first](text, ['a'])).toEqual(['a'])
      expect(WAYS[second](text, ['b'])).toEqual(['b'])
      expect(WAYS[second](text, ['none'])).toBeUndefined()
    }
    expect(file.rows('select v from t order by id', [])).toEqual([[11], [12]])
  })

  test.each(pairs(['rows', 'row', 'run']))('%s that fails, then %s', (first, second) => {
    for (const text of ['insert into t values (?, 1) returning id', ...first === 'run' && second === 'run' ? ['insert into t values (?, 2)'] : []]) {
      expect(() => WAYS[first](text, ['a'])).toThrow('UNIQUE')
      WAYS[second](text, [text])
      expect(file.row('select id from t where id = ?', [text])).toEqual([text])
    }
  })
})
