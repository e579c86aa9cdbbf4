import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp()
  shop = await app.newStore({ name: 'Atelier', currency: 'eur', locale: 'de-DE', plan: 'scale' })
})
afterAll(() => app.close())

describe('/me', () => {
  test('any valid key reads its store and itself', async () => {
    const { status, body } = await shop.call('GET', '/me')
    expect(status).toBe(200)
    expect(body.store).toEqual({
      id: shop.store.id,
      name: 'Atelier',
      slug: shop.store.slug,
      currency: 'eur',
      locale: 'de-DE',
      plan: 'scale',
      aiBuilt: false,
      settings: {
        defaultLanguage: 'de-DE',
        enabledLanguages: { 'de-DE': true },
        enabledCurrencies: ['eur'],
        taxesIncluded: true,
        timezone: 'UTC',
      },
    })
    expect(body.key).toMatchObject({ environment: 'live', scopes: null })
  })

  test('a staging key reads the sandbox', async () => {
    expect((await shop.call('GET', '/me', undefined, { key: shop.keys.staging })).body.key.environment).toBe('sandbox')
  })

  test('a missing, wrong or revoked key is 401 in the same form', async () => {
    const { row, secret } = await app.registry.createKey({ storeId: shop.store.id, name: 'gone', environment: 'live', scopes: null })
    expect((await shop.call('GET', '/me', undefined, { key: secret })).status).toBe(200)
    await app.registry.revokeKey(row.id)
    const revoked = await shop.call('GET', '/me', undefined, { key: secret })
    const wrong = await shop.call('GET', '/me', undefined, { key: 'sk-0' })
    expect([revoked.status, wrong.status, (await shop.call('GET', '/me', undefined, { key: null })).status]).toEqual([401, 401, 401])
    expect(revoked.body).toEqual(wrong.body)
  })
})
