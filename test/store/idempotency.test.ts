import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { secretsWith } from '../../api/outside/secrets.ts'
import { idempotencyKeys } from '../../db/store/store.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const PATH = '/team/invitations'

let app: TestApp
let shop: TestStore
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  app.clock.real()
  shop = await app.newStore()
})
afterAll(() => app.close())

const post = (
  key: string,
  body: unknown = { email: 'ada@example.com' },
  options: { key?: string; path?: string; headers?: Record<string, string> } = {},
) =>
  shop.call('POST', options.path ?? PATH, body, {
    headers: { ...options.headers, 'idempotency-key': key },
    key: options.key ?? shop.keys.admin,
  })
const storedAnswers = () => app.handles.use(shop.store.id, 'live', ({ read }) => read.$count(idempotencyKeys))
const invited = async () => ((await shop.call('GET', PATH)).body.data as { email: string }[]).map(({ email }) => email)
const replayed = (answer: { headers: Headers }) => answer.headers.get('idempotent-replayed')

test('without a key there is none: joining by an invitation is done once by its token alone', async () => {
  const { token } = (await shop.call('POST', PATH, { email: 'ada@example.com' })).body
  const join = () => app.send('POST', `${PATH}/accept`, { token }, { headers: { 'idempotency-key': 'join' } })
  const [first, again] = [await join(), await join()]
  expect([first.status, replayed(first), again.status]).toEqual([201, null, 404])
  expect(await storedAnswers()).toBe(0)
})

