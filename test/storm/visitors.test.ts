import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openShop, type Reply, type Server, type Shop } from './servers.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.close())

const VISITORS = 200
const KILLS = 3

test('what 200 visitors send at once to two processes, of which one after the other is killed, is there once for each 201', async () => {
  const start = () => shop.start()
  const servers: Server[] = [await start(), await start()]
  const admin = (method: string, path: string, body?: unknown) => shop.call(servers[0]!, method, path, body)
  const product = (await admin('POST', '/products', { name: 'Reviewed', status: 'published', price: 5 })).body
  const post = (await admin('POST', '/posts', { title: 'Commented', status: 'published' })).body
  const taken: { kind: string; id: string; text: string }[] = []
  const failed: Reply[] = []
  let isOver = false

  async function visit(n: number) {
    for (let round = 0; !isOver; round++) {
      const [kind, path] = (
        [
          ['reviews', `/products/${product.id}/reviews`],
          ['post_comments', `/posts/${post.id}/comments`],
          ['contact_messages', '/contact-messages'],
        ] as const
      )[round % 3]!
      const text = `${n} says ${round}`
      const body = {
        author: 'Ada',
        email: `v${n}@example.com`,
        rating: 1 + (n % 5),
        ...(kind === 'contact_messages' ? { message: text } : { content: text }),
      }
      try {
        const reply = await shop.call(servers[n % 2]!, 'POST', path, body)
        if (reply.status === 201) taken.push({ kind, id: reply.body.id, text })
        else failed.push(reply)
      } catch {
        // Cut off: it may be there, or not.
        await Bun.sleep(20)
      }
    }
  }
  const visitors = Array.from({ length: VISITORS }, (_, n) => visit(n))
  for (let kill = 0; kill < KILLS; kill++) {
    const before = taken.length
    while (taken.length < before + VISITORS) await Bun.sleep(5)
    await servers[kill % 2]!.stop('SIGKILL')
    servers[kill % 2] = await start()
  }
  const before = taken.length
  while (taken.length < before + VISITORS) await Bun.sleep(5)
  isOver = true
  await Promise.all(visitors)

  expect(failed.map(({ status }) => status)).toEqual([])
  await shop.inside(async (store) => {
    for (const [table, field] of [
      ['reviews', 'content'],
      ['post_comments', 'content'],
      ['contact_messages', 'message'],
    ] as const) {
      const rows = (await store.read.all(sql.raw(`select id, ${field} from ${table}`))) as [string, string][]
      const texts = new Map(rows)
      const own = taken.filter(({ kind }) => kind === table)
      expect(own.length).toBeGreaterThan(VISITORS / 2)
      expect(own.filter(({ id, text }) => texts.get(id) !== text)).toEqual([])
      expect(new Set(texts.values()).size).toBe(rows.length)
    }
    const numbers = 'select count(*) - max(seq), count(distinct seq) - count(*), sum(approved)'
    for (const table of ['reviews', 'post_comments']) expect(await store.read.all(sql.raw(`${numbers} from ${table}`))).toEqual([[0, 0, 0]])
  })
}, 120_000)
