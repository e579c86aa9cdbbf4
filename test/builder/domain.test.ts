/** The custom domain of a store (documents 2, 3 and 7): claims, DNS, the daily look, and who may have a certificate. */
import { eq, sql } from 'drizzle-orm'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { attach, domainOf, rivalToken, storeOfDomain } from '../../api/builder/domain/claims.ts'
import { checkDomain } from '../../api/builder/domain/check.ts'
import { lookAfterDomains } from '../../api/builder/domain/look-after.ts'
import { serveApi } from '../../api/main.ts'
import { goRound } from '../../api/maintenance-rounds.ts'
import { readConfig } from '../../api/server/config.ts'
import { createLog } from '../../api/server/log.ts'
import { adoptBuilder, builderOf } from '../../db/control/builder.ts'
import { deployments, domains, projects } from '../../db/control/tables.ts'
import { testDns, type TestDns } from '../dns.ts'
import { folder } from '../running/processes.ts'
import { testApp, type Answer, type CallOptions, type TestApp, type TestStore } from '../harness.ts'

const DAY_MS = 86_400_000
const NONE = { domain: null, status: 'No Domain', verified: false, dns: null }
/** As the test configuration has it. */
const IP = '127.0.0.1'

let dns: TestDns
let app: TestApp
let shop: Shop
beforeAll(async () => {
  dns = await testDns()
  app = await testApp({ dnsServers: [dns.address], visitorRate: { perSecond: 1_000, burst: 1_000 } })
})
beforeEach(async () => {
  Object.assign(dns, { mood: 'well', isTruncated: false, before: undefined, asked: [], askedOverTcp: [] })
  for (const known of [dns.txt, dns.hosts, dns.aliases, dns.broken]) known.clear()
  app.clock.real()
  shop = await newShop()
})
afterAll(async () => {
  await app.close()
  dns.close()
})

interface Shop extends TestStore {
  get(options?: CallOptions): Promise<Answer>
  post(domain: unknown, options?: CallOptions): Promise<Answer>
  verify(options?: CallOptions): Promise<Answer>
  remove(options?: CallOptions): Promise<Answer>
}

async function newShop(input: Parameters<TestApp['newStore']>[0] = {}): Promise<Shop> {
  const store = await app.newStore({ aiBuilt: true, ...input })
  const { call } = store
  return {
    ...store,
    get: (options) => call('GET', '/domain', undefined, options),
    post: (domain, options) => call('POST', '/domain', { domain }, options),
    verify: (options) => call('POST', '/domain/verify', undefined, options),
    remove: (options) => call('DELETE', '/domain', undefined, options),
  }
}

let count = 0
/** A domain that no other test has. */
const fresh = (prefix = '') => `${prefix}d${++count}.example`
const rowOf = async (domain: string) => (await app.registry.control.read.select().from(domains).where(eq(domains.domain, domain)))[0]

/** Attaches a domain and gives the answer. */
async function attached(domain: string, by = shop) {
  const { status, body, text } = await by.post(domain)
  expect(status, text).toBe(200)
  return body
}
/** Sets the records that an answer asks for. */
function publish({ domain, dns: wanted }: any) {
  const { record, verification } = wanted
  if (record.type === 'CNAME') dns.aliases.set(domain, record.value)
  else dns.hosts.set(domain, [record.value])
  for (const proof of verification) dns.txt.set(proof.domain, ['v=spf1 -all', proof.value])
}
const connected = async (domain: string, by = shop) => {
  publish(await attached(domain, by))
  const { body } = await by.verify()
  expect(body).toMatchObject({ domain, status: 'Valid Configuration', verified: true })
  return body
}

