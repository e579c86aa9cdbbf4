import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'
import { form, png } from './pictures.ts'

let app: TestApp
let shop: Shop
let bytes: Uint8Array
beforeAll(async () => {
  app = await testApp()
  bytes = await png(4, 4)
})
beforeEach(async () => {
  shop = await newShop(app)
})
afterAll(() => app.close())

const add = async (fields: Record<string, string>, key = shop.keys.admin) =>
  made(await shop.call('POST', '/media', undefined, { raw: form(bytes, fields), key }))
const feed = (handle: string, query = '', key = shop.keys.storefront) => shop.get(`/photofeed/accounts/${handle}/images${query}`, { key })
const day = (n: number) => `2026-05-${String(n).padStart(2, '0')}T00:00:00.000Z`

test('media with a feedAccount make the feed of that account', async () => {
  const media = await add({ feedAccount: '@Atelier.Nord', description: '<b>Linen</b>', takenAt: day(1), code: 'C1' })
  await add({ description: 'in no feed' })
  await add({ feedAccount: 'other' })
  const { status, body } = await feed('atelier.nord')
  expect([status, body]).toEqual([
    200,
    {
      handle: 'Atelier.Nord',
      images: [{ id: media.id, url: media.url, description: '<b>Linen</b>', takenAt: day(1), code: 'C1', mediaId: media.id }],
      nextCursor: null,
    },
  ])
})

test.each(['nord', 'NORD', '@nord', '%40Nord'])('%s is found as @Nord', async (handle) => {
  const { id } = await add({ feedAccount: '@Nord' })
  expect(made(await feed(handle)).images.map((image: any) => image.mediaId)).toEqual([id])
})

test('case means nothing beyond ASCII either', async () => {
  await add({ feedAccount: 'ŁÓDŹ' })
  expect((await feed(encodeURIComponent('łódź'))).status).toBe(200)
})

test('an account that has no images is none: 404', async () => {
  for (const handle of ['nobody', '@', '%20', '__proto__', 'a%2Fb', "'--"]) {
    const { status, body } = await feed(handle)
    expect([handle, status, body]).toEqual([handle, 404, expect.objectContaining({ error: 'account not found' })])
  }
  const { id } = await add({ feedAccount: 'nord' })
  made(await shop.patch(`/media/${id}`, { feedAccount: null }))
  expect((await feed('nord')).status).toBe(404)
})

test('the newest comes first by takenAt, which is when it was added unless told otherwise', async () => {
  app.clock.now = new Date(day(3))
  const names = { today: '', old: day(1), future: day(9) }
  for (const [code, takenAt] of Object.entries(names)) await add({ feedAccount: 'nord', code, takenAt })
  app.clock.real()
  const { images } = made(await feed('nord'))
  expect(images.map(({ code, takenAt }: any) => [code, takenAt])).toEqual([
    ['future', day(9)],
    ['today', day(3)],
    ['old', day(1)],
  ])
})

describe('pages', () => {
  const codes = async (query = '') => {
    const { images, nextCursor } = made(await feed('nord', query))
    return { codes: images.map(({ code }: any) => code), nextCursor }
  }
  const all = async (limit: number, between?: () => Promise<unknown>) => {
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await codes(`?limit=${limit}${cursor && `&cursor=${cursor}`}`)
      seen.push(...page.codes)
      cursor = page.nextCursor
      await between?.()
    }
    return seen
  }

  test('show each image once, also those that share an instant, whatever is added and removed meanwhile', async () => {
    const ids: string[] = []
    for (let i = 0; i < 7; i++) ids.push((await add({ feedAccount: 'nord', code: String(i), takenAt: i < 5 ? day(1) : day(2) })).id)
    const order = ['6', '5', '4', '3', '2', '1', '0']
    for (const limit of [1, 2, 3, 6, 7, 8]) expect(await all(limit)).toEqual(order)
    expect((await codes('?limit=7')).nextCursor).toBeNull()
    let n = 0
    const changing = async () => {
      await add({ feedAccount: 'nord', code: `new ${n++}`, takenAt: day(20) })
      if (n === 2) made(await shop.remove(`/media/${ids[6]}`))
    }
    expect(await all(2, changing)).toEqual(order)
  })

  test('have 48 images unless told otherwise, and at most 96', async () => {
    const { id } = await add({ feedAccount: 'nord', takenAt: day(1) })
    await app.handles.use(shop.store.id, 'live', (store) =>
      store.write(async (tx) => {
        for (let i = 0; i < 99; i++)
          await tx.run(
            sql`insert into media select ${Bun.randomUUIDv7()}, name, type, size, width, height, renditions, alt, description, feed_account, feed_key, ${day(2)}, ${String(i)}, folded, created_at, updated_at, source from media where id = ${id}`,
          )
      }),
    )
    expect((await codes()).codes.length).toBe(48)
    expect((await codes('?limit=96')).codes.length).toBe(96)
    expect(paths(await feed('nord', '?limit=97'))).toEqual(['limit'])
    expect(new Set(await all(48)).size).toBe(100)
    const plan = await shop.rows(
      sql`explain query plan select id from media where feed_key = 'nord' and (taken_at, id) < ('x', 'y') order by taken_at desc, id desc limit 5`,
    )
    expect(plan.map((row) => row[3])).toEqual([expect.stringMatching(/^SEARCH media USING (COVERING )?INDEX media_feed_taken/)])
  })

  test.each(['x', 'e30', 'AAAA', Buffer.from("2026-05-01T00:00:00.000Z ' or 1=1").toString('base64url')])(
    '%s is no cursor: 400',
    async (cursor) => {
      await add({ feedAccount: 'nord' })
      expect(paths(await feed('nord', `?cursor=${cursor}`))).toEqual(['cursor'])
      expect(paths(await feed('nord', '?cursor='))).toEqual(['cursor'])
    },
  )
})

test('another store has other accounts, and so has the sandbox', async () => {
  await add({ feedAccount: 'nord' })
  const other = await newShop(app)
  expect((await feed('nord', '', other.keys.storefront)).status).toBe(404)
  expect((await feed('nord', '', shop.keys.staging)).status).toBe(404)
  const sandboxed = await add({ feedAccount: 'nord', code: 'staged' }, shop.keys.staging)
  expect(made(await feed('nord', '', shop.keys.staging)).images).toMatchObject([{ mediaId: sandboxed.id, url: sandboxed.url }])
})

test('it says that nothing has changed, until something has', async () => {
  await add({ feedAccount: 'nord' })
  const first = await feed('nord')
  const options = { key: shop.keys.storefront, headers: { 'if-none-match': first.headers.get('etag')! } }
  expect((await shop.get('/photofeed/accounts/nord/images', options)).status).toBe(304)
  await add({ feedAccount: 'nord' })
  expect((await shop.get('/photofeed/accounts/nord/images', options)).status).toBe(200)
})
