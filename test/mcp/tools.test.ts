/** Document 8, MCP: the tools of a store's server are the operations of its API, for whoever may call them, with what HTTP would answer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Catalogue } from '../../api/mcp/catalogue.ts'
import { HINTED, hintsOf } from '../../api/mcp/hints.ts'
import { NAMED } from '../../api/mcp/named-tools.ts'
import { OWN, requestOf } from '../../api/mcp/operation.ts'
import { STOREFRONT_SCOPES } from '../../db/control/registry.ts'
import { fill } from '../contract/operations.ts'
import { each, nowhere, world } from '../contract/world.ts'
import { made, newShop } from '../shop.ts'
import { agent, type Agent } from './agent.ts'

const FINDING = ['search_operations', 'describe_operation', 'read_operation', 'call_operation']
const { app, operations, shop, somewhere, bodyOf } = await world()
const routes = app.app.routes.filter(({ path }) => !/^\/(openapi|docs)/.test(path))
const catalogue = new Catalogue(routes)
const fetch = (request: Request) => app.app.fetch(request)

let admin: Agent
beforeAll(async () => {
  admin = await agent(fetch, shop.keys.admin)
})
afterAll(async () => {
  await admin.close()
  await app.close()
})

describe('which tools there are', () => {
  test('about forty with names of operations, and four for all others; each says what it is in words and in a schema', async () => {
    const tools = await admin.tools()
    expect(tools.map(({ name }) => name)).toEqual([...NAMED, ...FINDING])
    for (const { name, description, inputSchema, annotations } of tools) {
      expect([name, description!.length > 10, inputSchema.type]).toEqual([name, true, 'object'])
      expect(Object.keys(annotations)).toEqual(
        expect.arrayContaining(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']),
      )
      expect(JSON.stringify(inputSchema)).not.toMatch(/\$ref|\$id/)
    }
    // All of them together are read at the start of each conversation.
    expect(JSON.stringify(tools).length).toBeLessThan(50_000)
  })

  test('a key has the tools of its scopes: a storefront sells, and an empty key asks who it is', async () => {
    const namesWith = async (key: string) => {
      const own = await agent(fetch, key)
      const names = (await own.tools()).map(({ name }) => name).filter((name) => !FINDING.includes(name))
      await own.close()
      return names
    }
    const expected = (scopes: readonly string[]) =>
      NAMED.filter((name) => {
        const operation = operations.find(({ id }) => id === name)!
        return operation.scopes.length === 0 || operation.scopes.some((scope) => scopes.includes(scope))
      })
    const storefront = await namesWith(shop.keys.storefront)
    expect(storefront).toEqual(expected(STOREFRONT_SCOPES))
    expect(storefront).toContain('checkOutCart')
    expect(storefront).not.toContain('createProduct')
    expect(await namesWith(await shop.keyWith('team:read'))).toEqual(['getMe'])
    expect(await namesWith(await shop.keyWith('catalog:write'))).toEqual(expected(['catalog:write']))
  })

  test('every operation but pages for people, files, and what only a payment provider sends, is there', () => {
    const missing = operations.map(({ id }) => id).filter((id) => !catalogue.get(id))
    expect(missing.toSorted()).toEqual(
      [
        ...['confirmNotification', 'confirmSubscription', 'getConsole', 'getConsoleScript', 'getDocs', 'getOpenapi', 'getReplyAttachment'],
        ...['receiveStripeEvent', 'replyToSupportCase', 'showConfirmation', 'showNotificationConfirmation', 'showReviewForm'],
        ...['showStopNotification', 'showStopReviewRequests', 'showSupportCase', 'showUnsubscribe', 'stopNotification'],
        ...['stopReviewRequests', 'unsubscribe', 'uploadAttendeePhoto', 'writeOrderReview'],
      ].toSorted(),
    )
  })

  test('hints are true: what reads is no change, and each POST that neither creates nor adds has been thought about', () => {
    for (const { route, hints, id } of catalogue.all) {
      expect([id, hints.readOnlyHint]).toEqual([id, route.method === 'GET' || id === 'previewEmailTemplate'])
      if (['PUT', 'PATCH', 'DELETE'].includes(route.method))
        expect([id, hints.destructiveHint, hints.idempotentHint]).toEqual([id, true, id !== 'changeStock'])
      if (route.method === 'POST' && !/^(create|add)/.test(id)) expect(HINTED).toContain(id)
    }
    expect(HINTED.filter((id) => !catalogue.get(id))).toEqual([])
    const named = (id: string) => hintsOf(catalogue.get(id)!.route)
    expect(named('createRefund')).toEqual({ readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true })
    expect(named('createProduct').destructiveHint).toBe(false)
  })
})

describe('arguments', () => {
  test('stand side by side: no name of an operation means two things, nor one of ours', () => {
    for (const { id, route } of catalogue.all) {
      const path = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
      const query = Object.keys(route.query?.properties ?? {})
      const body = Object.keys((route.options.body?.properties as object | undefined) ?? {})
      const own = Object.keys(OWN)
      expect([id, path.filter((name) => [...query, ...body, ...own].includes(name))]).toEqual([id, []])
      expect([id, [...query, ...body].filter((name) => own.includes(name))]).toEqual([id, []])
      // A cart may be begun in a currency that its address names, too.
      if (id !== 'createCart') expect([id, query.filter((name) => body.includes(name))]).toEqual([id, []])
    }
  })

  test('become the request that the document describes', async () => {
    for (const operation of operations) {
      const found = catalogue.get(operation.id)
      if (!found) continue
      const params = Object.fromEntries(operation.params.map((name) => [name, `a/b ${name}`]))
      const query = Object.fromEntries(new URLSearchParams(operation.needed))
      const given = { ...params, ...query, ...(operation.body?.example as object | undefined) }
      const { request } = requestOf(found.route, given, {
        signal: new AbortController().signal,
        prefix: '/api/v1',
      })
      const { pathname, searchParams } = new URL(request.url)
      expect([operation.id, request.method, pathname]).toEqual([
        operation.id,
        operation.method,
        `/api/v1${fill(operation.path, (name) => `a/b ${name}`)}`,
      ])
      expect(Object.fromEntries(searchParams)).toEqual(query)
      const sent = await request.text()
      // What needs nothing may be sent without a body.
      expect([operation.id, sent ? JSON.parse(sent) : {}]).toEqual([operation.id, operation.body?.example ?? {}])
    }
  })

  test('lists go into a query with commas; what the API does not know is refused with the nearest name', async () => {
    const two = await admin.call('listProducts', { limit: 2, tag: 'no-such' })
    expect(two.value.meta).toMatchObject({ limit: 2, count: 0 })
    const wrong = await admin.call('listProducts', { limits: 2 })
    expect([wrong.isError, wrong.value.status]).toEqual([true, 400])
    expect(wrong.value.error).toContain('limit')
    const misspelt = await admin.call('createProduct', { name: 'Shirt', pric: 10 })
    expect(misspelt.value.details[0]).toMatchObject({ code: 'unrecognized_keys', keys: ['pric'] })
  })

  test.each([['..'], ['.'], [''], [undefined], [null], [{}], ['%2e%2e']])(
    'a part of a path that is %j leads to nothing else',
    async (id) => {
      const { isError, value } = await admin.call('getOrder', { id })
      expect([isError, [400, 404].includes(value.status)]).toEqual([true, true])
    },
  )

  test('a word that is another path is an id here: no operation leads to another', async () => {
    expect((await admin.call('call_operation', { operationId: 'deleteTeamMember', arguments: { id: 'invitations' } })).value.status).toBe(
      404,
    )
    expect(
      (await admin.call('call_operation', { operationId: 'updateTeamMember', arguments: { id: 'invitations', role: 'staff' } })).value
        .status,
    ).toBe(404)
  })

  test.each([
    ['getProduct', { idOrSlug: '\ud800' }, 400],
    ['getProduct', { idOrSlug: 'x'.repeat(3_000) }, 414],
    ['listProducts', { limit: [{ toString: 1 }] }, 400],
    ['listProducts', { limit: { toString: 1 } }, 400],
    ['listProducts', { tag: 'x'.repeat(10_000) }, 414],
    ['listProducts', Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`f${i}`, 1])), 400],
    ['createCategory', { name: 'A', idempotencyKey: 5 }, 400],
    ['createCategory', { name: 'A', idempotencyKey: 'k'.repeat(201) }, 400],
    ['updateProduct', { idOrSlug: 'x', ifMatch: ['"1"'] }, 400],
    ['getProduct', { idOrSlug: 'x', answerFrom: '100' }, 400],
    ['createCoupon', { code: 'T', type: 'percentage', value: 1, toString: '1' }, 400],
    ['createCoupon', { code: 'T', type: 'percentage', value: 1, constructor: '1' }, 400],
  ])('%s with what can be no argument is refused, and quickly', async (operationId, given, status) => {
    const started = performance.now()
    const { isError, value } = await admin.call('call_operation', { operationId, arguments: given })
    expect([isError, value.status]).toEqual([true, status])
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  test('headers take no line breaks', async () => {
    const { value } = await admin.call('createProduct', { name: 'Shirt', idempotencyKey: 'a\r\nx-injected: 1' })
    expect([value.status, value.details[0].path]).toEqual([400, ['idempotencyKey']])
  })
})

/** What the path of an operation names. */
function namedIn(id: string, path: string): Record<string, string> {
  const { route } = catalogue.get(id)!
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const values = new RegExp(`^${route.path.replace(/\{\w+\}/g, '([^/]+)')}$`).exec(path)!.slice(1)
  return Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(values[i]!)]))
}