describe('connecting a domain', () => {
  test('a store has none at first, then the one that it attached with the records to set, then none', async () => {
    expect((await shop.get()).body).toEqual(NONE)
    const domain = fresh()
    const { status, body } = await shop.post(domain)
    expect(status).toBe(200)
    const proof = { type: 'TXT', domain: `_stoa.${domain}`, value: expect.stringMatching(/^stoa-verification=[\w-]{22,}$/) }
    expect(body).toEqual({
      domain,
      status: 'Pending Verification',
      verified: false,
      dns: { record: { type: 'A', name: '@', value: IP }, verification: [proof] },
    })
    expect((await shop.get()).body).toEqual(body)
    expect(dns.asked).toEqual([])
    for (let i = 0; i < 2; i++) {
      const removed = await shop.remove()
      expect([removed.status, removed.body]).toEqual([200, { ok: true, domain: null }])
      expect((await shop.get()).body).toEqual(NONE)
    }
  })

  test("a subdomain is led to the store's own host by CNAME, without a port", async () => {
    const { dns: wanted } = await attached(fresh('www.a.'))
    expect(wanted.record).toEqual({ type: 'CNAME', name: 'www.a', value: `${shop.store.slug}.localhost` })
  })

  test('capital letters and Unicode become what DNS has', async () => {
    expect((await attached(` Münche${count++}.DE `)).domain).toMatch(/^xn--mnche\d+-[a-z0-9]+\.de$/)
  })

  test.each([
    ['https://shop.example', 'protocol'],
    ['shop.example/a', 'path'],
    ['shop.example:80', 'port'],
    ['localhost', 'local network'],
    ['atelier.localhost', 'local network'],
    ['co.uk', 'public suffix'],
    ['shop', 'two labels'],
    ['api.shop.example', 'this server itself'],
    ['', 'at least 1'],
    [7, 'text'],
    [null, 'text'],
    [undefined, 'required'],
  ])('%s is 400 at domain: %s', async (domain, why) => {
    const { status, body } = await shop.post(domain)
    expect([status, body.details.map(({ path }: any) => path)]).toEqual([400, [['domain']]])
    if (why !== 'text' && why !== 'required') expect(body.error).toContain(why)
    expect((await shop.get()).body).toEqual(NONE)
  })

  test('the same one again changes nothing', async () => {
    const domain = fresh()
    const first = await attached(domain)
    const row = await rowOf(domain)
    app.clock.advance(DAY_MS)
    expect(await attached(domain.toUpperCase())).toEqual(first)
    expect(await rowOf(domain)).toEqual(row)
    const verified = await connected(domain)
    const epoch = await app.registry.epoch()
    expect(await attached(domain)).toEqual(verified)
    // Nobody has to forget anything, as for a domain of a store that has none.
    const none = await newShop()
    const made = await app.registry.epoch()
    await none.remove()
    expect([made - epoch > 0, await app.registry.epoch()]).toEqual([true, made])
    expect(await attached(domain)).toEqual(verified)
    expect(await app.registry.epoch()).toBe(made)
  })

  test('another one detaches the one before, which is free then', async () => {
    const [first, second] = [fresh(), fresh()]
    await connected(first)
    expect(await attached(second)).toMatchObject({ domain: second, status: 'Pending Verification', verified: false })
    expect(await rowOf(first)).toBeUndefined()
    expect(await attached(first, await newShop())).toMatchObject({ domain: first, verified: false })
  })

  test('needs store:admin', async () => {
    const key = await shop.keyWith('settings:write', 'content:write')
    for (const answer of [await shop.get({ key }), await shop.post('x', { key }), await shop.verify({ key }), await shop.remove({ key })]) {
      expect(answer.status).toBe(403)
      expect(answer.body.error).toContain('store:admin')
    }
    const admin = await shop.keyWith('store:admin')
    expect((await shop.get({ key: admin })).status).toBe(200)
  })

  test('is for stores that a site builder made, and not for their sandbox', async () => {
    const domain = fresh()
    await attached(domain)
    const plain = await newShop({ aiBuilt: false })
    const staging = { key: shop.keys.staging }
    for (const [by, options] of [
      [plain, {}],
      [shop, staging],
    ] as const) {
      expect((await by.get(options)).body).toEqual(NONE)
      for (const asked of [domain, fresh()]) {
        const refused = await by.post(asked, options)
        expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining('no builder project')])
      }
      expect((await by.verify(options)).status).toBe(400)
      expect((await by.remove(options)).body).toEqual({ ok: true, domain: null })
    }
    expect((await shop.get()).body.domain).toBe(domain)
    // It is the mark of the store that counts, from the next request on.
    await app.registry.updateStore(plain.store.id, { aiBuilt: true })
    expect((await plain.post(fresh())).status).toBe(200)
  })

  test('stands in the audit log', async () => {
    await shop.post(fresh())
    await shop.remove()
    const { data } = (await shop.call('GET', '/audit-log')).body
    expect(data.map(({ method, path }: any) => `${method} ${path}`)).toEqual(['DELETE /api/v1/domain', 'POST /api/v1/domain'])
  })

  test('is done once for an Idempotency-Key', async () => {
    const options = { headers: { 'idempotency-key': 'once' } }
    const domain = fresh()
    const first = await shop.post(domain, options)
    await shop.remove()
    const again = await shop.post(domain, options)
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([200, first.body, 'true'])
    expect((await shop.get()).body).toEqual(NONE)
  })

  test('a stale If-Match keeps it', async () => {
    const domain = fresh()
    const etag = (await shop.get()).headers.get('etag')!
    await attached(domain)
    expect((await shop.remove({ headers: { 'if-match': etag } })).status).toBe(412)
    expect((await shop.get()).body.domain).toBe(domain)
  })
})

