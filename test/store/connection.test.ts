import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { folderFor } from '../folder.ts'
import { FileConnection, FileReader } from '../../db/connection.ts'

const folder = folderFor('connection')
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
} as const
const PAIRS = [
  ['rows', 'rows'],
  ['rows', 'row'],
  ['row', 'rows'],
  ['row', 'row'],
] as const

describe('a statement that is used again answers for its own parameters', () => {
  test.each(PAIRS)('%s, then %s', (first, second) => {
    const select = 'select id from t where id = ?'
    const update = 'update t set v = v + 10 where id = ? returning id'
    for (const text of [select, update]) {
      expect(WAYS[first](text, ['a'])).toEqual(['a'])
      expect(WAYS[second](text, ['b'])).toEqual(['b'])
      expect(WAYS[second](text, ['none'])).toBeUndefined()
    }
    expect(file.rows('select v from t order by id', [])).toEqual([[11], [12]])
  })

  test.each(PAIRS)('%s that fails, then %s', (first, second) => {
    const insert = 'insert into t values (?, 1) returning id'
    expect(() => WAYS[first](insert, ['a'])).toThrow('UNIQUE')
    expect(WAYS[second](insert, ['c'])).toEqual(['c'])
  })

  test('run that fails, then run', () => {
    const insert = 'insert into t values (?, 1)'
    expect(() => file.run(insert, ['a'])).toThrow('UNIQUE')
    expect(file.run(insert, ['c']).changes).toBe(1)
    expect(file.row('select id from t where id = ?', ['c'])).toEqual(['c'])
  })
})

test('a row that fails inside a savepoint leaves the transaction usable', () => {
  file.run('begin immediate', [])
  for (const id of ['a', 'b']) {
    file.run('savepoint one', [])
    expect(() => file.row('insert into t values (?, 1) returning id', [id])).toThrow('UNIQUE')
    file.run('rollback to one', [])
    file.run('release one', [])
  }
  expect(file.row('insert into t values (?, 1) returning id', ['c'])).toEqual(['c'])
  file.run('commit', [])
  expect(file.rows('select id from t order by id', [])).toEqual([['a'], ['b'], ['c']])
})

describe('a reader', () => {
  const turn = () => new Promise((next) => setImmediate(next))
  const path = () => join(folder, `${count - 1}.db`)
  const read = (reader: FileReader) => [reader.row('PRAGMA data_version', [])![0], reader.rows('select v from t', [])]

  test('sees one state of the database in a turn of the event loop, and the newest in the next', async () => {
    const reader = new FileReader(path())
    const [version, before] = read(reader)
    file.run('update t set v = 7', [])
    expect(read(reader)).toEqual([version, before])
    await turn()
    const [newer, after] = read(reader)
    expect(newer).not.toBe(version)
    expect(after).toEqual([[7], [7]])
    reader.close()
  })

  test('sees at once what is committed, when told so', () => {
    const reader = new FileReader(path())
    read(reader)
    file.run('update t set v = 7', [])
    reader.renew()
    expect(read(reader)[1]).toEqual([[7], [7]])
    reader.close()
  })

  test('holds nothing up after its turn: the log can be emptied, and it can do what no transaction may', async () => {
    const reader = new FileReader(path())
    read(reader)
    file.run('update t set v = 7', [])
    await turn()
    expect(file.rows('PRAGMA wal_checkpoint(TRUNCATE)', [])).toEqual([[0, 0, 0]])
    read(reader)
    reader.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    reader.close()
  })

  test('changes nothing, whatever it is told', async () => {
    const reader = new FileReader(path())
    const statements = ['update t set v = 7', "insert into t values ('c', 3)", 'delete from t', 'drop table t', 'create table u (id text)']
    for (const text of statements) {
      expect(() => reader.run(text, [])).toThrow('attempt to write a readonly database')
      expect(() => reader.exec(text)).toThrow('attempt to write a readonly database')
    }
    expect(() => reader.rows('delete from t returning id', [])).toThrow('attempt to write a readonly database')
    expect(read(reader)[1]).toEqual([[1], [2]])
    reader.close()
  })

  test('answers after a statement that failed', async () => {
    const reader = new FileReader(path())
    expect(() => reader.rows('select json(?)', ['{'])).toThrow('malformed JSON')
    expect(read(reader)[1]).toEqual([[1], [2]])
    await turn()
    expect(read(reader)[1]).toEqual([[1], [2]])
    reader.close()
  })
})
