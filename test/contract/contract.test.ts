/** What documents 1 and 3 promise of every operation, asked of each one that the OpenAPI document lists. */
import { afterAll, describe, expect, test } from 'vitest'
import { SCOPES } from '../../db/control/scopes.ts'
import { testApp, type Answer } from '../harness.ts'
import { DOCUMENTED } from './endpoints.ts'
import { errorProblem, fill, isIdentifier, nobody, operationAt, operationsOf, WORDS, type Json } from './operations.ts'
import { idFor } from './seed.ts'
import { each, nowhere, world } from './world.ts'

const { app, document, operations, keyed, shop, known, foreign, caller, somewhere, bodyOf } = await world()
afterAll(() => app.close())

describe('keys and scopes', () => {
  test('no key, and a wrong one, is 401 with an error, whatever the body', () =>
    each(keyed, async (operation, find) => {
      for (const key of [null, 'sk-wrong', 'sk-s-wrong']) {
        for (const raw of operation.body ? ['{"broken', JSON.stringify(operation.body.example)] : [undefined]) {
          const answer = await caller.call(operation, nowhere(operation), undefined, { key, raw })
          if (answer.status !== 401) find(`is not 401 with key ${key}`, answer)
        }
      }
    }))

  test('a scheme other than Bearer is no key', () =>
    each(keyed.slice(0, 5), async (operation, find) => {
      const answer = await caller.call(operation, nowhere(operation), undefined, {
        key: null,
        headers: { authorization: `Basic ${shop.keys.admin}` },
      })
      if (answer.status !== 401) find('takes Basic', answer)
    }))

  test('public operations ask for no key', () =>
    each(
      operations.filter(({ isPublic }) => isPublic),
      async (operation, find) => {
        const answer = await caller.call(operation, nowhere(operation), operation.body?.example, { key: null })
        if (answer.status === 401 && !operation.statuses.has(401)) find('wants a key', answer)
      },
    ))

  test('each scope alone either opens an operation, or is 403 that names the scope needed and gives a hint', async () => {
    const unfit = await app.newStore({ plan: 'scale', aiBuilt: true })
    const keys = await Promise.all(SCOPES.map(async (scope) => ({ scope, key: await unfit.keyWith(scope) })))
    await each(keyed, async (operation, find) => {
      for (const { scope, key } of keys) {
        // A body that is not JSON: whoever gets past the scope gets 400 and changes nothing.
        const answer = await caller.call(operation, nowhere(operation), undefined, { key, raw: operation.body ? '{"broken' : undefined })
        if (operation.scopes.length === 0 || operation.scopes.includes(scope)) {
          if (answer.status === 403 && answer.body.error.includes('scope')) find(`is closed to ${scope}`, answer)
        } else if (answer.status !== 403) find(`is open to ${scope}`, answer)
        else if (
          !operation.scopes.every((needed) => answer.body.error.includes(needed)) ||
          typeof answer.body.hint !== 'string' ||
          !answer.body.hint
        )
          find('does not name the scope, or has no hint', answer)
      }
    })
  })

  test('an operation asks for scopes of document 1 alone', () => {
    for (const { scopes, title } of operations) for (const scope of scopes) expect(SCOPES, title).toContain(scope)
  })

  test('an endpoint of the documents asks for the scopes that they give', () => {
    const found = DOCUMENTED.map(({ method, path, scopes, access }) => ({
      scopes,
      access,
      operation: operationAt(operations, method, path),
    })).filter(({ operation }) => operation)
    expect(found.length).toBeGreaterThan(0)
    for (const { scopes, access, operation } of found) {
      expect([operation!.isPublic, operation!.scopes.toSorted()], operation!.title).toEqual([access === 'public', scopes.toSorted()])
    }
  })
})