describe('a domain is one store’s', () => {
  test('another one gets 409 that does not say whose it is, while it is pending and when it is verified', async () => {
    const domain = fresh()
    const other = await newShop()
    const kept = await attached(fresh(), other)
    for (const state of ['pending', 'verified']) {
      if (state === 'pending') await attached(domain)
      else await connected(domain)
      const refused = await other.post(domain)
      expect([refused.status, refused.body.error], state).toEqual([409, 'this domain is in use, or pending, on another project'])
      for (const known of [shop.store.id, shop.store.slug, shop.store.name]) expect(refused.text).not.toContain(known)
    }
    // What the other store had, it still has; and it sees and removes its own alone.
    expect((await other.get()).body).toEqual(kept)
    await other.remove()
    expect((await shop.get()).body).toMatchObject({ domain, verified: true })
  })

  test('a claim for which nobody has shown anything goes to the store that shows it in DNS; a verified domain to none', async () => {
    const domain = fresh()
    const [owner, third] = [await newShop(), await newShop()]
    const former = await attached(fresh(), owner)
    const squatted = await attached(domain)
    const refused = await owner.post(domain)
    expect(refused).toMatchObject({ status: 409, body: { error: 'this domain is in use, or pending, on another project' } })
    const { verification } = refused.body
    expect(verification).toEqual([
      { type: 'TXT', domain: `_stoa.${domain}`, value: expect.stringMatching(/^stoa-verification=[\w-]{40,}$/) },
    ])
    expect((await owner.post(domain)).body.verification).toEqual(verification)
    // What shows it for one store shows it for no other; and what the first one was asked for, for none.
    dns.txt.set(`_stoa.${domain}`, [squatted.dns.verification[0].value, verification[0].value])
    expect((await third.post(domain)).status).toBe(409)
    expect((await owner.get()).body).toEqual(former)
    const taken = await attached(domain, owner)
    expect(taken).toMatchObject({ domain, verified: false, dns: { verification } })
    expect((await shop.get()).body).toEqual(NONE)
    publish(taken)
    expect((await owner.verify()).body).toMatchObject({ status: 'Valid Configuration', verified: true })
    const again = await shop.post(domain)
    expect([again.status, again.body.verification]).toEqual([409, undefined])
    dns.txt.set(`_stoa.${domain}`, [`stoa-verification=${rivalToken(shop.store.id, domain)}`])
    expect((await shop.post(domain)).status).toBe(409)
    expect((await owner.get()).body).toMatchObject({ domain, verified: true })
  })

  test('what DNS does not answer shows nothing, and a taking over that fails leaves the claim as it was', async () => {
    const domain = fresh()
    const owner = await newShop()
    const before = await attached(domain)
    const { body } = await owner.post(domain)
    dns.mood = 'broken'
    expect((await owner.post(domain)).status).toBe(409)
    dns.mood = 'well'
    dns.txt.set(`_stoa.${domain}`, [body.verification[0].value])
    const etag = (await owner.get()).headers.get('etag')!
    expect((await owner.post(domain, { headers: { 'if-match': etag } })).status).toBe(200)
    await owner.remove()
    expect((await attached(domain)).dns.verification).not.toEqual(before.dns.verification)
  })

  test('of 20 stores at once one gets it, over HTTP', async () => {
    const domain = fresh()
    const shops = await Promise.all(Array.from({ length: 20 }, () => newShop()))
    const answers = await Promise.all(shops.map((each) => each.post(domain)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)])
    const winner = answers.findIndex(({ status }) => status === 200)
    expect((await rowOf(domain))!.storeId).toBe(shops[winner]!.store.id)
    const seen = await Promise.all(shops.map(async (each) => (await each.get()).body.domain))
    expect(seen).toEqual(shops.map((_, i) => (i === winner ? domain : null)))
  }, 30_000)

  test('of 20 stores in two processes one gets it, and the other process sees it', async () => {
    const domain = fresh()
    const shops = await Promise.all(Array.from({ length: 20 }, () => newShop()))
    const results = await app.elsewhere((other) =>
      Promise.allSettled(
        shops.map(({ store }, i) =>
          attach(i % 2 ? other : app.registry, { storeId: store.id, domain, token: `t${i}`, now: new Date().toISOString() }),
        ),
      ),
    )
    const won = results.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []))
    expect(won.length).toBe(1)
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 409 })
    expect((await rowOf(domain))!.token).toBe(`t${won[0]}`)
    expect((await shops[won[0]!]!.get()).body.domain).toBe(domain)
  }, 30_000)

  test('a store that attaches many at once ends with one, and none of the others is held', async () => {
    const wanted = Array.from({ length: 10 }, () => fresh())
    const answers = await Promise.all(wanted.map((domain) => shop.post(domain)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    const { domain } = (await shop.get()).body
    const rows = await Promise.all(wanted.map(rowOf))
    expect(rows.filter(Boolean).map((row) => row!.domain)).toEqual([domain])
  })

  test('a claim ends after seven days, unless it was verified; the store’s own can be made anew', async () => {
    const [pending, verified] = [fresh(), fresh()]
    const [second, third] = [await newShop(), await newShop()]
    const first = await attached(pending)
    await connected(verified, second)
    app.clock.advance(7 * DAY_MS - 1_000)
    expect([(await third.post(pending)).status, (await shop.get()).body.domain]).toEqual([409, pending])
    app.clock.advance(1_000)
    expect((await shop.get()).body).toEqual(NONE)
    expect((await shop.verify()).status).toBe(400)
    expect((await second.get()).body).toMatchObject({ domain: verified, verified: true })
    expect((await third.post(verified)).status).toBe(409)
    const again = await attached(pending)
    expect(again.dns.verification).not.toEqual(first.dns.verification)
    expect((await third.post(pending)).status).toBe(409)
    app.clock.advance(7 * DAY_MS)
    expect((await third.post(pending)).status).toBe(200)
    expect((await shop.get()).body).toEqual(NONE)
  })

  test('goes with its store', async () => {
    const gone = await newShop()
    const domain = fresh()
    await connected(domain, gone)
    expect(await storeOfDomain(app.registry, domain)).toBe(gone.store.id)
    await app.registry.deleteStore(gone.store.id, app.handles)
    expect(await storeOfDomain(app.registry, domain)).toBeNull()
    expect((await shop.post(domain)).status).toBe(200)
  })
})

