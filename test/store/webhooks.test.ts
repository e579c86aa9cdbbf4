/** Webhooks (document 3, Marketing and visitors; document 8): signed, in their order, again until they are taken, and never of what did not happen. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sweep } from '../../api/maintenance.ts'
import { publicPosts } from '../../api/outside/post-public.ts'
import { EVENT_TYPES } from '../../api/store/webhooks/events.ts'
import { receiver, type Receiver } from '../doubles/receiver.ts'
import { testApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

const receivers: Receiver[] = []
const allowed: string[] = []
const app = await testApp({
  postPublic: publicPosts({ allow: allowed, lookup: async (name) => (name === 'inside.shop' ? ['10.0.0.8'] : []) }),
})
afterAll(() => app.close())
afterEach(async () => {
  app.clock.real()
  for (const one of receivers.splice(0)) await one.close()
})

let shop: Shop
let hook: Receiver
beforeEach(async () => {
  shop = await newShop(app)
  hook = listening()
})

function listening(): Receiver {
  const one = receiver()
  receivers.push(one)
  allowed.push(one.host)
  return one
}

async function added(events: string[] = ['order.created', 'order.paid'], to = hook, more: object = {}) {
  const webhook = made(await shop.post('/webhooks', { url: to.url, events, ...more }))
  to.secrets.set('/', webhook.secret)
  return webhook
}
const settle = () => app.jobs.settleStore(shop.store.id, 'live')
const deliveries = async (id: string, query = '') => made(await shop.get(`/webhooks/${id}/deliveries${query}`)).data
const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('a webhook', () => {
  test('shows its secret once, has one signature that the library of Standard Webhooks takes, and gets what the API answers', async () => {
    const { id, secret, ...webhook } = await added()
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(webhook).toMatchObject({ url: hook.url, events: ['order.created', 'order.paid'], active: true, disabledReason: null })
    const bought = await shop.buy({ items: [{ variantId: await shop.variant() }] })
    await settle()
    expect(hook.forged).toBe(0)
    expect(hook.received.map(({ type }) => type)).toEqual(['order.created', 'order.paid'])
    const { accessCode, ...order } = await shop.order(bought.id)
    expect(accessCode).toEqual(expect.any(String))
    for (const { data, timestamp, text, headers } of hook.received) {
      expect(data).toEqual(order)
      expect(timestamp).toBe(order.createdAt)
      expect(text).not.toContain(accessCode)
      expect(headers.get('content-type')).toBe('application/json')
    }
    expect(new Set(hook.received.map((one) => one.id)).size).toBe(2)
    const list = await deliveries(id)
    expect(list).toMatchObject([
      { event: 'order.paid', status: 'delivered', tries: 1, lastStatus: 204, nextTryAt: null, eventId: hook.received[1]!.id },
      { event: 'order.created', status: 'delivered', tries: 1, lastStatus: 204, lastError: null, deliveredAt: expect.any(String) },
    ])
    expect(made(await shop.get(`/webhooks/${id}/deliveries/${list[0].id}`)).payload).toEqual(JSON.parse(hook.received[1]!.text))
    // The secret is nowhere: not in answers, not in the database, not in the audit log.
    const texts = [await shop.get('/webhooks'), await shop.get(`/webhooks/${id}`), await shop.get('/audit-log')].map(({ text }) => text)
    const rows = JSON.stringify(await shop.rows(sql`select * from webhooks`))
    for (const text of [...texts, rows]) expect(text).not.toContain(secret.slice(6, 30))
  })

  test('gets each kind of event that the store tells of, and none that it did not ask for', async () => {
    await added([...EVENT_TYPES])
    const other = listening()
    await added(['product.deleted'], other)
    const variantId = await shop.variant({ stock: { quantity: 6 } })
    const [{ productId }] = made(await shop.get(`/variants?limit=1`)).data
    const { id } = await shop.buy({ items: [{ variantId, quantity: 2 }] })
    made(await shop.post(`/orders/${id}/refunds`, { amountCents: 100 }))
    made(await shop.patch(`/products/${productId}`, { summary: 'Blue' }))
    made(await shop.post(`/products/${productId}/reviews`, { author: 'Ada', email: 'ada@example.com', content: 'Good', rating: 5 }))
    made(await shop.patch(`/orders/${id}`, { status: 'completed' }))
    const gone = made(await shop.post('/products', { name: 'Gone', price: 1 }))
    made(await shop.remove(`/products/${gone.id}`))
    await settle()
    const types = hook.received.map(({ type }) => type)
    expect(types).toEqual([
      ...['product.created', 'inventory.low', 'customer.created', 'order.created', 'order.paid', 'order.refunded', 'product.updated'],
      ...['review.created', 'product.created', 'product.deleted'],
    ])
    const told = (type: string) => hook.received.findLast((one) => one.type === type)!.data
    expect(told('inventory.low')).toMatchObject({ variantId, quantity: 6, reserved: 2, available: 4 })
    expect(told('customer.created')).toMatchObject({ email: 'ada@example.com', addresses: [] })
    expect(told('order.refunded')).toMatchObject({ id, refundedCents: 100, paymentStatus: 'partially_refunded' })
    expect(told('product.updated')).toMatchObject({ id: productId, summary: 'Blue', variants: [{ id: variantId }] })
    expect(told('review.created')).toMatchObject({ rating: 5, approved: false, productId })
    // What was removed is told of as it was.
    const { updatedAt: _, ...whole } = gone
    expect(told('product.deleted')).toMatchObject(whole)
    expect(other.received.map(({ type }) => type)).toEqual(['product.deleted'])
  })

  test('hears nothing of what was rolled back', async () => {
    const { id } = await added([...EVENT_TYPES])
    const variantId = await shop.variant({ stock: { quantity: 1 } })
    const { id: cart } = await shop.cart([{ variantId }])
    const { id: late } = await shop.cart([{ variantId }])
    made(await shop.checkOut(cart))
    expect((await shop.checkOut(late, { email: 'bob@example.com' })).status).toBe(409)
    await settle()
    expect(hook.received.filter(({ type }) => type === 'order.created')).toHaveLength(1)
    expect(JSON.stringify(hook.received)).not.toContain('bob@example.com')
    expect((await deliveries(id)).length).toBe(hook.received.length)
  })

  test('of the sandbox hears of the sandbox, that of another store of nothing here', async () => {
    const other = await newShop(app)
    const [theirs, sandbox] = [listening(), listening()]
    made(await other.post('/webhooks', { url: theirs.url, events: ['product.created'] }))
    const staging = { key: shop.keys.staging }
    const hooked = made(await shop.post('/webhooks', { url: sandbox.url, events: ['product.created'] }, staging))
    await added(['product.created'])
    await shop.variant()
    made(await shop.post('/products', { name: 'Sample', price: 1 }, staging))
    await app.jobs.settle()
    expect([hook, sandbox, theirs].map(({ received }) => received.map(({ data }) => data.name))).toEqual([['Thing 1'], ['Sample'], []])
    for (const key of [other.keys.admin, shop.keys.admin]) expect((await shop.get(`/webhooks/${hooked.id}`, { key })).status).toBe(404)
  })

  test('takes a key that may read what it tells itself', async () => {
    const add = (key: string, events: string[]) => shop.post('/webhooks', { url: hook.url, events }, { key })
    const [admin, reader] = [await shop.keyWith('store:admin'), await shop.keyWith('store:admin', 'orders:read')]
    const refused = await add(admin, ['publish.live', 'order.paid'])
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('orders:read')])
    expect((await add(reader, ['order.paid', 'customer.created'])).body.error).toContain('customers:read')
    const { id } = made(await add(reader, ['publish.live', 'order.paid']))
    // Nor has it another's webhook sent elsewhere, or reads what was sent.
    const whole = await added(['product.created', 'customer.created'])
    await shop.buy({ items: [{ variantId: await shop.variant() }] })
    expect((await shop.patch(`/webhooks/${whole.id}`, { url: hook.url }, { key: reader })).status).toBe(403)
    const [customer] = await deliveries(whole.id)
    expect(customer.event).toBe('customer.created')
    expect((await shop.get(`/webhooks/${whole.id}/deliveries/${customer.id}`, { key: reader })).status).toBe(403)
    expect((await shop.patch(`/webhooks/${id}`, { active: false }, { key: admin })).status).toBe(403)
    expect((await shop.get(`/webhooks/${id}`, { key: admin })).status).toBe(200)
  })

  test('is handled by a key that may read what it tells, whatever is done with it', async () => {
    hook.answer = ({ text }) => new Response(text)
    const { id, secret } = await added(['order.created'])
    await shop.buy({ items: [{ variantId: await shop.variant() }] })
    await settle()
    const [{ id: sent, lastBody }] = await deliveries(id)
    expect(lastBody).toContain('order.created')
    const [admin, reader] = [await shop.keyWith('store:admin'), await shop.keyWith('store:admin', 'orders:read')]
    const deeds = [
      ['POST', `/webhooks/${id}/rotate`, undefined],
      ['POST', `/webhooks/${id}/test`, undefined],
      ['POST', `/webhooks/${id}/deliveries/${sent}/redeliver`, undefined],
      ['PATCH', `/webhooks/${id}`, { events: ['publish.live'] }],
      ['GET', `/webhooks/${id}/deliveries/${sent}`, undefined],
    ] as const
    for (const [method, path, body] of deeds) {
      const answer = await shop.call(method, path, body, { key: admin })
      expect([path, answer.status, answer.body.error]).toEqual([path, 403, expect.stringContaining('orders:read')])
      expect(answer.text).not.toContain('whsec_')
    }
    // What its receiver has answered may repeat what it got.
    expect((await shop.get(`/webhooks/${id}/deliveries`, { key: admin })).body.data).toMatchObject([{ id: sent, lastBody: null }])
    expect((await shop.get(`/webhooks/${id}/deliveries`, { key: reader })).body.data).toMatchObject([{ id: sent, lastBody }])
    await settle()
    expect(hook.received).toHaveLength(1)
    expect(await shop.rows(sql`select previous_secret from webhooks`)).toEqual([[null]])
    for (const [method, path, body] of deeds.toReversed())
      expect([path, (await shop.call(method, path, body, { key: reader })).status < 300]).toEqual([path, true])
    expect(secret).toMatch(/^whsec_/)
    // An admin alone may always take it away.
    expect((await shop.call('DELETE', `/webhooks/${id}`, undefined, { key: admin })).status).toBe(200)
  })

  test('is sent nowhere else while something of it waits that the key may not read', async () => {
    hook.answer = () => new Response(null, { status: 500 })
    const { id } = await added(['order.created'])
    await shop.buy({ items: [{ variantId: await shop.variant() }] })
    await settle()
    expect(made(await shop.patch(`/webhooks/${id}`, { events: ['publish.live'] })).events).toEqual(['publish.live'])
    const [admin, elsewhere] = [await shop.keyWith('store:admin'), listening()]
    const moved = await shop.patch(`/webhooks/${id}`, { url: elsewhere.url }, { key: admin })
    expect([moved.status, moved.body.error]).toEqual([403, expect.stringContaining('orders:read')])
    const [{ id: waiting }] = await deliveries(id)
    expect((await shop.post(`/webhooks/${id}/deliveries/${waiting}/redeliver`, undefined, { key: admin })).status).toBe(403)
    expect((await shop.patch(`/webhooks/${id}`, { url: elsewhere.url })).status).toBe(200)
    app.clock.advance(MINUTE)
    await settle()
    expect(elsewhere.received.length + elsewhere.forged).toBe(1)
  })

  test('that is far behind gets what happened to one thing in its order, though several go at once', async () => {
    await added(['product.updated'])
    hook.answer = async () => {
      await Bun.sleep(3)
      return new Response('ok')
    }
    const { id } = made(await shop.post('/products', { name: 'Thing', price: 1 }))
    const names = Array.from({ length: 100 }, (_, n) => `Thing ${n}`)
    for (const name of names) made(await shop.patch(`/products/${id}`, { name }))
    await settle()
    expect(hook.received.map(({ data }) => data.name)).toEqual(names)
  })

  test('and what came of its deliveries is forgotten after a week, the events some days later', async () => {
    await added(['product.created'])
    await shop.variant()
    await settle()
    const count = async () =>
      (await shop.rows(sql`select (select count(*) from webhook_deliveries), (select count(*) from outbox where body is not null)`))[0]
    const round = (days: number) =>
      app.handles.use(shop.store.id, 'live', (store) =>
        sweep(store, { storeId: shop.store.id, environment: 'live' }, null, {
          ...app.services.clock,
          now: () => new Date(Date.now() + days * 24 * HOUR),
        }),
      )
    await round(6.9)
    expect(await count()).toEqual([1, 1])
    await round(7.1)
    expect(await count()).toEqual([0, 1])
    await round(11.1)
    expect(await count()).toEqual([0, 0])
  })

  test('is refused where nothing may ever be sent, and as the twenty-first', async () => {
    const tried = async (url: string) => paths(await shop.post('/webhooks', { url, events: ['order.paid'] }))
    for (const url of [
      ...['http://127.0.0.1/', 'http://127.1/', 'http://[::1]/', 'http://0x7f.1/', 'http://localhost/x', 'http://169.254.169.254/latest'],
      ...['https://example.com:8443/', 'ftp://example.com/', 'https://user:pass@example.com/', 'http://printer.local/', 'not a url'],
    ])
      expect(await tried(url), url).toEqual(['url'])
    expect(paths(await shop.post('/webhooks', { url: hook.url, events: [] }))).toEqual(['events'])
    expect(paths(await shop.post('/webhooks', { url: hook.url, events: ['order.burnt'] }))).toEqual(['events.0'])
    for (let i = 0; i < 20; i++) await added()
    expect((await shop.post('/webhooks', { url: hook.url, events: ['order.paid'] })).status).toBe(409)
    expect(made(await shop.get('/webhooks')).meta.count).toBe(20)
  })

  test('whose name leads inside is not asked', async () => {
    const { id } = made(await shop.post('/webhooks', { url: 'https://inside.shop/', events: ['product.created'] }))
    await shop.variant()
    await settle()
    expect(await deliveries(id)).toMatchObject([
      { status: 'pending', tries: 1, lastStatus: null, lastError: 'it leads to an address that is not public' },
    ])
  })
})

describe('a delivery that is not taken', () => {
  test('is tried again after 5 s, 5 min, 30 min, 2, 5 and 10 hours and every 12, with the same id and body; after three days the webhook is turned off', async () => {
    await shop.settings({ contactEmail: 'owner@shop.example' })
    const { id } = await added(['product.created'])
    hook.answer = () => new Response('x'.repeat(5_000), { status: 500 })
    app.clock.now = new Date('2030-03-01T00:00:00.000Z')
    await shop.variant()
    const pauses: number[] = []
    for (let tries = 1; ; tries++) {
      await settle()
      expect(hook.received).toHaveLength(tries)
      const [one] = await deliveries(id)
      expect(one).toMatchObject({ tries, lastStatus: 500, lastBody: 'x'.repeat(1_024), lastError: 'its server answers 500' })
      if (one.status !== 'pending') break
      const pause = Date.parse(one.nextTryAt) - app.clock.now.getTime()
      pauses.push(pause)
      app.clock.advance(pause - 1)
      await settle()
      expect(hook.received).toHaveLength(tries)
      app.clock.advance(1)
    }
    expect(pauses).toEqual([5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, ...Array(4).fill(12 * HOUR)])
    expect(new Set(hook.received.map((one) => one.id + one.text)).size).toBe(1)
    expect(new Set(hook.received.map(({ headers }) => headers.get('webhook-timestamp'))).size).toBe(hook.received.length)
    expect(made(await shop.get(`/webhooks/${id}`))).toMatchObject({ active: false, disabledReason: 'failing' })
    const mails = readdirSync(app.mailFolder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes(`webhook-off-${id}`))
    expect(mails).toHaveLength(1)
    const mail = readFileSync(join(app.mailFolder, mails[0]!), 'utf8')
    expect(mail).toContain('owner@shop.example')
    // Off, it hears of nothing; on again, of what happens from then on.
    await shop.variant()
    hook.answer = () => new Response(null, { status: 200 })
    expect((await shop.post(`/webhooks/${id}/test`)).status).toBe(409)
    made(await shop.patch(`/webhooks/${id}`, { active: true }))
    await shop.variant()
    await settle()
    expect(hook.received.at(-1)!.data.name).toBe('Thing 3')
    expect((await deliveries(id)).map(({ status }: any) => status)).toEqual(['delivered', 'failed'])
  }, 60_000)

  test('does not turn a webhook off that takes others', async () => {
    const { id } = await added(['product.created'])
    hook.answer = ({ data }) => new Response(null, { status: data.name === 'Thing 1' ? 500 : 200 })
    app.clock.now = new Date('2030-03-01T00:00:00.000Z')
    await shop.variant()
    for (let hours = 0; hours < 80; hours += 1) {
      await settle()
      if (hours % 12 === 0) await shop.variant()
      app.clock.advance(HOUR)
    }
    await settle()
    expect((await deliveries(id, '?status=failed')).map(({ tries }: any) => tries)).toEqual([11])
    expect(made(await shop.get(`/webhooks/${id}`)).active).toBe(true)
  }, 60_000)

  test('turns the webhook off at once where the answer is 410', async () => {
    const { id } = await added(['product.created'])
    hook.answer = () => new Response(null, { status: 410 })
    await shop.variant()
    await shop.variant()
    await settle()
    expect(hook.received).toHaveLength(1)
    expect(made(await shop.get(`/webhooks/${id}`))).toMatchObject({ active: false, disabledReason: 'gone' })
    expect((await deliveries(id)).map(({ status, lastError }: any) => [status, lastError])).toEqual([
      ['failed', 'the webhook was turned off'],
      ['failed', 'its server answers 410'],
    ])
  })

  test('at the address that a webhook had before says nothing of the one that it has', async () => {
    const other = listening()
    const { id, secret } = await added(['product.created'])
    other.secrets.set('/', secret)
    hook.answer = async () => {
      await shop.patch(`/webhooks/${id}`, { url: other.url })
      return new Response(null, { status: 410 })
    }
    await shop.variant()
    await shop.variant()
    await settle()
    expect(made(await shop.get(`/webhooks/${id}`))).toMatchObject({ active: true, disabledReason: null })
    expect([hook.received.length, other.received.map(({ data }) => data.name)]).toEqual([1, ['Thing 1', 'Thing 2']])
  })

  test('because its event is forgotten is no failure of the webhook', async () => {
    const { id } = await added(['product.created'])
    for (let i = 0; i < 5; i++) await shop.variant()
    await shop.change(sql`update outbox set body = null`)
    await settle()
    expect(new Set((await deliveries(id)).map(({ status, lastError }: any) => `${status} ${lastError}`))).toEqual(
      new Set(['failed the event is forgotten']),
    )
    expect(made(await shop.get(`/webhooks/${id}`)).active).toBe(true)
  })

  test('is one that is redirected, and nobody goes there', async () => {
    const elsewhere = listening()
    const { id } = await added(['product.created'])
    hook.answer = () => new Response(null, { status: 307, headers: { location: elsewhere.url } })
    await shop.variant()
    await settle()
    expect([hook.received.length, elsewhere.received.length]).toEqual([1, 0])
    expect(await deliveries(id)).toMatchObject([{ status: 'pending', lastStatus: 307 }])
  })

  test('holds back what happened to the same thing for its first tries, and nothing else', async () => {
    await added(['product.created', 'product.updated'])
    let isUp = false
    hook.answer = ({ data }) => new Response(null, { status: isUp || data.name !== 'Held' ? 200 : 503 })
    app.clock.now = new Date('2030-03-01T00:00:00.000Z')
    const held = made(await shop.post('/products', { name: 'Held', price: 1 }))
    made(await shop.patch(`/products/${held.id}`, { summary: 'Changed' }))
    const free = made(await shop.post('/products', { name: 'Free', price: 1 }))
    await settle()
    expect(hook.received.map(({ type, data }) => [type, data.id])).toEqual([
      ['product.created', held.id],
      ['product.created', free.id],
    ])
    isUp = true
    app.clock.advance(5_000)
    await settle()
    expect(hook.received.slice(2).map(({ type, data }) => [type, data.id])).toEqual([
      ['product.created', held.id],
      ['product.updated', held.id],
    ])
  })

  test('has a webhook that fails again and again rest, one try at a time', async () => {
    const { id } = await added(['product.created'])
    hook.answer = () => new Response(null, { status: 502 })
    app.clock.now = new Date('2030-03-01T00:00:00.000Z')
    for (let i = 0; i < 10; i++) await shop.variant()
    await settle()
    expect(hook.received).toHaveLength(3)
    app.clock.advance(5_000)
    await settle()
    expect(hook.received).toHaveLength(4)
    app.clock.advance(5_000)
    await settle()
    expect(hook.received).toHaveLength(4)
    hook.answer = () => new Response(null, { status: 200 })
    app.clock.advance(5 * MINUTE)
    await settle()
    expect((await deliveries(id)).every(({ status }: any) => status === 'delivered')).toBe(true)
  })
})

describe('whoever listens badly', () => {
  test('is not waited for beyond its head: a body that never ends is cut off, and what its status says counts', async () => {
    const { id } = await added(['product.created'])
    hook.answer = () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode('so far')),
          pull: () => new Promise(() => {}),
        }),
      )
    await shop.variant()
    const started = performance.now()
    await settle()
    expect(performance.now() - started).toBeLessThan(8_000)
    expect(await deliveries(id)).toMatchObject([{ status: 'delivered', lastBody: 'so far' }])
  })

  test('sends ten megabytes: one KB is kept', async () => {
    const { id } = await added(['product.created'])
    hook.answer = () => new Response('é'.repeat(5_000_000))
    await shop.variant()
    await settle()
    const [{ lastBody, status }] = await deliveries(id)
    expect([status, lastBody]).toEqual(['delivered', 'é'.repeat(512)])
  })

  test('but within 15 seconds is taken, though its turn is over before', async () => {
    const { id } = await added(['product.created'])
    hook.answer = async () => {
      await Bun.sleep(12_200)
      return new Response('at last')
    }
    await shop.variant()
    await settle()
    expect(await deliveries(id)).toMatchObject([{ status: 'delivered', tries: 1, lastBody: 'at last' }])
    expect(hook.received).toHaveLength(1)
  }, 30_000)

  test('and never answers delays no other webhook and no other work of the store', async () => {
    let release = () => {}
    const hanging = listening()
    hanging.answer = () => new Promise((resolve) => (release = () => resolve(new Response('late'))))
    await added(['product.created'], hanging)
    await added(['product.created'])
    await shop.variant()
    const settled = settle()
    for (const deadline = Date.now() + 5_000; !hook.received.length; await Bun.sleep(10)) expect(Date.now()).toBeLessThan(deadline)
    release()
    await settled
  })
})

describe('a secret that is replaced', () => {
  test('signs beside the one before for 24 hours', async () => {
    const { id, secret } = await added(['product.created'])
    app.clock.now = new Date()
    const next = made(await shop.post(`/webhooks/${id}/rotate`))
    expect(next.secret).not.toBe(secret)
    expect(next.previousSecretUntil).toBe(new Date(app.clock.now.getTime() + 24 * HOUR).toISOString())
    for (const known of [secret, next.secret]) {
      hook.secrets.set('/', known)
      await shop.variant()
      await settle()
    }
    expect([hook.received.length, hook.forged]).toEqual([2, 0])
    expect(hook.received[0]!.headers.get('webhook-signature')!.split(' ')).toHaveLength(2)
    await shop.change(sql`update webhooks set previous_until = '2020-01-01T00:00:00.000Z'`)
    await shop.variant()
    await settle()
    expect(hook.received[2]!.headers.get('webhook-signature')!.split(' ')).toHaveLength(1)
    expect(made(await shop.get(`/webhooks/${id}`)).previousSecretUntil).toBeNull()
  })
})

describe('by hand', () => {
  test('a test is delivered whatever the webhook asked for', async () => {
    const { id } = await added(['order.paid'])
    const { status, body } = await shop.post(`/webhooks/${id}/test`)
    expect([status, body.event, body.status]).toEqual([202, 'webhook.test', 'pending'])
    await settle()
    expect(hook.received).toMatchObject([{ id: body.eventId, type: 'webhook.test', data: { webhookId: id } }])
  })

  test('a delivery is sent again under its id, also one that was taken', async () => {
    const { id } = await added(['product.created'])
    await shop.variant()
    await settle()
    const [one] = await deliveries(id)
    expect((await shop.post(`/webhooks/${id}/deliveries/${one.id}/redeliver`)).status).toBe(202)
    await settle()
    expect(new Set(hook.received.map((got) => got.id + got.text))).toEqual(new Set([one.eventId + hook.received[0]!.text]))
    expect(hook.received).toHaveLength(2)
  })

  test('a list of deliveries goes on where a page ended', async () => {
    const { id } = await added(['product.created'])
    for (let i = 0; i < 7; i++) await shop.variant()
    await settle()
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: any = made(await shop.get(`/webhooks/${id}/deliveries?limit=3${cursor && `&cursor=${cursor}`}`))
      seen.push(...page.data.map((one: any) => one.eventId))
      cursor = page.nextCursor
    }
    expect(seen).toEqual(hook.received.map((one) => one.id).reverse())
    expect(await deliveries(id, '?status=failed')).toEqual([])
  })

  test('one that is removed gets nothing of what waits', async () => {
    const { id } = await added(['product.created'])
    await shop.variant()
    made(await shop.remove(`/webhooks/${id}`))
    await settle()
    expect(hook.received).toEqual([])
    expect(await shop.rows(sql`select count(*) from webhook_deliveries`)).toEqual([[0]])
  })

  test('a change of its address goes for what waits', async () => {
    const other = listening()
    const { id, secret } = await added(['product.created'])
    other.secrets.set('/', secret)
    hook.answer = () => new Response(null, { status: 500 })
    app.clock.now = new Date()
    await shop.variant()
    await settle()
    made(await shop.patch(`/webhooks/${id}`, { url: other.url, events: ['product.deleted'] }))
    app.clock.advance(5_000)
    await settle()
    expect(other.received.map(({ type }) => type)).toEqual(['product.created'])
  })
})
