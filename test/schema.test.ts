import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { getTableColumns, is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folderFor } from './folder.ts'
import * as control from '../db/control/tables.ts'
import { migrations } from '../db/migrate.ts'
import { createDatabase, openDatabase, type Handle } from '../db/open.ts'

const folder = folderFor('schema')
const location = { url: `file:${folder}/{name}.db` }
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const tablesOf = (...modules: object[]) =>
  modules.flatMap((module) => Object.values(module)).filter((value): value is SQLiteTable => is(value, SQLiteTable))
/** Every file of tables, so that none is forgotten. */
const rooms = await Promise.all(readdirSync('db/store').map((file) => import(join('../db/store', file)) as Promise<object>))
const kinds = { control: tablesOf(control), store: tablesOf(...rooms) } as const
const handles = {} as Record<keyof typeof kinds, Handle>
beforeAll(async () => {
  for (const kind of ['control', 'store'] as const) {
    await createDatabase(location, kind, kind)
    handles[kind] = await openDatabase(location, kind, kind)
  }
})
afterAll(() => {
  for (const handle of Object.values(handles)) handle.close()
  rmSync(folder, { recursive: true })
})
const rows = (kind: keyof typeof kinds, text: string) => handles[kind].connection.rows(text, []) as unknown[][]

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('the migrations of a %s database', (kind) => {
  test('build the tables that the code describes, column for column', () => {
    const built = rows(
      kind,
      `select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'search_fts%' order by name`,
    ).map(([name]) => name)
    expect(built).toEqual(kinds[kind].map((table) => getTableConfig(table).name).sort())
    for (const table of kinds[kind]) {
      const { name } = getTableConfig(table)
      const described = Object.entries(getTableColumns(table)).map(([key, column]) => [
        snake(key),
        column.getSQLType().toUpperCase(),
        Number(column.notNull),
      ])
      expect([name, rows(kind, `pragma table_info('${name}')`).map(([, column, type, notNull]) => [column, type, notNull])]).toEqual([
        name,
        described,
      ])
    }
  })

  test('build STRICT tables: an integer column takes no 10.5', () => {
    expect(
      rows(
        kind,
        `select name from pragma_table_list where type = 'table' and strict = 0 and schema = 'main' and name not like 'sqlite_%' and name not like 'search_fts%'`,
      ),
    ).toEqual([])
  })

  test('build every index, foreign key and check that the code names', () => {
    for (const table of kinds[kind]) {
      const { name, indexes, foreignKeys, checks } = getTableConfig(table)
      const [[definition]] = rows(kind, `select sql from sqlite_master where name = '${name}'`) as [[string]]
      const built = rows(kind, `pragma index_list('${name}')`).map((row) => row[1])
      expect(indexes.map((index) => index.config.name).filter((index) => !built.includes(index))).toEqual([])
      expect(rows(kind, `pragma foreign_key_list('${name}')`).length).toBe(
        foreignKeys.reduce((sum, key) => sum + key.reference().columns.length, 0),
      )
      expect(checks.map((check) => check.name).filter((check) => !definition.includes(`CONSTRAINT "${check}" CHECK`))).toEqual([])
    }
  })

  test('set the version to how many they are', () => {
    expect(rows(kind, 'pragma user_version')).toEqual([[migrations(kind).length]])
  })

  test('carry the newest snapshot alone, with which the next one is compared', () => {
    const newest = readdirSync(`db/migrations/${kind}`)
      .filter((file) => file.endsWith('.sql'))
      .sort()
      .at(-1)!
    expect(readdirSync(`db/migrations/${kind}/meta`).sort()).toEqual([`${newest.slice(0, 4)}_snapshot.json`, '_journal.json'])
  })

  test('every connection keeps foreign keys and writes through to disk', async () => {
    const settings = (text: string) => handles[kind].write(async (tx) => Object.values((await tx.all(text as never))[0] as object))
    expect(await settings('pragma foreign_keys')).toEqual([1])
    expect(await settings('pragma synchronous')).toEqual([2])
    expect(rows(kind, 'pragma foreign_keys')).toEqual([[1]])
    expect(rows(kind, 'pragma journal_mode')).toEqual([['wal']])
  })

  test('every foreign key has an index, so that deleting a parent scans nothing', () => {
    for (const table of kinds[kind]) {
      const { name } = getTableConfig(table)
      for (const key of rows(kind, `pragma foreign_key_list('${name}')`)) {
        const plan = rows(kind, `explain query plan select 1 from ${name} where ${key[3]} = 'x'`)
          .map((row) => String(row[3]))
          .join()
        expect([name, key[3], plan]).toEqual([name, key[3], expect.stringContaining('USING')])
      }
    }
  })
})