describe('a registry that can not be written', () => {
  /** Has the control database refuse what `event` does to domains. */
  const refusing = (event: string) =>
    app.registry.control.write(async (tx) => {
      await tx.run(sql.raw(`create trigger refuse before ${event} on domains begin select raise(abort, 'the disk is away'); end`))
    })
  const well = () => app.registry.control.write(async (tx) => void (await tx.run(sql.raw('drop trigger refuse'))))

  test('is 502, and what was attached stays so', async () => {
    const [before, domain] = [fresh(), fresh()]
    const kept = await connected(before)
    await refusing('insert')
    try {
      const { status, body, headers } = await shop.post(domain)
      expect([status, body.error, headers.get('retry-after')]).toEqual([502, expect.stringContaining('could not be attached'), '5'])
      expect((await shop.get()).body).toEqual(kept)
    } finally {
      await well()
    }
    expect((await shop.post(domain)).status).toBe(200)
  })

  test('what fails in the store after the registry was written is undone there', async () => {
    const [before, domain] = [fresh(), fresh()]
    const kept = await connected(before)
    const onAudit = (text: string) =>
      app.handles.use(shop.store.id, 'live', (store) => store.write(async (tx) => void (await tx.run(sql.raw(text)))))
    await onAudit(`create trigger refuse before insert on audit_log begin select raise(abort, 'no room'); end`)
    expect((await shop.post(domain)).status).toBe(500)
    expect((await shop.remove()).status).toBe(500)
    await onAudit('drop trigger refuse')
    expect((await shop.get()).body).toEqual(kept)
    expect((await (await newShop()).post(domain)).status).toBe(200)
  })
})

