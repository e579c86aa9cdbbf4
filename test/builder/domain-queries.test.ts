/** How domains are found in the control database: by a key or an index, however many there are. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { attach, detach, domainOf, noteCheck, removeEnded, storeOfDomain, lookedAtUpTo } from '../../api/builder/domain/claims.ts'
import { certificates } from '../../api/builder/domain/certificates.ts'
import { testApp, type TestApp } from '../harness.ts'
import { seeStatements, unpacked } from '../plans.ts'

const AT = '2026-11-23T12:00:00.000Z'
let app: TestApp
let storeId: string
let asked: string[] = []
const end = seeStatements(['file.rows', 'file.row', 'file.run', 'server.rows', 'server.run'], (text) => asked.push(unpacked(text)))
beforeAll(async () => {
  app = await testApp()
  storeId = (await app.newStore({ aiBuilt: true })).store.id
})
afterAll(() => {
  end()
  return app.close()
})

const claim = { domain: 'shop.example', token: 't', verifiedAt: null }
const visitors = { clientOf: () => '127.0.0.1' } as never
const ask = (host: string) =>
  certificates('/internal/tls', new Request(`http://127.0.0.1/internal/tls?domain=${host}`), { services: app.services, visitors })

test.each<[string, () => Promise<unknown>]>([
  ['the domain of a store', () => domainOf(app.registry, storeId, AT)],
  ['the store of a domain', () => storeOfDomain(app.registry, 'shop.example')],
  ['attaching', () => attach(app.registry, { ...claim, storeId, now: AT })],
  ['noting a check', () => noteCheck(app.registry, claim, 'Valid Configuration', AT)],
  ['claims that have ended', () => removeEnded(app.registry, AT)],
  ['domains to look at', () => lookedAtUpTo(app.registry, AT, 100)],
  ['a certificate for a host of a store', () => ask('atelier.localhost')],
  ['detaching', () => detach(app.registry, storeId)],
])('%s takes no scan and no sorting', async (_, run) => {
  const { connection } = app.registry.control
  asked = []
  await run()
  const statements = asked.filter((text) => /"(domains|projects|deployments)"/.test(text) && !/^insert/i.test(text))
  expect(statements.length).toBeGreaterThan(0)
  for (const text of statements) {
    const plan = await connection.rows(`explain query plan ${text}`, Array((text.match(/\?/g) ?? []).length).fill(null))
    for (const step of plan.map((row) => String(row[3]))) expect(step, text).toMatch(/^SEARCH /)
  }
})