describe('identifiers', () => {
  test("a missing, a malformed and another store's id get the same answer, byte by byte", () =>
    each(
      keyed.filter(({ params }) => params.some(isIdentifier)),
      async (operation, find) => {
        for (const varied of operation.params.filter(isIdentifier)) {
          const at = (value: string | undefined) =>
            value === undefined ? null : fill(operation.path, (name, prefix) => (name === varied ? value : idFor(known)(name, prefix)))
          const prefix = operation.path.slice(0, operation.path.indexOf(`/{${varied}}`))
          const theirs = foreign.get(prefix) ?? foreign.get(`/${prefix.split('/').at(-1)}`)
          if (theirs === undefined) find(`${varied} is of a kind of which no other store has any here`)
          const paths = [at(nobody()), at('not-a-uuid'), at('00000000-0000-0000-0000-000000000000'), at(theirs)].filter(
            (path) => path !== null,
          )
          const answers: Answer[] = []
          for (const path of paths) answers.push(await caller.call(operation, path, bodyOf(operation)))
          const [first] = answers
          if (first!.status !== 404) find(`${varied} that nothing has is not 404`, first)
          for (const [i, answer] of answers.entries())
            if (answer.status !== first!.status || answer.text !== first!.text)
              find(`${paths[i]} is answered in another way than ${paths[0]}: ${first!.text.slice(0, 200)}`, answer)
          for (const answer of answers) {
            const named = (headers: Headers) =>
              [...headers]
                .filter(([name]) => name !== 'x-request-id')
                .map(String)
                .join()
            if (named(answer.headers) !== named(first!.headers)) find('has other headers', answer)
          }
        }
      },
    ))
})

describe('requests and answers', () => {
  test('a method that a path does not have is 405 with the ones that it has', async () => {
    const templates = Object.entries(document.paths as Record<string, Json>).map(([path, methods]) => ({
      path,
      methods: Object.keys(methods).map((method) => method.toUpperCase()),
    }))
    for (const { path, methods } of templates) {
      const concrete = fill(path, (name) => WORDS[name] ?? nobody())
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((name) => !methods.includes(name))) {
        const answer = await app.send(method, concrete, undefined, { key: shop.keys.admin })
        expect([answer.status, errorProblem(answer)], `${method} ${path}`).toEqual([405, null])
        expect(
          answer.headers
            .get('allow')!
            .split(', ')
            .filter((name) => name !== 'HEAD')
            .toSorted(),
          `${method} ${path}`,
        ).toEqual(methods.toSorted())
      }
    }
  })

  test('an unknown path is 404 with an error', async () => {
    for (const path of ['/no-such-thing', '/products/a/b/c/d/e', '/', '', '/%2e%2e/x']) {
      const answer = await app.send('GET', path, undefined, { key: shop.keys.admin })
      expect([answer.status, errorProblem(answer)], path).toEqual([404, null])
    }
  })

  test('what belongs to no operation gives the request id back, too', async () => {
    for (const [method, path, status] of [
      ['GET', '/no-such-thing', 404],
      ['PUT', '/me', 405],
      ['PATCH', '/team/invitations', 405],
      ['GET', '/products/%zz', 400],
    ] as const) {
      const answer = await app.send(method, path, undefined, { key: shop.keys.admin, headers: { 'x-request-id': 'mine' } })
      expect([answer.status, answer.headers.get('x-request-id'), errorProblem(answer)], path).toEqual([status, 'mine', null])
    }
  })

  test('a request id comes back when it is a good one, and is made when it is not', () =>
    each(operations, async (operation, find) => {
      for (const [sent, echoed] of [
        ['a.B-9_z', true],
        ['x'.repeat(128), true],
        ['x'.repeat(129), false],
        ['has space', false],
        ['semi;colon', false],
      ] as const) {
        const { headers } = await app.send(operation.method, nowhere(operation), operation.body?.example, {
          headers: { 'x-request-id': sent },
        })
        const id = headers.get('x-request-id')
        if (!id || (id === sent) !== echoed) find(`${sent} comes back as ${id}`)
      }
    }))

  test('every single resource has an ETag, and 304 for it', () =>
    each(
      keyed.filter(({ method }) => method === 'GET'),
      async (operation, find) => {
        const path = `${somewhere(operation)}?${operation.needed}`
        const first = await caller.call(operation, path)
        if (first.status !== 200) return
        const etag = first.headers.get('etag')
        if (!etag) return find('has no ETag', first)
        const again = await caller.call(operation, path, undefined, { headers: { 'if-none-match': etag } })
        if (again.status !== 304 && again.headers.get('etag') === etag) find('is not 304', again)
      },
    ))

  test('If-Match with a stale ETag is 412 and changes nothing', () =>
    each(
      keyed.filter(({ method }) => ['PATCH', 'PUT', 'DELETE'].includes(method)),
      async (operation, find) => {
        const path = somewhere(operation)
        const before = await app.send('GET', path, undefined, { key: shop.keys.admin })
        if (before.status === 404) return
        const answer = await caller.call(operation, path, bodyOf(operation), { headers: { 'if-match': '"stale"' } })
        if (answer.status !== 412) find('is not 412', answer)
        if ((await app.send('GET', path, undefined, { key: shop.keys.admin })).text !== before.text) find('changed something')
      },
    ))

  test('a POST with an Idempotency-Key comes again as it was, and another body under it is 422', () =>
    each(
      keyed.filter(({ method, isUpload }) => method === 'POST' && !isUpload),
      async (operation, find) => {
        const key = `contract-${operation.id}`
        const path = nowhere(operation)
        const post = (body: unknown, idempotencyKey = key) =>
          shop.call('POST', path, body, { headers: { 'idempotency-key': idempotencyKey } })
        const body = bodyOf(operation)
        const [first, again] = [await post(body), await post(body)]
        if (first.status >= 500 || first.status === 422) find('fails', first)
        if (again.status !== first.status || again.text !== first.text)
          find(`answers otherwise the second time than ${first.status} ${first.text.slice(0, 100)}`, again)
        if (first.status !== 400 && again.headers.get('idempotent-replayed') !== 'true') find('does not say that it comes again', again)
        if (operation.body && first.status !== 400) {
          // What is strict takes no field that it doesn't know; one of its own that says nothing makes another body, too.
          const { additionalProperties, properties } = operation.body.schema
          const nothing = Object.keys(properties).find((name) => JSON.stringify(properties[name]).includes('"null"'))
          const more = additionalProperties === false ? { [nothing!]: null } : { contract: 1 }
          const other = await post({ ...(body as object), ...more })
          if (other.status !== 422 || errorProblem(other)) find('takes another body under the same key', other)
        }
        for (const wrong of ['', 'x'.repeat(256)]) {
          const answer = await post(body, wrong)
          if (answer.status !== 400 || errorProblem(answer)) find(`takes a key of ${wrong.length} characters`, answer)
        }
      },
    ))

  test('HEAD answers as GET does, without a body', () =>
    each(
      keyed.filter(({ method }) => method === 'GET'),
      async (operation, find) => {
        const path = somewhere(operation)
        const [get, head] = [
          await app.send('GET', path, undefined, { key: shop.keys.admin }),
          await app.send('HEAD', path, undefined, { key: shop.keys.admin }),
        ]
        if (head.status !== get.status || head.text !== '') find('is another answer', head)
        const length = head.headers.get('content-length')
        const authorization = `Bearer ${shop.keys.admin}`
        const whole = await app.app.fetch(new Request(`http://localhost/api/v1${path}`, { headers: { authorization } }))
        if (length !== null && Number(length) !== (await whole.arrayBuffer()).byteLength) find(`says it is ${length} bytes long`, head)
      },
    ))
})