describe.each([
  ['UDP', false],
  ['TCP', true],
])('what DNS says over %s', (_, isTruncated) => {
  beforeEach(() => {
    dns.isTruncated = isTruncated
  })
  const status = async () => {
    const { status: code, body } = await shop.verify()
    expect(code).toBe(200)
    expect((await shop.get()).body).toEqual(body)
    return body.status
  }

  test('challenge and record right: Valid Configuration', async () => {
    for (const domain of [fresh(), fresh('www.'), fresh().replace('example', 'co.uk')]) {
      const wanted = await attached(domain)
      publish(wanted)
      const { body } = await shop.verify()
      expect(body).toEqual({ ...wanted, status: 'Valid Configuration', verified: true, dns: { ...wanted.dns, verification: [] } })
      expect((await shop.get()).body).toEqual(body)
      expect(await storeOfDomain(app.registry, domain)).toBe(shop.store.id)
    }
    expect(dns.askedOverTcp.length > 0).toBe(isTruncated)
  })

  test('NXDOMAIN: Domain Not Found', async () => {
    const wanted = await attached(fresh())
    expect(await status()).toBe('Domain Not Found')
    dns.txt.set(wanted.dns.verification[0].domain, [wanted.dns.verification[0].value])
    expect(await status()).toBe('Domain Not Found')
    expect((await shop.get()).body).toMatchObject({ verified: false, dns: wanted.dns })
  })

  test('other records, none of the kind, and a missing challenge: Invalid Configuration', async () => {
    const wanted = await attached(fresh('www.'))
    const { domain } = wanted
    const [proof] = wanted.dns.verification
    publish(wanted)
    dns.txt.set(proof.domain, ['v=spf1 -all'])
    expect(await status()).toBe('Invalid Configuration')
    dns.txt.set(proof.domain, [proof.value.slice(0, -1), `${proof.value} `])
    expect(await status()).toBe('Invalid Configuration')
    dns.txt.delete(proof.domain)
    expect(await status()).toBe('Invalid Configuration')
    publish(wanted)
    dns.aliases.set(domain, 'elsewhere.example')
    expect(await status()).toBe('Invalid Configuration')
    dns.hosts.set('elsewhere.example', ['192.0.2.1'])
    expect(await status()).toBe('Invalid Configuration')
    dns.aliases.delete(domain)
    for (const addresses of [[], ['192.0.2.1'], ['2001:db8::1'], [IP, '192.0.2.1'], [IP, '2001:db8::1']]) {
      dns.hosts.set(domain, addresses)
      expect(await status(), addresses.join()).toBe('Invalid Configuration')
    }
    expect((await shop.get()).body.verified).toBe(false)
    publish(wanted)
    expect(await status()).toBe('Valid Configuration')
  })

  test('SERVFAIL: Unknown Error, unless what others say is enough', async () => {
    const wanted = await attached(fresh())
    publish(wanted)
    dns.mood = 'broken'
    expect(await status()).toBe('Unknown Error')
    dns.mood = 'well'
    dns.broken.add(wanted.dns.verification[0].domain)
    expect(await status()).toBe('Unknown Error')
    dns.hosts.set(wanted.domain, ['192.0.2.1'])
    expect(await status()).toBe('Invalid Configuration')
  })

  test('an alias of an alias, and a flattened one, lead here as well', async () => {
    const wanted = await attached(fresh('www.'))
    publish(wanted)
    dns.aliases.set(wanted.domain, 'cdn.example').set('cdn.example', wanted.dns.record.value)
    expect(await status()).toBe('Valid Configuration')
    dns.aliases.clear()
    // Some providers answer with the addresses that the name has which they were given.
    dns.hosts.set(wanted.domain, ['203.0.113.7', '2001:db8::7'])
    expect(await status()).toBe('Invalid Configuration')
    dns.hosts.set(wanted.dns.record.value, ['203.0.113.7', '2001:DB8:0::7'])
    expect(await status()).toBe('Valid Configuration')
    dns.hosts.set(wanted.domain, [IP])
    expect(await status()).toBe('Valid Configuration')
  })
})

