import { rmSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { folderFor } from '../folder.ts'
import { readConfig } from '../../api/server/config.ts'
import { serveApi } from '../../api/main.ts'
import { openRegistry } from '../../db/control/open.ts'
import type { Environment } from '../../db/open.ts'
import { coupons } from '../../db/store/marketing.ts'
import { testDns, type TestDns } from '../dns.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

let app: TestApp
let dns: TestDns
let shop: TestStore
beforeAll(async () => {
  dns = await testDns()
  app = await testApp({ dnsServers: [dns.address] })
})
beforeEach(async () => {
  shop = await app.newStore({ name: 'Atelier', currency: 'eur', locale: 'de-DE' })
  dns.mood = 'well'
  dns.asked = []
  dns.before = undefined
})
afterAll(async () => {
  await app.close()
  dns.close()
})

const patch = (body: unknown, key?: string) => shop.call('PATCH', '/settings', body, key ? { key } : {})
const get = async (key?: string) => (await shop.call('GET', '/settings', undefined, key ? { key } : {})).body
const verify = (key?: string) => shop.call('POST', '/settings/email-domain/verify', undefined, key ? { key } : {})

/** A coupon of a store, as its own endpoint would write it. */
async function coupon(storeId = shop.store.id, environment: Environment = 'live'): Promise<string> {
  const id = Bun.randomUUIDv7()
  const at = new Date().toISOString()
  await app.handles.use(storeId, environment, (store) =>
    store.write(async (tx) => {
      await tx.insert(coupons).values({
        id,
        code: `C-${id.slice(-12)}`,
        type: 'percentage',
        percentage: 10,
        timesRedeemed: 0,
        productIds: [],
        collectionIds: [],
        categoryIds: [],
        brandIds: [],
        currencyAmounts: {},
        createdAt: at,
        updatedAt: at,
      })
    }),
  )
  return id
}

describe('GET /settings', () => {
  test('a new store has the defaults of document 3', async () => {
    const { status, body } = await shop.call('GET', '/settings')
    expect(status).toBe(200)
    expect(body).toEqual({
      name: 'Atelier',
      contactEmail: null,
      address: { company: null, line1: null, line2: null, city: null, state: null, postalCode: null, country: null },
      currency: 'eur',
      locale: 'de-DE',
      defaultLanguage: 'de-DE',
      enabledLanguages: { 'de-DE': true },
      enabledCurrencies: ['eur'],
      taxesIncluded: true,
      tools: { events: true, bookings: true, reviews: true, blog: true, loyalty: true, wishlist: true },
      checkout: { requirePhone: false, guestCheckout: true, cartTtlDays: 30, unpaidHours: 168 },
      payments: { testMode: true },
      email: {
        fromName: null,
        fromAddress: null,
        outboundEnabled: false,
        domain: null,
        domainVerified: false,
        doubleOptIn: false,
        dns: null,
        lastCheck: null,
      },
      booking: { cancellationHours: 24, bufferMinutes: 0, autoConfirm: true },
      welcomeOffer: { enabled: false, couponId: null },
      lowStockThreshold: 5,
      reviewRequest: { enabled: false, afterDays: 14 },
      timezone: 'UTC',
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  })

  test('needs settings:read, and PATCH and verify need settings:write', async () => {
    const [reader, writer] = [await shop.keyWith('settings:read'), await shop.keyWith('settings:write')]
    expect((await shop.call('GET', '/settings', undefined, { key: reader })).status).toBe(200)
    expect((await patch({ name: 'New' }, writer)).status).toBe(200)
    for (const [answer, scope] of [
      [await shop.call('GET', '/settings', undefined, { key: writer }), 'settings:read'],
      [await patch({ name: 'No' }, reader), 'settings:write'],
      [await verify(reader), 'settings:write'],
      [await shop.call('GET', '/settings', undefined, { key: shop.keys.storefront }), 'settings:read'],
    ] as const) {
      expect(answer.status).toBe(403)
      expect(answer.body).toMatchObject({ error: expect.stringContaining(scope), hint: expect.any(String) })
    }
    expect((await get()).name).toBe('New')
  })

  test('no key and a wrong key are 401, before the body is looked at', async () => {
    for (const key of [null, 'sk-0']) {
      expect((await shop.call('GET', '/settings', undefined, { key })).status).toBe(401)
      expect((await shop.call('PATCH', '/settings', { name: 5 }, { key })).status).toBe(401)
    }
  })
})

describe('PATCH /settings', () => {
  test('has nobody forget anything when the name stays what it is', async () => {
    const before = await app.registry.epoch()
    expect((await patch({ name: 'Atelier' })).status).toBe(200)
    expect((await patch({ name: 'Atelier', lowStockThreshold: 3 })).status).toBe(200)
    await app.app.settled()
    expect(await app.registry.epoch()).toBe(before)
    await patch({ name: 'Workshop' })
    await app.app.settled()
    expect([await app.registry.epoch(), (await app.registry.store(shop.store.id))!.name]).toEqual([before + 1, 'Workshop'])
  })

  test('changes what is named and nothing else', async () => {
    const before = await get()
    const { status, body } = await patch({ taxesIncluded: false, lowStockThreshold: 0 })
    expect(status).toBe(200)
    expect(body).toEqual({ ...before, taxesIncluded: false, lowStockThreshold: 0, updatedAt: body.updatedAt })
    expect(body.updatedAt >= before.updatedAt).toBe(true)
    expect(await get()).toEqual(body)
  })

  test.each([
    ['Europe/Warsaw', 'Europe/Warsaw'],
    ['UTC', 'UTC'],
    ['Europe/Kiev', 'Europe/Kiev'],
    ['america/new_york', 'America/New_York'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
  ])('takes the time zone %s, which /me shows, too', async (timezone, shown) => {
    expect((await patch({ timezone })).body.timezone).toBe(shown)
    expect([(await get()).timezone, (await shop.call('GET', '/me')).body.store.settings.timezone]).toEqual([shown, shown])
  })

  test.each(['+02:00', '-0500', 'Mars/X', 'UTC+2', 'Europe/', '2', ' UTC', 'Europe/Warsaw '])(
    'takes %s for no time zone',
    async (timezone) => {
      const { status, body } = await patch({ timezone })
      expect([status, body.details?.[0].path]).toEqual([400, ['timezone']])
    },
  )

  test('an empty patch changes nothing', async () => {
    const before = await get()
    expect((await patch({})).body).toEqual({ ...before, updatedAt: expect.any(String) })
  })

  test.each([
    [
      'address',
      { city: 'Köln', country: 'de' },
      { line1: 'Dom 1' },
      { company: null, line1: 'Dom 1', line2: null, city: 'Köln', state: null, postalCode: null, country: 'DE' },
    ],
    [
      'tools',
      { events: false },
      { blog: false },
      { events: false, bookings: true, reviews: true, blog: false, loyalty: true, wishlist: true },
    ],
    [
      'checkout',
      { requirePhone: true },
      { guestCheckout: false, cartTtlDays: 7 },
      { requirePhone: true, guestCheckout: false, cartTtlDays: 7, unpaidHours: 168 },
    ],
    ['payments', { testMode: false }, {}, { testMode: false }],
    [
      'email',
      { fromName: 'Atelier' },
      { fromAddress: 'hello@atelier.example', outboundEnabled: true },
      {
        fromName: 'Atelier',
        fromAddress: 'hello@atelier.example',
        outboundEnabled: true,
        domain: null,
        domainVerified: false,
        doubleOptIn: false,
        dns: null,
        lastCheck: null,
      },
    ],
    [
      'booking',
      { bufferMinutes: 15 },
      { cancellationHours: 12.5, autoConfirm: false },
      { cancellationHours: 12.5, bufferMinutes: 15, autoConfirm: false },
    ],
    ['enabledLanguages', { 'pl-PL': true }, { 'en-US': false }, { 'de-DE': true, 'pl-PL': true, 'en-US': false }],
  ])('%s merges field by field', async (field, first, second, merged) => {
    expect((await patch({ [field]: first })).status).toBe(200)
    expect((await patch({ [field]: second })).body[field]).toEqual(merged)
    expect((await get())[field]).toEqual(merged)
  })

  test('null clears the fields that may be null, and blank text does the same', async () => {
    const full = {
      contactEmail: 'a@b.example',
      address: { company: 'A', line1: 'B', line2: 'C', city: 'D', state: 'E', postalCode: 'F', country: 'PL' },
      booking: { cancellationHours: 1, bufferMinutes: 2, autoConfirm: true },
      email: { fromName: 'A', fromAddress: 'a@b.example', domain: 'b.example' },
      welcomeOffer: { couponId: await coupon() },
    }
    expect((await patch(full)).body).toMatchObject(full)
    const nothing = Object.fromEntries(
      Object.entries(full).map(([field, value]) => [
        field,
        typeof value === 'string' ? null : Object.fromEntries(Object.keys(value).map((name) => [name, null])),
      ]),
    )
    expect((await patch(nothing)).body).toMatchObject(nothing)
    expect((await patch({ address: { line1: '  ', city: ' Kraków ' }, email: { fromName: '' } })).body).toMatchObject({
      address: { line1: null, city: 'Kraków' },
      email: { fromName: null },
    })
  })

  test.each([
    ['name', { name: null }],
    ['taxesIncluded', { taxesIncluded: null }],
    ['lowStockThreshold', { lowStockThreshold: null }],
    ['defaultLanguage', { defaultLanguage: null }],
    ['enabledCurrencies', { enabledCurrencies: null }],
    ['enabledLanguages', { enabledLanguages: null }],
    ['tools', { tools: null }],
    ['tools.blog', { tools: { blog: null } }],
    ['checkout.cartTtlDays', { checkout: { cartTtlDays: null } }],
    ['payments.testMode', { payments: { testMode: null } }],
    ['email.outboundEnabled', { email: { outboundEnabled: null } }],
    ['welcomeOffer.enabled', { welcomeOffer: { enabled: null } }],
    ['enabledLanguages.pl-PL', { enabledLanguages: { 'pl-PL': null } }],
    ['taxesIncluded', { taxesIncluded: 'true' }],
    ['lowStockThreshold', { lowStockThreshold: '5' }],
    ['name', { name: 5 }],
    ['address', { address: 'Dom 1' }],
    ['booking.bufferMinutes', { booking: { bufferMinutes: '5' } }],
    ['booking.autoConfirm', { booking: { autoConfirm: 1 } }],
    ['enabledCurrencies', { enabledCurrencies: 'eur' }],
    ['enabledLanguages', { enabledLanguages: ['de-DE'] }],
  ])('%s of the wrong type is 400 with its path: %j', async (path, body) => {
    const answer = await patch(body)
    expect(answer.status).toBe(400)
    expect(answer.body.details[0]).toMatchObject({ code: 'invalid_type', path: path.split('.') })
  })

  test.each([
    ['name', 'too_small', { name: 'n' }, { name: '' }],
    ['name', 'too_big', { name: 'n'.repeat(200) }, { name: 'n'.repeat(201) }],
    ['name', 'too_small', { name: 'n n' }, { name: '   ' }],
    ['name', 'invalid_string', { name: '💐 Łódź' }, { name: 'a\nb' }],
    ['email.fromName', 'invalid_string', { email: { fromName: 'A, B' } }, { email: { fromName: 'A\r\nBcc: eve@example.com' } }],
    ['contactEmail', 'invalid_string', { contactEmail: 'a@b.co' }, { contactEmail: 'a@b' }],
    ['contactEmail', 'invalid_string', { contactEmail: null }, { contactEmail: '' }],
    ['email.fromAddress', 'invalid_string', { email: { fromAddress: 'a@b.co' } }, { email: { fromAddress: 'Shop <a@b.co>' } }],
    ['lowStockThreshold', 'too_small', { lowStockThreshold: 0 }, { lowStockThreshold: -1 }],
    ['lowStockThreshold', 'too_big', { lowStockThreshold: 1_000_000_000 }, { lowStockThreshold: 1_000_000_001 }],
    ['lowStockThreshold', 'invalid_type', { lowStockThreshold: 2 }, { lowStockThreshold: 2.5 }],
    ['checkout.cartTtlDays', 'too_small', { checkout: { cartTtlDays: 1 } }, { checkout: { cartTtlDays: 0 } }],
    ['checkout.cartTtlDays', 'too_big', { checkout: { cartTtlDays: 365 } }, { checkout: { cartTtlDays: 366 } }],
    ['checkout.unpaidHours', 'too_small', { checkout: { unpaidHours: 1 } }, { checkout: { unpaidHours: 0 } }],
    ['checkout.unpaidHours', 'too_big', { checkout: { unpaidHours: 720 } }, { checkout: { unpaidHours: 721 } }],
    ['booking.cancellationHours', 'too_small', { booking: { cancellationHours: 0 } }, { booking: { cancellationHours: -1 } }],
    ['booking.bufferMinutes', 'too_big', { booking: { bufferMinutes: 10_080 } }, { booking: { bufferMinutes: 10_081 } }],
    ['address.country', 'invalid_string', { address: { country: 'pl' } }, { address: { country: 'POL' } }],
    ['address.country', 'invalid_string', { address: { country: 'PL' } }, { address: { country: 'P1' } }],
    ['address.postalCode', 'too_big', { address: { postalCode: '1'.repeat(20) } }, { address: { postalCode: '1'.repeat(21) } }],
  ])('%s at its bound is taken, past it is 400 (%s)', async (path, code, good, bad) => {
    expect((await patch(good)).status).toBe(200)
    const before = await get()
    const answer = await patch(bad)
    expect(answer.status).toBe(400)
    expect(answer.body.details[0]).toMatchObject({ code, path: path.split('.') })
    expect(await get()).toEqual(before)
  })

  test('unknown fields are ignored, and so are those that only the platform sets', async () => {
    const before = await get()
    const { status, body } = await patch({
      id: 7,
      slug: 'x',
      storeId: 'x',
      currency: 'usd',
      locale: 'en-US',
      updatedAt: '2000-01-01T00:00:00.000Z',
      emailDomainVerified: true,
      emailDomainToken: 'x',
      nonsense: true,
      email: { domainVerified: true, dns: null, nonsense: 1 },
      tools: { teleport: false },
    })
    expect(status).toBe(200)
    expect(body).toEqual({ ...before, updatedAt: body.updatedAt })
    expect(body.updatedAt).not.toBe('2000-01-01T00:00:00.000Z')
  })

  test('malformed JSON is 400, another content type 415', async () => {
    expect((await shop.call('PATCH', '/settings', undefined, { raw: '{"name":' })).status).toBe(400)
    expect(
      (
        await shop.call('PATCH', '/settings', undefined, {
          raw: 'name=x',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        })
      ).status,
    ).toBe(415)
    expect((await shop.call('PATCH', '/settings', [])).status).toBe(400)
  })

  test('a wrong method is 405 with Allow', async () => {
    const answer = await shop.call('PUT', '/settings', {})
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, PATCH, HEAD'])
  })

  test('another store keeps its own settings, and the sandbox has others', async () => {
    const other = await app.newStore({ name: 'Other' })
    await patch({ name: 'Changed', lowStockThreshold: 9 })
    expect((await other.call('GET', '/settings')).body).toMatchObject({ name: 'Other', lowStockThreshold: 5 })
    expect(await get(shop.keys.staging)).toMatchObject({ name: 'Atelier', lowStockThreshold: 5 })
    await patch({ name: 'Sandbox' }, shop.keys.staging)
    expect((await get()).name).toBe('Changed')
  })

  test('a new name is in /me at once and in the list of stores soon; one of the sandbox is not', async () => {
    expect((await patch({ name: '  Werkstatt ' })).body.name).toBe('Werkstatt')
    expect((await shop.call('GET', '/me')).body.store.name).toBe('Werkstatt')
    await patch({ name: 'Spielplatz' }, shop.keys.staging)
    await app.app.drain()
    expect((await app.registry.store(shop.store.id))!.name).toBe('Werkstatt')
  })

  test('a rename that is refused leaves the list of stores as it was', async () => {
    expect((await shop.call('PATCH', '/settings', { name: 'Too late' }, { headers: { 'if-match': '"stale"' } })).status).toBe(412)
    expect((await patch({ name: 'Nor this', enabledLanguages: { 'xx-XX': true } })).status).toBe(400)
    await app.app.drain()
    expect((await app.registry.store(shop.store.id))!.name).toBe('Atelier')
  })

  test('parallel patches of different fields all land', async () => {
    const fields = ['events', 'bookings', 'reviews', 'blog', 'loyalty', 'wishlist']
    const answers = await Promise.all(fields.map((field) => patch({ tools: { [field]: false } })))
    expect(answers.map(({ status }) => status)).toEqual(fields.map(() => 200))
    expect((await get()).tools).toEqual(Object.fromEntries(fields.map((field) => [field, false])))
  })
})

describe('currencies', () => {
  test('are stored lowercase, each once, and the base currency is always among them', async () => {
    expect((await patch({ enabledCurrencies: ['PLN', 'usd', 'pln'] })).body.enabledCurrencies).toEqual(['eur', 'pln', 'usd'])
    expect((await patch({ enabledCurrencies: ['usd', 'EUR'] })).body.enabledCurrencies).toEqual(['usd', 'eur'])
    expect((await patch({ enabledCurrencies: [] })).body.enabledCurrencies).toEqual(['eur'])
  })

  test('the list replaces the earlier one', async () => {
    await patch({ enabledCurrencies: ['pln'] })
    expect((await patch({ enabledCurrencies: ['usd'] })).body.enabledCurrencies).toEqual(['eur', 'usd'])
  })

  test.each([
    ['xyz', 'custom'],
    ['zzz', 'custom'],
    ['eu', 'invalid_string'],
    ['euro', 'invalid_string'],
    ['', 'invalid_string'],
  ])('%j is 400', async (code, kind) => {
    const answer = await patch({ enabledCurrencies: ['usd', code] })
    expect(answer.status).toBe(400)
    expect(answer.body.details[0]).toMatchObject({ code: kind, path: ['enabledCurrencies', '1'] })
  })
})

describe('languages', () => {
  test('the default language must be enabled', async () => {
    expect((await patch({ defaultLanguage: 'pl-PL' })).body.details[0]).toMatchObject({ code: 'custom', path: ['defaultLanguage'] })
    expect((await patch({ defaultLanguage: 'pl-PL', enabledLanguages: { 'pl-PL': true } })).body).toMatchObject({
      defaultLanguage: 'pl-PL',
      enabledLanguages: { 'de-DE': true, 'pl-PL': true },
    })
    expect((await patch({ enabledLanguages: { 'pl-PL': false } })).body.details[0].path).toEqual(['defaultLanguage'])
    expect((await patch({ defaultLanguage: 'de-DE', enabledLanguages: { 'pl-PL': false } })).status).toBe(200)
  })

  test('the base locale stays enabled', async () => {
    const answer = await patch({ enabledLanguages: { 'pl-PL': true, 'de-DE': false }, defaultLanguage: 'pl-PL' })
    expect(answer.status).toBe(400)
    expect(answer.body.details[0].path).toEqual(['enabledLanguages', 'de-DE'])
  })

  test.each(['xx-XX', 'pl-pl', 'PL-pl', 'pl', 'pl_PL', 'english', 'eng-US', 'en-ZZ', '', '__proto__', 'constructor'])(
    '%j is no locale',
    async (locale) => {
      const answer = await shop.call('PATCH', '/settings', undefined, { raw: `{"enabledLanguages":{${JSON.stringify(locale)}:true}}` })
      expect(answer.status).toBe(400)
      expect(answer.body.details[0]).toMatchObject({ code: 'custom', path: ['enabledLanguages', locale] })
      expect((await patch({ defaultLanguage: locale })).status).toBe(400)
    },
  )
})

describe('welcome offer', () => {
  const refused = async (body: unknown, key?: string) => {
    const answer = await patch({ welcomeOffer: body }, key)
    expect(answer.status).toBe(400)
    expect(answer.body.details[0].path).toEqual(['welcomeOffer', 'couponId'])
    return answer.body
  }

  test('an enabled offer needs a coupon', async () => {
    await refused({ enabled: true })
    const couponId = await coupon()
    expect((await patch({ welcomeOffer: { couponId } })).body.welcomeOffer).toEqual({ enabled: false, couponId })
    expect((await patch({ welcomeOffer: { enabled: true } })).body.welcomeOffer).toEqual({ enabled: true, couponId })
    await refused({ couponId: null })
    expect((await patch({ welcomeOffer: { enabled: false, couponId: null } })).body.welcomeOffer).toEqual({
      enabled: false,
      couponId: null,
    })
  })

  test("a coupon that is missing, another store's or the sandbox's is the same 400", async () => {
    const other = await app.newStore()
    const bodies = [
      await refused({ couponId: Bun.randomUUIDv7() }),
      await refused({ couponId: await coupon(other.store.id) }),
      await refused({ couponId: await coupon(shop.store.id, 'sandbox'), enabled: true }),
    ]
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
    await refused({ couponId: 'no-uuid' })
  })

  test('an offer can be switched off after its coupon is gone, but not on', async () => {
    const couponId = await coupon()
    await patch({ welcomeOffer: { couponId } })
    await app.handles.use(shop.store.id, 'live', (store) =>
      store.write(async (tx) => {
        await tx.delete(coupons)
      }),
    )
    expect((await patch({ welcomeOffer: { enabled: false } })).status).toBe(200)
    await refused({ enabled: true })
  })
})

describe('email domain', () => {
  const published = async () => {
    const { name, value } = (await get()).email.dns
    dns.txt.set(name, ['v=spf1 -all', value])
  }

  test('is stored as a lowercase ASCII host name, with the record to publish', async () => {
    const { email } = (await patch({ email: { domain: 'Mail.MÜNCHEN.de' } })).body
    expect(email).toMatchObject({
      domain: 'mail.xn--mnchen-3ya.de',
      domainVerified: false,
      doubleOptIn: false,
      dns: { type: 'TXT', name: '_stoa.mail.xn--mnchen-3ya.de', value: expect.stringMatching(/^stoa-verification=[0-9a-f]{32,}$/) },
    })
  })

  test.each([
    'https://shop.example',
    'shop.example/mail',
    'shop.example:25',
    'me@shop.example',
    'shop',
    '127.0.0.1',
    'a b.example',
    '-a.example',
    '',
    `${'a.'.repeat(126)}com`,
  ])('%j is 400', async (domain) => {
    const answer = await patch({ email: { domain } })
    expect(answer.status).toBe(400)
    expect(answer.body.details[0].path).toEqual(['email', 'domain'])
  })

  test('verify is 400 without a domain, on the sandbox too', async () => {
    for (const key of [shop.keys.admin, shop.keys.staging]) {
      const answer = await verify(key)
      expect(answer.status).toBe(400)
      expect(answer.body.details[0].path).toEqual(['email', 'domain'])
    }
  })

  test('verify finds the record that GET /settings shows', async () => {
    await patch({ email: { domain: 'found.example' } })
    await published()
    const { status, body } = await verify()
    expect(status).toBe(200)
    expect(body.email).toMatchObject({ domain: 'found.example', domainVerified: true })
    expect(await get()).toEqual(body)
    expect(dns.asked).toContain('_stoa.found.example')
    const { name, value } = body.email.dns
    expect(body.email.lastCheck).toEqual({
      name,
      expected: value,
      found: expect.arrayContaining([value]),
      result: 'verified',
      at: expect.any(String),
    })
    expect((await patch({ email: { domain: 'next.example' } })).body.email.lastCheck).toBe(null)
  })

  test("a record that is missing, another store's or merely alike leaves it unverified", async () => {
    const other = await app.newStore()
    await patch({ email: { domain: 'absent.example' } })
    await other.call('PATCH', '/settings', { email: { domain: 'absent.example' } })
    const { value } = (await get()).email.dns
    for (const texts of [
      null,
      [],
      [''],
      [(await other.call('GET', '/settings')).body.email.dns.value],
      [`${value}0`, ` ${value}`, value.toUpperCase()],
    ]) {
      if (texts) dns.txt.set('_stoa.absent.example', texts)
      const answer = await verify()
      expect([answer.status, answer.body.email.domainVerified]).toEqual([200, false])
      const found = texts ?? []
      const result = found.length ? 'other_value' : 'no_record'
      expect(answer.body.email.lastCheck).toMatchObject({ name: '_stoa.absent.example', expected: value })
      if (found[0] !== '') expect(answer.body.email.lastCheck).toMatchObject({ found, result })
    }
  })

  test('a record that is taken away again makes it unverified', async () => {
    await patch({ email: { domain: 'gone.example' } })
    await published()
    expect((await verify()).body.email.domainVerified).toBe(true)
    dns.txt.delete('_stoa.gone.example')
    expect((await verify()).body.email.domainVerified).toBe(false)
  })

  test('resolvers that fail change nothing', async () => {
    await patch({ email: { domain: 'broken.example' } })
    await published()
    dns.mood = 'broken'
    expect((await verify()).body.email.domainVerified).toBe(false)
    dns.mood = 'well'
    await verify()
    dns.mood = 'broken'
    expect((await verify()).body.email.domainVerified).toBe(true)
  })

  test('resolvers that do not answer are given up after 5 seconds, and other writes go on meanwhile', async () => {
    await patch({ email: { domain: 'silent.example' } })
    dns.mood = 'silent'
    const started = performance.now()
    const verifying = verify().then((answer) => ({ answer, ms: performance.now() - started }))
    await Bun.sleep(200)
    expect((await patch({ lowStockThreshold: 1 })).status).toBe(200)
    expect(performance.now() - started).toBeLessThan(2_000)
    const { answer, ms } = await verifying
    expect([answer.status, answer.body.email.domainVerified]).toEqual([200, false])
    expect(ms).toBeLessThan(6_500)
    expect(ms).toBeGreaterThan(3_000)
  })

  test('another domain starts unverified with a token of its own, the same one stays verified', async () => {
    await patch({ email: { domain: 'one.example' } })
    await published()
    await verify()
    const { email } = (await patch({ email: { domain: 'ONE.example', fromName: 'One' } })).body
    expect(email.domainVerified).toBe(true)
    const changed = (await patch({ email: { domain: 'two.example' } })).body.email
    expect(changed.domainVerified).toBe(false)
    expect(changed.dns.value).not.toBe(email.dns.value)
    const cleared = (await patch({ email: { domain: null } })).body.email
    expect(cleared).toMatchObject({ domain: null, domainVerified: false, doubleOptIn: false, dns: null })
  })

  test('a domain that changes during the look-up stays unverified', async () => {
    await patch({ email: { domain: 'before.example' } })
    await published()
    dns.before = async () => {
      await patch({ email: { domain: 'after.example' } })
    }
    expect((await verify()).body.email).toMatchObject({ domain: 'after.example', domainVerified: false })
  })

  test('in the sandbox asks no DNS: it counts as verified there, and there alone', async () => {
    await patch({ email: { domain: 'sandbox.example' } }, shop.keys.staging)
    const { name, value } = (await get(shop.keys.staging)).email.dns
    dns.txt.set(name, [value])
    const answer = await verify(shop.keys.staging)
    expect([answer.status, answer.body.email.domainVerified]).toEqual([200, true])
    expect((await get()).email.domainVerified).toBe(false)
    expect(dns.asked).toEqual([])
  })

  test('the same Idempotency-Key gives the first verification again', async () => {
    await patch({ email: { domain: 'again.example' } })
    const once = () => shop.call('POST', '/settings/email-domain/verify', undefined, { headers: { 'idempotency-key': 'v1' } })
    expect((await once()).body.email.domainVerified).toBe(false)
    await published()
    const again = await once()
    expect([again.body.email.domainVerified, again.headers.get('idempotent-replayed')]).toEqual([false, 'true'])
  })
})

test('a server asks the resolvers that DNS_SERVERS names', async () => {
  const folder = folderFor('dns')
  const config = readConfig({ DATA_DIR: folder, API_PORT: '0', LOG: 'silent', DNS_SERVERS: dns.address })
  const { registry, close } = await openRegistry(config.database)
  const store = await registry.createStore({
    name: 'Atelier',
    slug: 'atelier',
    plan: 'growth',
    currency: 'eur',
    locale: 'de-DE',
    aiBuilt: false,
  })
  const { secret } = await registry.createKey({ storeId: store.id, name: 'admin', environment: 'live', scopes: null })
  const api = await serveApi(config)
  try {
    const send = async (method: string, path: string, body?: unknown) =>
      (
        await fetch(`http://127.0.0.1:${api.port}/api/v1/settings${path}`, {
          method,
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
          body: body === undefined ? undefined : JSON.stringify(body),
        })
      ).json() as any
    const { email } = await send('PATCH', '', { email: { domain: 'served.example' } })
    dns.txt.set(email.dns.name, [email.dns.value])
    expect((await send('POST', '/email-domain/verify')).email.domainVerified).toBe(true)
  } finally {
    await api.stop()
    close()
    rmSync(folder, { recursive: true, force: true })
  }
})
