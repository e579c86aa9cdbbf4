/** What the tests of mails begin with: a real SMTP server, an app that sends there, and for each test a store that may. */
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { testApp, type TestApp } from './harness.ts'
import { newShop, type Shop } from './shop.ts'
import { smtpServer, type Smtp, type SmtpOptions } from './smtp.ts'

interface Mailing {
  smtp: Smtp
  /** May be changed by a test; the next one begins with a server that takes everything. */
  options: SmtpOptions
  app: TestApp
  shop: Shop
}

/** A store that sends mail, from a domain that was verified. */
async function mailingShop(app: TestApp): Promise<Shop> {
  const shop = await newShop(app, { name: 'Atelier Nord' })
  await shop.settings({ email: { domain: 'mail.shop.example', outboundEnabled: true } })
  await shop.change(sql`update settings set email_domain_verified = 1`)
  return shop
}

/** Sets it up around the tests of a file. */
export function mailing(): Mailing {
  const all = { options: {} } as Mailing
  beforeAll(async () => {
    all.smtp = await smtpServer(all.options)
    all.app = await testApp({ smtpUrl: all.smtp.url })
  })
  beforeEach(async () => {
    all.app.clock.real()
    Object.assign(all.options, { refuse: undefined, refuseText: undefined, hangUpOn: undefined })
    all.shop = await mailingShop(all.app)
  })
  // What one test has sent is no mail of the next.
  afterEach(() => all.app.jobs.settle())
  afterAll(async () => {
    await all.app.close()
    await all.smtp.close()
  })
  return all
}
