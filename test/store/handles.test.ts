import { Database } from 'bun:sqlite'
import { readdirSync, readlinkSync, rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { folderFor } from '../folder.ts'
import { Handles } from '../../db/handles.ts'
import { createDatabase, databaseName, fileOf, type Handle, type Location } from '../../db/open.ts'
import { counters } from '../../db/store/store.ts'

let folder: string
let location: Location
beforeEach(() => {
  folder = folderFor('handles')
  location = { url: `file:${folder}/{name}.db` }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The least that makes a database that of a store. */
const SETTINGS = (id: string) => {
  const texts = 'name slug currency locale address default_language enabled_languages enabled_currencies tools checkout payments email'
  const more = 'email_domain_token booking welcome_offer updated_at'
  const names = `${texts} ${more}`.split(' ')
  return `INSERT INTO settings (id, store_id, taxes_included, email_domain_verified, low_stock_threshold, ${names})
    VALUES (1, '${id}', 1, 0, 0, ${names.map(() => "'{}'")})`
}

async function stores(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => Bun.randomUUIDv7())
  for (const id of ids) {
    const name = databaseName(id, 'live')
    await createDatabase(location, name, 'store')
    // Nobody needs it on disk, nor its descriptors counted: Bun's own SQLite closes at once.
    const file = new Database(fileOf(location, name)!)
    file.exec(`PRAGMA synchronous=OFF; ${SETTINGS(id)}`)
    file.close()
  }
  return ids
}

/** Descriptors of this process into the test's own folder; other tests run beside it. */
function descriptors(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder)
    } catch {
      return false
    }
  }).length
}

const write = (store: Handle) =>
  store.write(async (tx) => {
    await tx.insert(counters).values({ name: 'n', value: 1 }).onConflictDoNothing()
  })
const read = (store: Handle) => store.read.$count(counters)
const openNow = (handles: Handles) => [...handles.all()]

describe('open stores', () => {
  test('are at most as many as allowed, however many are asked for', async () => {
    const handles = new Handles(location, 5)
    for (const id of await stores(30)) {
      expect(
        await handles.use(id, 'live', async (store) => {
          await write(store)
          return read(store)
        }),
      ).toBe(1)
      expect(handles.size).toBeLessThanOrEqual(5)
    }
    expect(handles.size).toBe(5)
    handles.close()
  })

  test('the one unused for longest is closed first', async () => {
    const handles = new Handles(location, 3)
    const [a, b, c, d, e] = (await stores(5)) as [string, string, string, string, string]
    const opened = new Map<string, Handle>()
    const touch = (id: string) =>
      handles.use(id, 'live', async (store) => {
        opened.set(id, store)
      })
    for (const id of [a, b, c, a, d]) await touch(id)
    expect(openNow(handles)).toEqual([c, a, d].map((id) => opened.get(id)))
    for (const id of [c, e]) await touch(id)
    expect(openNow(handles)).toEqual([d, c, e].map((id) => opened.get(id)))
    handles.close()
  })

  test('one in use is not closed, nor one that writes', async () => {
    const handles = new Handles(location, 2)
    const [busy, ...others] = (await stores(8)) as [string, ...string[]]
    await handles.use(busy, 'live', async (store) => {
      for (const id of others) await handles.use(id, 'live', write)
      expect(openNow(handles)).toContain(store)
      await write(store)
      expect(await read(store)).toBe(1)
    })
    await handles.use(busy, 'live', async (store) => {
      const writing = Promise.all(Array.from({ length: 100 }, () => write(store)))
      await Promise.all(others.map((id) => handles.use(id, 'live', read)))
      await writing
    })
    handles.close()
  })

  test('opened all at once by more than may be open, each still serves who asked for it', async () => {
    const handles = new Handles(location, 1)
    const ids = await stores(20)
    for (let round = 0; round < 3; round++) {
      expect(
        await Promise.all(
          ids
            .flatMap((id) => [id, id])
            .map((id) =>
              handles.use(id, 'live', async (store) => {
                await write(store)
                return read(store)
              }),
            ),
        ),
      ).toEqual(Array(40).fill(1))
    }
    await handles.use(ids[0]!, 'live', read)
    expect(handles.size).toBe(1)
    handles.close()
  })

  test('asked for at once, a store is opened once', async () => {
    const handles = new Handles(location, 10)
    const [id] = (await stores(1)) as [string]
    const seen = await Promise.all(Array.from({ length: 50 }, () => handles.use(id, 'live', async (store) => store)))
    expect(new Set(seen).size).toBe(1)
    handles.close()
  })

  test('a store that is missing is an error each time, and holds nothing up', async () => {
    const handles = new Handles(location, 2)
    const [id] = (await stores(1)) as [string]
    for (let n = 0; n < 3; n++) await expect(handles.use(Bun.randomUUIDv7(), 'live', read)).rejects.toThrow('missing')
    await expect(handles.use(id, 'sandbox', read)).rejects.toThrow('missing')
    expect(await handles.use(id, 'live', read)).toBe(0)
    expect(handles.size).toBe(1)
    handles.close()
  })

  test('their file descriptors stay bounded while 400 stores are opened, written and left', async () => {
    const handles = new Handles(location, 8)
    let most = 0
    for (const id of await stores(400)) {
      await handles.use(id, 'live', async (store) => {
        await write(store)
        await read(store)
      })
      most = Math.max(most, descriptors())
    }
    // Eight open ones, and at most 32 closed ones that wait to be collected, of six descriptors each.
    expect(most).toBeLessThanOrEqual((8 + 32) * 6)
    expect(most).toBeGreaterThanOrEqual(8 * 3)
    handles.close()
  })
})