describe('verifying', () => {
  test('without a domain is 400', async () => {
    const { status, body } = await shop.verify()
    expect([status, body.error]).toEqual([400, expect.stringContaining('no domain is connected')])
  })

  test('where nobody answers within 5 s is an Unknown Error, and meanwhile the store is written to', async () => {
    await attached(fresh())
    dns.mood = 'silent'
    const started = performance.now()
    const verifying = shop.verify()
    await Bun.sleep(100)
    expect((await shop.call('POST', '/brands', { name: 'Meanwhile' })).status).toBe(201)
    expect((await newShop()).store.id).toBeTruthy()
    expect(performance.now() - started).toBeLessThan(4_000)
    expect((await verifying).body.status).toBe('Unknown Error')
    expect(performance.now() - started).toBeLessThan(6_500)
  }, 15_000)

  test('asks for no more than six records, all at once', async () => {
    publish(await attached(fresh('www.')))
    await shop.verify()
    expect(dns.asked.length).toBe(6)
    dns.asked = []
    await shop.verify()
    expect(dns.asked.filter((name) => name.startsWith('_stoa.'))).toEqual([])
  })

  test('a domain that loses its records stays verified, and its host serves on', async () => {
    const domain = fresh()
    await connected(domain)
    const { verifiedAt } = (await rowOf(domain))!
    dns.txt.clear()
    expect((await shop.verify()).body).toMatchObject({ status: 'Valid Configuration', verified: true })
    for (const [change, status] of [
      [() => dns.hosts.set(domain, ['192.0.2.1']), 'Invalid Configuration'],
      [() => dns.hosts.delete(domain), 'Domain Not Found'],
      [() => (dns.mood = 'broken'), 'Unknown Error'],
    ] as const) {
      change()
      expect((await shop.verify()).body).toMatchObject({ domain, status, verified: true, dns: { verification: [] } })
      expect(await storeOfDomain(app.registry, domain)).toBe(shop.store.id)
    }
    expect((await rowOf(domain))!.verifiedAt).toBe(verifiedAt)
  })

  test('another store’s records prove nothing', async () => {
    const domain = fresh()
    publish(await attached(domain))
    await shop.remove()
    const other = await newShop()
    await attached(domain, other)
    expect((await other.verify()).body).toMatchObject({ status: 'Invalid Configuration', verified: false })
  })

  test.each(['delete', 'replace', 'delete and attach again', 'delete, and another store attaches it'])(
    'that is overtaken by %s brings nothing back',
    async (what) => {
      const domain = fresh()
      publish(await attached(domain))
      const other = await newShop()
      let isDone = false
      dns.before = async () => {
        if (isDone) return
        isDone = true
        if (what === 'replace') await attached(fresh())
        else await shop.remove()
        if (what === 'delete and attach again') await attached(domain)
        if (what.includes('another')) await attached(domain, other)
      }
      const { status, body } = await shop.verify()
      expect([status, body.verified, body.status]).toEqual([200, false, expect.stringMatching(/^(No Domain|Pending Verification)$/)])
      expect(body).toEqual((await shop.get()).body)
      expect(await storeOfDomain(app.registry, domain)).toBeNull()
      if (what.includes('another')) expect((await other.get()).body).toMatchObject({ domain, status: 'Pending Verification' })
    },
  )

  test('racing deletes, many times, leaves what the last of them says', async () => {
    for (let i = 0; i < 10; i++) {
      const domain = fresh()
      publish(await attached(domain))
      const answers = await Promise.all([shop.verify(), shop.verify(), shop.remove(), shop.verify(), shop.remove()])
      for (const { status } of answers) expect([200, 400]).toContain(status)
      expect([(await shop.get()).body, await rowOf(domain)]).toEqual([NONE, undefined])
    }
  })

  test('is noticed by other processes', async () => {
    const domain = fresh()
    await connected(domain)
    await app.elsewhere(async (other) => {
      expect(await storeOfDomain(other, domain)).toBe(shop.store.id)
      expect(await domainOf(other, shop.store.id, new Date().toISOString())).toMatchObject({ domain, slug: shop.store.slug })
    })
  })
})

describe('what is missing, in plain language', () => {
  const reason = async () =>
    (await checkDomain(app.services, (await domainOf(app.registry, shop.store.id, new Date().toISOString()))!)).reason

  test('names the record', async () => {
    const wanted = await attached(fresh('www.'))
    const { domain } = wanted
    const record = `the CNAME record www with the value ${wanted.dns.record.value}`
    expect(await reason()).toBe(`DNS knows no ${domain}: register it, then set ${record}`)
    dns.hosts.set(domain, [])
    expect(await reason()).toBe(`${domain} leads nowhere: set ${record}`)
    dns.hosts.set(domain, ['192.0.2.1', IP])
    expect(await reason()).toBe(`${domain} leads to 192.0.2.1: set ${record}, and remove other records of that name`)
    dns.aliases.set(domain, 'evil.example')
    expect(await reason()).toBe(`${domain} leads elsewhere: set ${record}, and remove other records of that name`)
    publish(wanted)
    dns.txt.clear()
    const [proof] = wanted.dns.verification
    expect(await reason()).toBe(`the domain is not proven to be yours: set the TXT record ${proof.domain} with the value ${proof.value}`)
    publish(wanted)
    expect(await reason()).toBeNull()
    dns.mood = 'broken'
    expect(await reason()).toBe(`DNS gave no answer about ${domain}: check again later`)
  })
})