describe('answers', () => {
  test('every operation that reads answers what HTTP answers', () =>
    each(
      operations.filter(({ id, method, needed }) => method === 'GET' && catalogue.get(id) && !needed),
      async (operation, find) => {
        const path = somewhere(operation)
        const http = await shop.call('GET', path)
        if (!(http.headers.get('content-type') ?? '').startsWith('application/json')) return
        const given = namedIn(operation.id, path)
        const { value, isError } = await admin.call('call_operation', { operationId: operation.id, arguments: given })
        const { status, ...refusal } = value
        if (http.status >= 400) {
          if (!isError || status !== http.status || refusal.error !== http.body.error)
            find(`is ${JSON.stringify(value).slice(0, 200)}`, http)
        } else if (isError || !Bun.deepEquals(withoutTimes(value), withoutTimes(http.body)))
          find(`is ${JSON.stringify(value).slice(0, 300)}`, http)
      },
    ))

  test('nothing is done that HTTP would refuse: a key without scopes gets the same refusal for every operation', async () => {
    const key = await shop.keyWith('team:read')
    const nobody = await agent(fetch, key)
    await each(
      operations.filter(({ id, scopes }) => catalogue.get(id) && scopes.length > 0 && !scopes.includes('team:read')),
      async (operation, find) => {
        const http = await shop.call(operation.method, nowhere(operation), bodyOf(operation), { key })
        const given = { ...Object.fromEntries(operation.params.map((name) => [name, 'x'])), ...bodyOf(operation) }
        const { value, isError } = await nobody.call('call_operation', { operationId: operation.id, arguments: given })
        if (!isError || http.status !== 403 || !Bun.deepEquals(value, { status: 403, ...http.body }))
          find(`is ${JSON.stringify(value).slice(0, 200)}`, http)
      },
    )
    await nobody.close()
  })

  test('what belongs to another store is not there: the same refusal as by HTTP, for every operation with an id', async () => {
    const other = await app.newStore({ plan: 'scale', aiBuilt: true })
    const stranger = await agent(fetch, other.keys.admin)
    await each(
      // Each store has its own template of a kind.
      operations.filter(({ id, params, isPublic }) => catalogue.get(id) && params.some((name) => name !== 'kind') && !isPublic),
      async (operation, find) => {
        const path = somewhere(operation)
        const given = { ...namedIn(operation.id, path), ...bodyOf(operation) }
        const http = await shop.call(operation.method, path, bodyOf(operation), { key: other.keys.admin })
        const { value, isError } = await stranger.call('call_operation', { operationId: operation.id, arguments: given })
        const isSame = value.status === http.status && value.error === http.body.error
        if (!isError || !isSame) find(`is ${JSON.stringify(value).slice(0, 200)}`, http)
      },
    )
    await stranger.close()
  })

  test('what the plan of a store lacks is not among its tools, and is refused as by HTTP', async () => {
    const small = await app.newStore({ plan: 'starter' })
    const own = await agent(fetch, small.keys.admin)
    const { value } = await own.call('search_operations', { query: 'register a workstation' })
    expect(value.operations.map(({ operationId }: { operationId: string }) => operationId)).not.toContain('createWorkstation')
    expect(value.closedToThisKey).toContainEqual({ operationId: 'createWorkstation', needs: 'another plan' })
    const refused = await own.call('call_operation', { operationId: 'createWorkstation', arguments: { name: 'Till' } })
    const http = await small.call('POST', '/workstations', { name: 'Till' })
    expect([http.status, refused.value]).toEqual([403, { status: 403, ...http.body }])
    await own.close()
  })

  test('a refusal has what is wrong, where, and the page about it', async () => {
    const { isError, value } = await admin.call('createCoupon', { code: 'X', type: 'percentage', value: 120 })
    expect(isError).toBe(true)
    expect(value).toMatchObject({ status: 400, details: [{ path: ['value'], code: 'too_big' }] })
    expect(value.documentationUrl).toMatch(/\/docs\/api-reference\/coupons#add-a-coupon$/)
  })

  test('what ends something has ended it', async () => {
    const { value: made } = await admin.call('createCoupon', { code: 'ONCE', type: 'percentage', value: 5 })
    expect((await admin.call('call_operation', { operationId: 'deleteCoupon', arguments: { idOrCode: made.id } })).isError).toBe(false)
    expect((await shop.call('GET', `/coupons/${made.id}`)).status).toBe(404)
  })

  test('a file is no text for a model: it is told that there is one, and how to get it', async () => {
    const tickets = await newShop(app)
    const { event } = made(await tickets.post('/events', { name: 'Workshop', price: '25' }))
    const variantId = made(await tickets.get(`/products/${event.id}`)).variants[0].id
    const { accessCode } = await tickets.buy({ items: [{ variantId, quantity: 1 }], email: 'grace@example.com' })
    const { lines } = made(await tickets.get(`/tickets/${accessCode}?email=grace@example.com`))
    const { value } = await admin.call('call_operation', { operationId: 'printTicket', arguments: { token: lines[0].seats[0].token } })
    expect(value).toEqual({
      type: 'application/pdf',
      bytes: expect.any(Number),
      hint: expect.stringContaining('/tickets/attendee/{token}/ticket.pdf'),
    })
    expect(value.bytes).toBeGreaterThan(1_000)
  })
})

/** What differs from one request to the next. */
const withoutTimes = (value: unknown) =>
  JSON.parse(JSON.stringify(value), (name, part) => (/^(lastUsedAt|now|token|expiresAt|challenge)$/.test(name) ? undefined : part))

describe('what tools do is done as by HTTP', () => {
  test('the audit log tells the key, and that it came by a tool', async () => {
    await admin.call('updateSettings', { lowStockThreshold: 7 })
    await shop.call('PATCH', '/settings', { lowStockThreshold: 8 })
    const { data } = (await shop.call('GET', '/audit-log?limit=2')).body
    expect(data).toEqual([
      expect.objectContaining({ via: 'http', method: 'PATCH', path: '/api/v1/settings', keyName: 'admin' }),
      expect.objectContaining({ via: 'mcp', method: 'PATCH', path: '/api/v1/settings', keyName: 'admin' }),
    ])
  })

  test('a call with the same idempotencyKey is done once, by whichever way it comes', async () => {
    const body = { name: 'Only once', price: 5 }
    const first = await admin.call('createProduct', { ...body, idempotencyKey: 'mcp-1' })
    const again = await admin.call('createProduct', { ...body, idempotencyKey: 'mcp-1' })
    const http = await shop.call('POST', '/products', body, { headers: { 'idempotency-key': 'mcp-1' } })
    expect([again.value.id, http.body.id, http.headers.get('idempotent-replayed')]).toEqual([first.value.id, first.value.id, 'true'])
    const other = await admin.call('createProduct', { ...body, price: 6, idempotencyKey: 'mcp-1' })
    expect(other.value.status).toBe(422)
  })

  test('a change under ifMatch is refused when somebody was faster', async () => {
    const { value: product } = await admin.call('createProduct', { name: 'Contested', price: 5 })
    const { headers } = await shop.call('GET', `/products/${product.id}`)
    const ifMatch = headers.get('etag')!
    await shop.call('PATCH', `/products/${product.id}`, { price: 6 })
    expect((await admin.call('updateProduct', { idOrSlug: product.id, price: 7, ifMatch })).value.status).toBe(412)
    const { texts } = await admin.call('getProduct', { idOrSlug: product.id })
    const { etag } = JSON.parse(texts[1]!)
    expect((await admin.call('updateProduct', { idOrSlug: product.id, price: 7, ifMatch: etag })).isError).toBe(false)
  })

  test('a secret is shown once, and is in no log', async () => {
    const { value } = await admin.call('call_operation', { operationId: 'createApiKey', arguments: { name: 'Made by a tool' } })
    expect(value.key).toMatch(/^sk-/)
    for (const operationId of ['listApiKeys', 'listAuditLog'])
      expect((await admin.call('call_operation', { operationId })).texts.join()).not.toContain(value.key)
  })

  test('the sandbox of a store is another world here, too', async () => {
    const sandbox = await agent(fetch, shop.keys.staging)
    expect((await sandbox.call('listOrders')).value.meta.count).toBe(0)
    await sandbox.close()
  })
})

describe('finding', () => {
  test('a search names operations with their arguments, and those that the key is too weak for', async () => {
    const { value } = await admin.call('search_operations', { query: 'How do I refund an order?' })
    const refund = value.operations.find(({ operationId }: { operationId: string }) => operationId === 'createRefund')
    expect(refund).toEqual({
      operationId: 'createRefund',
      summary: 'Refund an order',
      destructive: true,
      arguments: 'id, amountCents?, lines?, reason?, restock?',
    })
    const weak = await agent(fetch, shop.keys.storefront)
    const { value: less } = await weak.call('search_operations', { query: 'refund an order' })
    expect(less.operations.map(({ operationId }: { operationId: string }) => operationId)).not.toContain('createRefund')
    expect(less.closedToThisKey).toContainEqual({ operationId: 'createRefund', needs: 'orders:write' })
    await weak.close()
  })

  test('a description has all that a call needs', async () => {
    const { value, bytes } = await admin.call('describe_operation', { operationId: 'createRefund' })
    expect(value).toMatchObject({ request: 'POST /orders/{id}/refunds', needs: 'orders:write', answers: { status: 201 } })
    expect(value.arguments.required).toEqual(['id'])
    expect(value.documentationUrl).toMatch(/\/docs\/api-reference\/orders-operations#refund-an-order$/)
    expect(bytes).toBeLessThan(4_000)
  })

  test('no description is longer than an answer may be', async () => {
    for (const { id } of catalogue.all)
      expect([id, (await admin.call('describe_operation', { operationId: id })).bytes < 12_000]).toEqual([id, true])
  })

  test('what is not there is said, with what may be meant', async () => {
    const { isError, value } = await admin.call('call_operation', { operationId: 'refundOrder' })
    expect([isError, value.status]).toEqual([true, 404])
    expect(value.nearest).toContain('createRefund')
    expect((await admin.call('refundOrder')).value).toMatchObject({ status: 404, nearest: expect.arrayContaining(['createRefund']) })
    expect((await admin.call('read_operation', { operationId: 'listTaxRates' })).isError).toBe(false)
    expect((await admin.call('read_operation', { operationId: 'createCoupon', arguments: { code: 'X' } })).value.status).toBe(403)
    expect((await admin.call('call_operation', { operationId: 'getOrder', id: 'x' })).value.error).toBe('id: belongs into arguments')
    expect((await admin.call('search_operations', { query: ' ' })).value.details[0].path).toEqual(['query'])
    expect((await admin.call('search_operations', { query: '"*^(){}' })).value.operations).toEqual([])
    expect((await admin.call('call_operation', { operationId: 'getMe', arguments: [] })).value.status).toBe(400)
  })
})
