import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAILS_AT_ONCE } from '../../api/outside/mail.ts'
import { smtpServer, type Smtp } from '../smtp.ts'
import { openShop, type Server, type Shop } from './servers.ts'

let shop: Shop
let smtp: Smtp
beforeAll(async () => {
  ;[shop, smtp] = [await openShop(), await smtpServer({ delayMs: 10, keep: false })]
})
afterAll(async () => {
  await shop.close()
  await smtp.close()
})

const SUBSCRIBERS = 600
const KILLS = 3

/** A store that may send, with subscribers. */
async function fill() {
  await shop.inside((store) =>
    store.write(async (tx) => {
      await tx.run(
        sql`update settings set email_domain_verified = 1, email = ${JSON.stringify({ fromName: null, fromAddress: 'a@shop.example', outboundEnabled: true, domain: 'shop.example' })}, address = ${JSON.stringify({ line1: 'Main Street 1', city: 'Gdynia' })}`,
      )
      for (let i = 0; i < SUBSCRIBERS; i++)
        await tx.run(
          sql`insert into subscribers (id, email, status, token, created_at, updated_at) values (${Bun.randomUUIDv7()}, ${`s${i}@example.com`}, 'active', ${`t${i}`}, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
        )
    }),
  )
}

test('a newsletter whose process is killed three times, beside another one, reaches everybody once, but for those in flight, who read unknown', async () => {
  await fill()
  const start = () => shop.start({ SMTP_URL: smtp.url })
  let servers: Server[] = [await start(), await start()]
  const call = (method: string, path: string, body?: unknown) => shop.call(servers.at(-1)!, method, path, body)
  const { id } = (await call('POST', '/newsletters', { subject: 'Hello', content: 'All.' })).body
  expect((await call('POST', `/newsletters/${id}/send`)).status).toBe(202)
  for (let kill = 1; kill <= KILLS; kill++) {
    const enough = (SUBSCRIBERS * kill) / (KILLS + 2)
    while (smtp.taken.length < enough) await Bun.sleep(5)
    await Promise.all(servers.map((server) => server.stop('SIGKILL')))
    servers = [await start(), await start()]
  }
  let newsletter: { status: string; recipientCount: number; errorMessage: string | null }
  do {
    await Bun.sleep(50)
    newsletter = (await call('GET', `/newsletters/${id}`)).body
  } while (newsletter.status === 'sending')
  const unknown: string[] = []
  for (let offset = 0, count = 1; offset < count; offset += 100) {
    const { data, meta } = (await call('GET', `/newsletters/${id}/deliveries?status=unknown&limit=100&offset=${offset}`)).body
    count = meta.count
    unknown.push(...data.map(({ email }: { email: string }) => email))
  }
  // None twice, none missing but those in doubt, and of those no more than can be in flight.
  expect(smtp.taken.length).toBe(new Set(smtp.taken).size)
  expect(new Set([...smtp.taken, ...unknown]).size).toBe(SUBSCRIBERS)
  expect(unknown.length).toBeGreaterThan(0)
  expect(unknown.length).toBeLessThanOrEqual(KILLS * MAILS_AT_ONCE)
  expect(newsletter.status).toBe('sent')
  expect(newsletter.recipientCount).toBe(SUBSCRIBERS - unknown.length)
  expect(newsletter.errorMessage).toMatch(new RegExp(`^${unknown.length} mails? may or may not have arrived`))
}, 180_000)