describe('the daily look', () => {
  const signal = new AbortController().signal
  const look = () => lookAfterDomains(app.services, signal)

  test('looks at verified domains once a day, a hundred of a round, and leaves what nobody answers as it was', async () => {
    await app.registry.control.write(async (tx) => void (await tx.delete(domains)))
    const domain = fresh()
    await connected(domain)
    dns.asked = []
    dns.hosts.set(domain, ['192.0.2.1'])
    app.clock.advance(DAY_MS - 60_000)
    await look()
    expect(dns.asked).toEqual([])
    app.clock.advance(60_000)
    dns.mood = 'broken'
    await look()
    expect((await shop.get()).body).toMatchObject({ status: 'Valid Configuration', verified: true })
    dns.mood = 'well'
    const asked = dns.asked.length
    await look()
    expect(dns.asked.length).toBe(asked)
    app.clock.advance(DAY_MS)
    await look()
    expect((await shop.get()).body).toMatchObject({ status: 'Invalid Configuration', verified: true })
    expect(await storeOfDomain(app.registry, domain)).toBe(shop.store.id)
    dns.hosts.set(domain, [IP])
    app.clock.advance(DAY_MS)
    await look()
    expect((await shop.get()).body).toMatchObject({ status: 'Valid Configuration', verified: true })
  })

  test('finds a claim proven that a backup has brought back, once its records stand; one that nobody asked for yet waits', async () => {
    const [restored, asked, unasked] = [fresh(), fresh(), fresh()]
    await connected(restored)
    const builder = (await builderOf(app.registry.control.read, shop.store.id))!
    await app.registry.change(async (tx) => {
      await tx.delete(domains)
      await tx.delete(projects).where(eq(projects.storeId, shop.store.id))
      await adoptBuilder(tx, shop.store.id, builder)
    })
    expect((await shop.get()).body).toMatchObject({ domain: restored, status: 'Pending Verification', verified: false })
    expect(await storeOfDomain(app.registry, restored)).toBeNull()
    const [second, third] = [await newShop(), await newShop()]
    const wanted = await attached(asked, second)
    await attached(unasked, third)
    await second.verify()
    await look()
    expect((await shop.get()).body).toMatchObject({ status: 'Valid Configuration', verified: true })
    publish(wanted)
    app.clock.advance(DAY_MS)
    await look()
    expect((await second.get()).body).toMatchObject({ status: 'Valid Configuration', verified: true })
    expect((await third.get()).body).toMatchObject({ status: 'Pending Verification', verified: false })
  })

  test('is a part of the rounds, which remove claims that have ended', async () => {
    const [pending, verified] = [fresh(), fresh()]
    const other = await newShop()
    await attached(pending)
    await connected(verified, other)
    dns.hosts.delete(verified)
    const round = () =>
      goRound(
        {
          services: app.services,
          handles: app.handles,
          runner: { look: async () => {} },
          mailFolder: app.mailFolder,
          log: createLog('silent'),
        },
        signal,
      )
    app.clock.advance(7 * DAY_MS - 3_600_000)
    expect(await round()).toBe(true)
    expect((await rowOf(pending))!.status).toBe('Pending Verification')
    expect((await rowOf(verified))!.status).toBe('Domain Not Found')
    app.clock.advance(3_600_000)
    expect(await round()).toBe(true)
    expect(await rowOf(pending)).toBeUndefined()
    expect((await rowOf(verified))!.verifiedAt).not.toBeNull()
  }, 60_000)

  test('of many takes those that wait longest, ten at once, and stops when it is told', async () => {
    const at = new Date(app.clock.now.getTime() - 3 * DAY_MS).toISOString()
    const shops = await Promise.all(Array.from({ length: 25 }, () => newShop()))
    await app.registry.control.write(async (tx) => {
      await tx.delete(domains)
      for (const { store } of shops)
        await tx.insert(domains).values({
          ...{
            domain: fresh(),
            storeId: store.id,
            token: 't',
            status: 'Valid Configuration',
            verifiedAt: at,
            checkedAt: at,
            createdAt: at,
          },
        })
    })
    const stopping = new AbortController()
    dns.asked = []
    dns.before = async () => stopping.abort()
    await lookAfterDomains(app.services, stopping.signal)
    const looked = (rows: { checkedAt: string | null }[]) => rows.filter(({ checkedAt }) => checkedAt !== at).length
    expect(looked(await app.registry.control.read.select().from(domains))).toBe(10)
    dns.before = undefined
    await look()
    expect(looked(await app.registry.control.read.select().from(domains))).toBe(25)
  }, 30_000)
})