test('the rate limit is shown on every answer, and refuses with 429', async () => {
  const limited = await testApp({ rate: { perSecond: 1, burst: 60 } })
  try {
    const store = await limited.newStore()
    const some = operationsOf((await limited.send('GET', '/openapi')).body)
      .filter(({ isPublic }) => !isPublic)
      .slice(0, 60)
    for (const operation of some) {
      const { headers, status } = await limited.send(operation.method, nowhere(operation), undefined, {
        key: store.keys.storefront,
        raw: operation.body ? '{' : undefined,
      })
      expect(status, operation.title).not.toBe(429)
      expect(headers.get('ratelimit-policy')).toBe('"default";q=60;w=60')
      expect(headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=\d+$/)
    }
    for (let i = some.length; i < 60; i++) await limited.send('GET', '/me', undefined, { key: store.keys.storefront })
    const over = await limited.send('GET', '/me', undefined, { key: store.keys.storefront })
    expect([over.status, errorProblem(over)]).toEqual([429, null])
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await limited.send('GET', '/me', undefined, { key: store.keys.admin })).status).toBe(200)
  } finally {
    await limited.close()
  }
})

test('no answer was a failure of the server, a 422, an undescribed status or an error in another form', () => {
  expect(caller.calls).toBeGreaterThan(keyed.length)
  caller.verify()
})
