/** Newsletters of many stores in one process: what they leave room for, and that one ends with its store. */
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLog } from '../../api/server/log.ts'
import { MAILS_AT_ONCE, type Mail } from '../../api/outside/mail.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, type Shop } from '../shop.ts'

let app: TestApp
/** Mails that the server has begun to take. */
let begun: Mail[]
/** Lets the mails of newsletters through. */
let open: PromiseWithResolvers<void>
const said: string[] = []

beforeEach(async () => {
  begun = []
  open = Promise.withResolvers()
  const send = async (mail: Mail) => {
    begun.push(mail)
    if (mail.subject === 'Hello') await open.promise
  }
  const log = createLog('warn', { write: (text) => void said.push(text) })
  app = await testApp({ mailers: { open: async () => ({ send, close() {} }) }, background: true, log })
})
afterEach(async () => {
  open.resolve()
  await app.close()
})

const until = async (isSo: () => boolean) => {
  for (const deadline = Date.now() + 20_000; !isSo(); await Bun.sleep(10))
    if (Date.now() > deadline) throw new Error('it did not come to that')
}
const newsletters = () => new Set(begun.filter(({ subject }) => subject === 'Hello').map(({ id }) => id.split('.')[0]))

/** A store that sends a newsletter to so many. */
async function sending(count: number): Promise<Shop> {
  const shop = await newShop(app)
  await shop.settings({
    address: { line1: 'Długa 1', city: 'Gdańsk', postalCode: '80-831', country: 'PL' },
    email: { domain: 'shop.example', fromName: 'Nord', fromAddress: 'hello@shop.example', outboundEnabled: true },
  })
  await app.handles.use(shop.store.id, 'live', (store) => store.write((tx) => tx.run(sql`update settings set email_domain_verified = 1`)))
  for (let i = 0; i < count; i++) made(await shop.post('/subscribers', { email: `s${i}@example.com` }))
  const { id } = made(await shop.post('/newsletters', { subject: 'Hello', content: 'All.' }))
  expect((await shop.call('POST', `/newsletters/${id}/send`)).status).toBe(202)
  return shop
}

describe('newsletters', () => {
  test('of nine stores at once leave room for what else there is to do', async () => {
    const shops: Shop[] = []
    for (let i = 0; i < 9; i++) shops.push(await sending(1))
    await until(() => newsletters().size >= 3)
    await shops[8]!.settings({ email: { doubleOptIn: true } })
    made(await shops[8]!.post('/subscribers', { email: 'new@example.com' }, { key: shops[8]!.keys.storefront }))
    await until(() => begun.some(({ to }) => to.address === 'new@example.com'))
    expect(newsletters().size).toBe(3)
    open.resolve()
    await until(() => newsletters().size === 9)
  })

  test('end with their store, at the next mail, whichever process deletes it', async () => {
    const shop = await sending(40)
    await until(() => begun.length >= MAILS_AT_ONCE)
    await app.elsewhere((registry) => registry.deleteStore(shop.store.id))
    open.resolve()
    await app.jobs.settle()
    expect(begun).toHaveLength(MAILS_AT_ONCE)
    expect(said).toEqual([])
  })
})