describe('Idempotency-Key', () => {
  test('keeps what an answer shows once where nobody can read it', async () => {
    const { token } = (await post('k')).body
    const made = await shop.call('POST', '/api-keys', { name: 'Rotated' }, { headers: { 'idempotency-key': 'k' } })
    const rows = await app.handles.use(shop.store.id, 'live', ({ read }) => read.select().from(idempotencyKeys))
    expect(rows.length).toBe(2)
    for (const secret of [token, made.body.key]) {
      expect(secret).toMatch(/\S{30}/)
      expect(JSON.stringify(rows)).not.toContain(secret)
    }
    expect((await post('k')).body.token).toBe(token)
  })

  test('gives an answer of an earlier release again, and none that was sealed with another key', async () => {
    const first = await post('k')
    const keep = (body: string) =>
      app.handles.use(shop.store.id, 'live', (handle) => handle.write((tx) => tx.update(idempotencyKeys).set({ body })))
    await keep(first.text)
    expect([(await post('k')).text, replayed(await post('k'))]).toEqual([first.text, 'true'])
    await keep(secretsWith('another').seal(first.text, 'elsewhere'))
    expect((await post('k')).status).toBe(409)
  })

  test('the same key and the same body give the first response again', async () => {
    const first = await post('k')
    expect([first.status, replayed(first)]).toEqual([201, null])
    for (let n = 0; n < 3; n++) {
      const again = await post('k')
      expect([again.status, again.text, replayed(again)]).toEqual([201, first.text, 'true'])
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
    }
    expect(await invited()).toEqual(['ada@example.com'])
  })

  test('the same key with another body is 422, and changes nothing', async () => {
    await post('k')
    const other = await post('k', { email: 'bob@example.com' })
    expect([other.status, typeof other.body.error, replayed(other)]).toEqual([422, 'string', null])
    expect((await post('k', { email: 'ada@example.com', role: 'staff' })).status).toBe(422)
    expect(replayed(await post('k'))).toBe('true')
    expect(await invited()).toEqual(['ada@example.com'])
  })

  test('another key, another path, another API key and another store have responses of their own', async () => {
    await post('k')
    expect((await post('k2')).status).toBe(409)
    expect((await post('k2', { email: 'bob@example.com' })).status).toBe(422)
    const transferred = await post('k', { memberId: Bun.randomUUIDv7() }, { path: '/team/transfer-ownership' })
    expect([transferred.status, replayed(transferred)]).toEqual([400, null])
    const colleague = await post('k', { email: 'cy@example.com' }, { key: await shop.keyWith('team:write') })
    expect([colleague.status, replayed(colleague)]).toEqual([201, null])
    const sandbox = await post('k', { email: 'ada@example.com' }, { key: shop.keys.staging })
    expect([sandbox.status, replayed(sandbox)]).toEqual([201, null])
    const other = await (await app.newStore()).call('POST', PATH, { email: 'ada@example.com' }, { headers: { 'idempotency-key': 'k' } })
    expect([other.status, replayed(other)]).toEqual([201, null])
    expect(await invited()).toEqual(['ada@example.com', 'cy@example.com'])
  })

  test('however the path is spelled, it is the same', async () => {
    const { id } = (await shop.call('POST', '/carts', {})).body
    const variantId = (await shop.call('POST', '/products', { name: 'Mug', price: 1, stock: { quantity: 9 } })).body.variants[0].id
    const escaped = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`
    for (const [i, spelled] of [id, id.toUpperCase(), escaped].entries()) {
      const answer = await post('k', { variantId }, { path: `/carts/${spelled}/items` })
      expect([answer.body.items[0].quantity, replayed(answer)]).toEqual([1, i ? 'true' : null])
    }
  })

  test('20 in parallel with one key have one effect and one response', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('k')))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter((answer) => replayed(answer) === null).length).toBe(1)
    expect(await invited()).toEqual(['ada@example.com'])
  })

  test('20 in parallel over HTTP have one effect and one response', async () => {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.app.fetch })
    try {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          fetch(`${server.url}api/v1${PATH}`, {
            method: 'POST',
            body: '{"email":"ada@example.com"}',
            headers: { authorization: `Bearer ${shop.keys.admin}`, 'content-type': 'application/json', 'idempotency-key': 'k' },
          }),
        ),
      )
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201))
      expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1)
    } finally {
      await server.stop(true)
    }
    expect(await invited()).toEqual(['ada@example.com'])
  })

  test('20 in parallel with one key and 20 bodies: one effect, the others 422', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => post('k', { email: `m${n}@example.com` })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(422)])
    expect((await invited()).length).toBe(1)
  })

  test('a refusal is a response too, and comes again when its cause is gone', async () => {
    const {
      body: { id },
    } = await post('first')
    const refused = await post('second')
    expect(refused.status).toBe(409)
    await shop.call('DELETE', `${PATH}/${id}`)
    const again = await post('second')
    expect([again.status, again.text, replayed(again)]).toEqual([409, refused.text, 'true'])
    expect(await invited()).toEqual([])
    expect((await post('third')).status).toBe(201)
  })

  test('what a unique column refuses is such a response too, and what was written before it is undone', async () => {
    const product = (key: string) => post(key, { name: 'Vase', sku: 'V-1', price: 1 }, { path: '/products' })
    const {
      body: { id },
    } = await product('first')
    expect((await product('second')).status).toBe(409)
    expect((await shop.call('GET', '/products')).body.meta.count).toBe(1)
    expect((await shop.call('DELETE', `/products/${id}`)).status).toBe(200)
    const again = await product('second')
    expect([again.status, replayed(again)]).toEqual([409, 'true'])
  })

  test('a missing scope and a wrong body are refused as ever, and use up no key', async () => {
    await post('k')
    expect((await post('k', { email: 'ada@example.com' }, { key: shop.keys.storefront })).status).toBe(403)
    expect((await post('k', { email: 5 })).status).toBe(400)
    const corrected = await post('new', { email: 5 })
    expect([corrected.status, (await post('new', { email: 'bob@example.com' })).status]).toEqual([400, 201])
  })

  test('a key has 1 to 255 characters', async () => {
    expect((await post('k'.repeat(255))).status).toBe(201)
    expect((await post('!')).status).toBe(409)
    for (const key of ['', 'k'.repeat(256)]) {
      const answer = await post(key, { email: 'bob@example.com' })
      expect([answer.status, answer.body.details[0].path]).toEqual([400, ['Idempotency-Key']])
    }
    expect(await invited()).toEqual(['ada@example.com'])
  })

  test('a key is kept for 24 hours and no longer', async () => {
    app.clock.now = new Date('2026-03-01T12:00:00.000Z')
    const {
      body: { id },
    } = await post('k')
    app.clock.advance(DAY_MS - 1)
    expect(replayed(await post('k'))).toBe('true')
    app.clock.advance(1)
    const anew = await post('k')
    expect([anew.status, replayed(anew)]).toEqual([409, null])
    await shop.call('DELETE', `${PATH}/${id}`)
    app.clock.advance(DAY_MS)
    expect((await post('k')).status).toBe(201)
  })

  test('on other methods the header means nothing', async () => {
    const patch = (n: number) => shop.call('PATCH', '/settings', { lowStockThreshold: n }, { headers: { 'idempotency-key': 'k' } })
    expect([(await patch(1)).body.lowStockThreshold, (await patch(2)).body.lowStockThreshold]).toEqual([1, 2])
  })

  test('the first response is on disk with its effect: a database that is opened anew replays it', async () => {
    const first = await post('k')
    app.handles.drop(shop.store.id)
    const again = await post('k')
    expect([again.text, replayed(again)]).toEqual([first.text, 'true'])
  })
})
