import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAILS_AT_ONCE } from '../../api/outside/mail.ts'
import { smtpServer, type Smtp } from '../smtp.ts'
import { openShop, type Server, type Shop } from './servers.ts'

let shop: Shop
let smtp: Smtp
beforeAll(async () => {
  ;[shop, smtp] = [await openShop(), await smtpServer({ delayMs: 2, keep: false })]
})
afterAll(async () => {
  await shop.close()
  await smtp.close()
})

const WAITING = 5_000
const KILLS = 3

/** A store that may send, and people who wait for a variant of it. */
const fill = (variantId: string) =>
  shop.inside((store) =>
    store.write(async (tx) => {
      await tx.run(
        sql`update settings set email_domain_verified = 1, email = ${JSON.stringify({ fromName: null, fromAddress: 'a@shop.example', outboundEnabled: true, domain: 'shop.example' })}`,
      )
      await tx.run(sql`insert into availability_notifications (id, variant_id, email, status, token, deferrals, created_at, updated_at)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < ${WAITING})
        select printf('01985d2c-7c00-7a07-8be3-%012d', i), ${variantId}, printf('w%d@example.com', i), 'waiting', printf('t%d', i), 0,
          '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' from n`)
    }),
  )

test('5,000 people who wait for one variant get one mail each when it is back, though all processes are killed three times; those in flight read unknown', async () => {
  const start = () => shop.start({ SMTP_URL: smtp.url })
  let servers: Server[] = [await start(), await start()]
  const call = (method: string, path: string, body?: unknown) => shop.call(servers.at(-1)!, method, path, body)
  const variant = { price: 5, stock: { quantity: 0 } }
  const { variants } = (await call('POST', '/products', { name: 'Wanted', status: 'published', variants: [variant] })).body
  await fill(variants[0].id)
  expect((await call('PATCH', `/inventory/${variants[0].id}`, { quantity: 3 })).status).toBe(200)
  for (let kill = 1; kill <= KILLS; kill++) {
    while (smtp.taken.length < (WAITING * kill) / (KILLS + 2)) await Bun.sleep(5)
    await Promise.all(servers.map((server) => server.stop('SIGKILL')))
    servers = [await start(), await start()]
  }
  const count = async (status: string) =>
    (await call('GET', `/availability-notifications?status=${status}&limit=1`)).body.meta.count as number
  while ((await count('waiting')) || (await count('sending'))) await Bun.sleep(100)
  const unknown: string[] = []
  const lost = await call('GET', '/availability-notifications?status=unknown&limit=100')
  unknown.push(...lost.body.data.map(({ email }: { email: string }) => email))
  // None twice, none missing but those in doubt, and of those no more than can be in flight.
  expect(smtp.taken.length).toBe(new Set(smtp.taken).size)
  expect(new Set([...smtp.taken, ...unknown]).size).toBe(WAITING)
  expect(unknown).toHaveLength(lost.body.meta.count)
  expect(unknown.length).toBeGreaterThan(0)
  expect(unknown.length).toBeLessThanOrEqual(KILLS * MAILS_AT_ONCE)
  expect(await count('sent')).toBe(WAITING - unknown.length)
}, 180_000)
