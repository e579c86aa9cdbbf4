/** Two server processes on the same data, one of which is killed: the other one finishes what it was doing. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAILS_AT_ONCE } from '../../api/outside/mail.ts'
import { smtpServer, type Smtp } from '../smtp.ts'
import { openShop, type Shop } from './servers.ts'

let shop: Shop
let smtp: Smtp
beforeAll(async () => {
  ;[shop, smtp] = [await openShop(), await smtpServer({ delayMs: 50, keep: false })]
})
afterAll(async () => {
  await shop.close()
  await smtp.close()
})

const SUBSCRIBERS = 200
/** A lease lasts 15 seconds, and a round over all stores begins every ten minutes: this is far from both. */
const DEADLINE_MS = 90_000

test('the newsletter of a process that is killed is finished by the one that goes on, which nobody restarts or asks', async () => {
  await shop.inside((store) =>
    store.write(async (tx) => {
      const email = { fromName: null, fromAddress: 'a@shop.example', outboundEnabled: true, domain: 'shop.example' }
      const address = { line1: 'Main Street 1', city: 'Gdynia' }
      await tx.run(
        sql`update settings set email_domain_verified = 1, email = ${JSON.stringify(email)}, address = ${JSON.stringify(address)}`,
      )
      const at = '2026-01-01T00:00:00.000Z'
      for (let i = 0; i < SUBSCRIBERS; i++)
        await tx.run(
          sql`insert into subscribers (id, email, status, token, created_at, updated_at) values (${Bun.randomUUIDv7()}, ${`s${i}@example.com`}, 'active', ${`t${i}`}, ${at}, ${at})`,
        )
    }),
  )
  const env = { SMTP_URL: smtp.url }
  const [killed, goesOn] = [await shop.start(env), await shop.start(env)]
  const { id } = (await shop.call(killed, 'POST', '/newsletters', { subject: 'Hello', content: 'All.' })).body
  expect((await shop.call(killed, 'POST', `/newsletters/${id}/send`)).status).toBe(202)
  while (smtp.taken.length < SUBSCRIBERS / 10) await Bun.sleep(5)
  await killed.stop('SIGKILL')
  const before = smtp.taken.length
  expect(before).toBeLessThan(SUBSCRIBERS - MAILS_AT_ONCE)

  // What is in flight when a process dies is in doubt, and not sent again.
  const left = SUBSCRIBERS - before - MAILS_AT_ONCE
  for (const deadline = Date.now() + DEADLINE_MS; smtp.taken.length < before + left; await Bun.sleep(100))
    if (Date.now() > deadline) throw new Error(`nobody went on: ${smtp.taken.length} of ${SUBSCRIBERS} mails`)
  let status: string
  do status = (await shop.call(goesOn, 'GET', `/newsletters/${id}`)).body.status
  while (status === 'sending' && (await Bun.sleep(100), true))
  expect(status).toBe('sent')
  expect(smtp.taken.length).toBe(new Set(smtp.taken).size)
}, 120_000)