describe('GET /internal/tls', () => {
  const asking = async (host: string, { client = '127.0.0.1', headers = {}, base = 'http://127.0.0.1:3000', method = 'GET' } = {}) =>
    (
      await app.app.fetch(
        new Request(`${base}/internal/tls?domain=${encodeURIComponent(host)}`, { method, headers: { 'x-client': client, ...headers } }),
      )
    ).status

  test('is 200 for a domain from the moment that it is verified until it is let go of', async () => {
    const domain = fresh()
    expect(await asking(domain)).toBe(404)
    publish(await attached(domain))
    expect(await asking(domain)).toBe(404)
    await shop.verify()
    expect([await asking(domain), await asking(domain.toUpperCase())]).toEqual([200, 200])
    for (const other of [`www.${domain}`, `x${domain}`, `${domain}.`, `${domain}:443`, '', 'x'.repeat(5_000)])
      expect(await asking(other), other.slice(0, 30)).toBe(404)
    dns.hosts.delete(domain)
    await shop.verify()
    expect(await asking(domain)).toBe(200)
    await shop.remove()
    expect(await asking(domain)).toBe(404)
  })

  test('is 200 for the host of a store that is published, and of a deployment that is open', async () => {
    const { id, slug } = shop.store
    const deploymentId = `dpl_${slug.replaceAll('-', '')}`
    const write = (fn: Parameters<typeof app.registry.change<void>>[0]) => app.registry.change(fn)
    const hosts = () => Promise.all([`${slug}.localhost`, `${deploymentId}.localhost`].map((host) => asking(host)))
    expect(await hosts()).toEqual([404, 404])
    await write(async (tx) => {
      await tx.insert(projects).values({ storeId: id, keyId: 'k', liveId: null, createdAt: new Date().toISOString() }).onConflictDoNothing()
      const made = { kind: 'production', commitSha: 'c', changes: 0, createdAt: new Date().toISOString(), closed: false } as const
      await tx.insert(deployments).values({ id: deploymentId, storeId: id, ...made })
    })
    expect(await hosts()).toEqual([404, 200])
    await write(async (tx) => {
      await tx.update(projects).set({ liveId: deploymentId }).where(eq(projects.storeId, id))
    })
    expect(await hosts()).toEqual([200, 200])
    for (const host of ['localhost', '.localhost', slug, `a.${slug}.localhost`, `${slug}.localhost:3000`, `${slug}.example`])
      expect(await asking(host), host).toBe(404)
    await write(async (tx) => {
      await tx.update(deployments).set({ closed: true }).where(eq(deployments.id, deploymentId))
    })
    expect(await hosts()).toEqual([200, 404])
  })

  test('says to nobody else that there is such a path', async () => {
    const domain = fresh()
    await connected(domain)
    expect(await asking(domain)).toBe(200)
    expect(await asking(domain, { client: '0:0:0:0::/64', base: 'http://[::1]:3000' })).toBe(200)
    for (const client of ['192.0.2.7', '10.0.0.1', '2001:db8:1:2::/64', '']) expect(await asking(domain, { client }), client).toBe(404)
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'x-forwarded-host', 'x-forwarded-proto'])
      expect(await asking(domain, { headers: { [name]: '127.0.0.1' } }), name).toBe(404)
    for (const base of [`http://${domain}`, 'http://atelier.localhost:3000', 'http://203.0.113.10', 'http://127.evil.example'])
      expect(await asking(domain, { base }), base).toBe(404)
    for (const method of ['POST', 'HEAD', 'OPTIONS']) expect(await asking(domain, { method })).toBe(404)
    const ask = (path: string) => app.app.fetch(new Request(`http://127.0.0.1${path}`, { headers: { 'x-client': '127.0.0.1' } }))
    const [refused, unknown] = [await ask('/internal/tls?domain=nobody.example'), await ask('/internal/other')]
    expect((await refused.text()).replaceAll('tls', 'other')).toBe(await unknown.text())
    for (const query of ['', '?domain', `?domain=${domain}&domain=${domain}`, `?host=${domain}`])
      expect((await ask(`/internal/tls${query}`)).status, query).toBe(404)
  })

  test('goes by the address of the connection', async () => {
    const api = await serveApi(
      readConfig({ DATA_DIR: folder(), API_PORT: '0', HOST: '0.0.0.0', LOG: 'silent', TRUST_PROXY: '127.0.0.1' }),
      {
        async prepare(registry) {
          const store = await registry.createStore({
            ...{ name: 'S', slug: 's', plan: 'growth', currency: 'usd', locale: 'en-US', aiBuilt: true },
          })
          const now = new Date().toISOString()
          await registry.change(async (tx) => {
            const claim = { domain: 'shop.example', storeId: store.id, token: 't', status: 'Valid Configuration' } as const
            await tx.insert(domains).values({ ...claim, verifiedAt: now, checkedAt: now, createdAt: now })
          })
        },
      },
    )
    const ask = async (host: string, headers: Record<string, string> = {}) =>
      (await fetch(`http://${host}:${api.port}/internal/tls?domain=shop.example`, { headers })).status
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal)?.address
    try {
      expect(await ask('127.0.0.1')).toBe(200)
      expect(await ask('127.0.0.1', { 'x-forwarded-for': '127.0.0.1' })).toBe(404)
      expect(await ask('127.0.0.1', { 'x-forwarded-for': '192.0.2.1' })).toBe(404)
      expect(await ask('127.0.0.1', { host: 'shop.example' })).toBe(404)
      // The address of the connection is not loopback's, whatever `Host` says.
      if (outside) expect(await ask(outside, { host: '127.0.0.1' })).toBe(404)
    } finally {
      await api.stop()
    }
  }, 30_000)
})
