/** What documents 1 and 3 promise of every operation, asked of each one that the OpenAPI document lists. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPES } from '../../db/control/scopes.ts'
import { testApp, type Answer, type TestStore } from '../harness.ts'
import { DOCUMENTED } from './endpoints.ts'
import { Caller, errorProblem, fill, isIdentifier, nobody, operationAt, operationsOf, resolve, WORDS, type Json, type Operation } from './operations.ts'
import { idFor, linked, seed, type Known } from './seed.ts'

const app = await testApp()
const document: Json = (await app.send('GET', '/openapi')).body
const operations = operationsOf(document)
const keyed = operations.filter(({ isPublic }) => !isPublic)
const withBody = keyed.filter(({ body }) => body)
const lists = keyed.filter(({ method, query }) => method === 'GET' && query.limit)

let shop: TestStore
let other: TestStore
let known: Known
let foreign: Known
let caller: Caller
beforeAll(async () => {
  [shop, other] = [await app.newStore({ plan: 'scale', aiBuilt: true }), await app.newStore({ plan: 'scale', aiBuilt: true })]
  known = await seed(operations, app.send, shop.keys.admin)
  foreign = await seed(operations, app.send, other.keys.admin)
  caller = new Caller(app.send, shop.keys.admin)
})
afterAll(() => app.close())

/** A path that leads to nothing. */
const nowhere = ({ path }: Operation) => fill(path, (name) => WORDS[name] ?? nobody())
/** A path that leads to something, where the store has it. */
const somewhere = ({ path }: Operation) => fill(path, idFor(known))
const bodyOf = ({ body }: Operation) => body ? linked(body.example, known) : undefined

/** Runs a check on each operation, and expects that none of them finds anything. */
async function each(some: readonly Operation[], check: (operation: Operation, find: (problem: string, answer?: Answer) => void) => Promise<void>) {
  const found: string[] = []
  for (const operation of some) await check(operation, (problem, answer) => { found.push(`${operation.title}: ${problem}${answer ? ` (${answer.status} ${answer.text.slice(0, 200)})` : ''}`) })
  expect(found.slice(0, 40)).toEqual([])
}

describe('keys and scopes', () => {
  test('no key, and a wrong one, is 401 with an error, whatever the body', () => each(keyed, async (operation, find) => {
    for (const key of [null, 'sk-wrong', 'sk-s-wrong']) {
      for (const raw of operation.body ? ['{"broken', JSON.stringify(operation.body.example)] : [undefined]) {
        const answer = await caller.call(operation, nowhere(operation), undefined, { key, raw })
        if (answer.status !== 401) find(`is not 401 with key ${key}`, answer)
      }
    }
  }))

  test('a scheme other than Bearer is no key', () => each(keyed.slice(0, 5), async (operation, find) => {
    const answer = await caller.call(operation, nowhere(operation), undefined, { key: null, headers: { authorization: `Basic ${shop.keys.admin}` } })
    if (answer.status !== 401) find('takes Basic', answer)
  }))

  test('public operations ask for no key', () => each(operations.filter(({ isPublic }) => isPublic), async (operation, find) => {
    const answer = await caller.call(operation, nowhere(operation), operation.body?.example, { key: null })
    if (answer.status === 401 && !operation.statuses.has(401)) find('wants a key', answer)
  }))

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
        else if (!operation.scopes.every((needed) => answer.body.error.includes(needed)) || typeof answer.body.hint !== 'string' || !answer.body.hint) find('does not name the scope, or has no hint', answer)
      }
    })
  })

  test('an operation asks for scopes of document 1 alone', () => {
    for (const { scopes, title } of operations) for (const scope of scopes) expect(SCOPES, title).toContain(scope)
  })

  test('an endpoint of the documents asks for the scopes that they give', () => {
    const found = DOCUMENTED.map(({ method, path, scopes, access }) => ({ scopes, access, operation: operationAt(operations, method, path) })).filter(({ operation }) => operation)
    expect(found.length).toBeGreaterThan(0)
    for (const { scopes, access, operation } of found) {
      expect([operation!.isPublic, operation!.scopes.toSorted()], operation!.title).toEqual([access === 'public', scopes.toSorted()])
    }
  })
})

describe('lists and queries', () => {
  const refused = async (operation: Operation, find: (problem: string, answer?: Answer) => void, search: string, field: string, codes: string[]) => {
    const needed = operation.needed.startsWith(`${field}=`) ? '' : `${operation.needed}&`
    const answer = await caller.call(operation, `${somewhere(operation)}?${needed}${search}`)
    if (answer.status === 404 && operation.params.length) return
    const first = answer.body?.details?.[0]
    if (answer.status !== 400 || JSON.stringify(first?.path) !== JSON.stringify([field]) || !codes.includes(first.code)) find(`?${search} is not refused by field`, answer)
  }

  test('limit and offset out of range, or not plain whole numbers, are 400 by name', () => each(lists, async (operation, find) => {
    const maximum = operation.query.limit!.maximum ?? 100
    for (const [value, code] of [['0', 'too_small'], ['-1', 'too_small'], [String(maximum + 1), 'too_big'], ['1e400', 'invalid_type'], ['1.5', 'invalid_type'], ['1e1', 'invalid_type'], ['%205', 'invalid_type'],
      ['5%20', 'invalid_type'], ['', 'invalid_type'], ['0x5', 'invalid_type'], ['%2B5', 'invalid_type'], ['05', 'invalid_type'], ['five', 'invalid_type'], ['NaN', 'invalid_type'], ['99999999999999999999', 'too_big']]) {
      await refused(operation, find, `limit=${value}`, 'limit', [code!])
    }
    await refused(operation, find, 'limit=5&limit=5', 'limit', ['custom', 'invalid_type'])
    if (operation.query.offset) {
      for (const [value, code] of [['-1', 'too_small'], ['0.5', 'invalid_type'], ['x', 'invalid_type'], ['', 'invalid_type']]) await refused(operation, find, `offset=${value}`, 'offset', [code!])
      await refused(operation, find, 'offset=0&offset=1', 'offset', ['custom', 'invalid_type'])
    }
  }))

  test('the page sizes 1 and the largest are taken, and the default is the one described', () => each(lists, async (operation, find) => {
    const { limit } = operation.query
    for (const asked of [undefined, 1, limit!.maximum ?? 100]) {
      const answer = await caller.call(operation, `${somewhere(operation)}?${operation.needed}${asked === undefined ? '' : `&limit=${asked}`}`)
      if (answer.status === 404 && operation.params.length) return
      if (answer.status !== 200) find(`limit ${asked} is not 200`, answer)
      const shown = answer.body?.meta?.limit ?? answer.body?.pagination?.limit
      if (shown !== undefined && shown !== (asked ?? limit!.default)) find(`shows limit ${shown} for ${asked}`)
      const page = answer.body?.data ?? answer.body?.items ?? answer.body?.images
      if (asked !== undefined && Array.isArray(page) && page.length > asked) find(`gives ${page.length} entries for limit ${asked}`)
    }
  }))

  test('an offset behind the end is an empty page that still counts all', () => each(lists.filter(({ query }) => query.offset), async (operation, find) => {
    const [start, end] = [await caller.call(operation, `${somewhere(operation)}?${operation.needed}`), await caller.call(operation, `${somewhere(operation)}?${operation.needed}&offset=1000000`)]
    if (start.status !== 200) return
    const page = end.body?.data ?? end.body?.items
    if (end.status !== 200 || !Array.isArray(page) || page.length) find('is not empty behind the end', end)
    const count = ({ body }: Answer) => body?.meta?.count ?? body?.pagination?.total ?? body?.total
    if (count(start) !== count(end)) find(`counts ${count(start)} and ${count(end)}`)
  }))

  test('other parameters are refused by field when they can not be meant', () => each(keyed.filter(({ query }) => Object.keys(query).length), async (operation, find) => {
    for (const [name, schema] of Object.entries(operation.query)) {
      if (schema.enum) await refused(operation, find, `${name}=no-such-word`, name, ['invalid_enum_value'])
      else if (schema.type === 'boolean') for (const value of ['yes', '1', '', 'TRUE']) await refused(operation, find, `${name}=${value}`, name, ['invalid_type'])
      else if (schema.format === 'uuid') await refused(operation, find, `${name}=not-a-uuid`, name, ['invalid_string'])
      else if (schema.format === 'date-time') for (const value of ['2026-02-30T00:00:00Z', 'yesterday', '2026-01-01']) await refused(operation, find, `${name}=${value}`, name, ['invalid_string'])
      else if (schema.type === 'number') await refused(operation, find, `${name}=1,5`, name, ['invalid_type'])
      if (schema.type === 'string' && !schema.enum) await refused(operation, find, `${name}=a&${name}=b`, name, ['custom', 'invalid_type'])
    }
  }))
})

describe('bodies', () => {
  const send = (operation: Operation, raw: string, headers: Record<string, string> = {}) => caller.call(operation, nowhere(operation), undefined, { raw, headers })

  test('another media type is 415', () => each(withBody, async (operation, find) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'application/xml']) {
      const answer = await send(operation, JSON.stringify(operation.body!.example), { 'content-type': type })
      if (answer.status !== 415) find(`takes ${type}`, answer)
    }
  }))

  test('JSON that breaks off, or is no object, is 400', () => each(withBody, async (operation, find) => {
    for (const raw of ['{"name": "Broken', '{"a":1,}', "{'a':1}", 'nonsense', '[]', 'null', '"x"', '1', 'true']) {
      const answer = await send(operation, raw)
      if (answer.status !== 400) find(`${raw} is not 400`, answer)
    }
  }))

  test('a body over 1 MB is 413', async () => {
    const raw = JSON.stringify({ name: 'x'.repeat(1_048_576) })
    await each(withBody, async (operation, find) => {
      const answer = await send(operation, raw)
      if (answer.status !== 413) find('takes more than 1 MB', answer)
    })
  })

  test('nesting without end, NUL and half characters are 400', () => each(withBody, async (operation, find) => {
    for (const raw of [`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, '[' .repeat(100_000), '{"name":"a\\u0000b"}', '{"name":"\\ud800"}', '{"\\ud800":1}']) {
      const answer = await send(operation, raw)
      if (answer.status !== 400) find(`${raw.slice(0, 30)} is not 400`, answer)
    }
  }))

  test('each required field left out is 400, code required, at its path', () => each(withBody, async (operation, find) => {
    for (const { path, without } of leavingOut(operation.body!.schema, operation.body!.example)) {
      const answer = await caller.call(operation, nowhere(operation), without)
      const named = answer.body?.details?.some((detail: Json) => detail.code === 'required' && JSON.stringify(detail.path) === JSON.stringify(path))
      if (answer.status !== 400 || !named) find(`without ${path.join('.')}`, answer)
    }
  }))

  test('null where null is not possible is 400 at its path', () => each(withBody, async (operation, find) => {
    for (const [name, field] of Object.entries(operation.body!.schema.properties ?? {}) as [string, Json][]) {
      if (isNullable(field)) continue
      const answer = await caller.call(operation, nowhere(operation), { ...operation.body!.example, [name]: null })
      if (answer.status !== 400 || !answer.body.details?.some((detail: Json) => detail.path[0] === name)) find(`${name}: null`, answer)
    }
  }))
})

const isNullable = (schema: Json): boolean => {
  const { type, anyOf, enum: values } = resolve(document, schema)
  return type === 'null' || (type === undefined && !anyOf && !values) || (Array.isArray(type) && type.includes('null')) || (anyOf ?? []).some(isNullable)
}

/** Every way to leave one required field out of an example, also within objects and the first entry of lists. */
function leavingOut(schema: Json, example: any, path: string[] = []): { path: string[], without: any }[] {
  const { properties = {}, required = [], items, anyOf } = resolve(document, schema)
  if (anyOf) {
    const parts = anyOf.filter((part: Json) => part.type !== 'null')
    return parts.length === 1 ? leavingOut(parts[0], example, path) : []
  }
  if (items && Array.isArray(example) && example.length) {
    return leavingOut(items, example[0], [...path, '0']).map(({ path: at, without }) => ({ path: at, without: [without, ...example.slice(1)] }))
  }
  if (!example || typeof example !== 'object') return []
  return Object.entries(properties as Record<string, Json>).filter(([name]) => name in example).flatMap(([name, field]) => {
    const { [name]: value, ...without } = example
    return [
      ...(required.includes(name) ? [{ path: [...path, name], without }] : []),
      ...leavingOut(field, value, [...path, name]).map(({ path: at, without: inner }) => ({ path: at, without: { ...example, [name]: inner } })),
    ]
  })
}

describe('identifiers', () => {
  test('a missing, a malformed and another store\'s id get the same answer, byte by byte', () => each(keyed.filter(({ params }) => params.some(isIdentifier)), async (operation, find) => {
    for (const varied of operation.params.filter(isIdentifier)) {
      const at = (value: string | undefined) => value === undefined ? null : fill(operation.path, (name, prefix) => name === varied ? value : idFor(known)(name, prefix))
      const prefix = operation.path.slice(0, operation.path.indexOf(`/{${varied}}`))
      const paths = [at(nobody()), at('not-a-uuid'), at('00000000-0000-0000-0000-000000000000'), at(foreign.get(prefix) ?? foreign.get(`/${prefix.split('/').at(-1)}`))].filter((path) => path !== null)
      const answers: Answer[] = []
      for (const path of paths) answers.push(await caller.call(operation, path, bodyOf(operation)))
      const [first] = answers
      if (first!.status !== 404) find(`${varied} that nothing has is not 404`, first)
      for (const [i, answer] of answers.entries()) if (answer.status !== first!.status || answer.text !== first!.text) find(`${paths[i]} is answered in another way than ${paths[0]}: ${first!.text.slice(0, 200)}`, answer)
      for (const answer of answers) {
        const named = (headers: Headers) => [...headers].filter(([name]) => name !== 'x-request-id').map(String).join()
        if (named(answer.headers) !== named(first!.headers)) find('has other headers', answer)
      }
    }
  }))
})

describe('requests and answers', () => {
  test('a method that a path does not have is 405 with the ones that it has', async () => {
    const templates = Object.entries(document.paths as Record<string, Json>).map(([path, methods]) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`), methods: Object.keys(methods).map((method) => method.toUpperCase()) }))
    for (const { path, methods } of templates) {
      const concrete = fill(path, (name) => WORDS[name] ?? nobody())
      const possible = new Set(templates.filter(({ pattern }) => pattern.test(concrete)).flatMap((template) => template.methods))
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((name) => !possible.has(name))) {
        const answer = await app.send(method, concrete, undefined, { key: shop.keys.admin })
        expect([answer.status, errorProblem(answer)], `${method} ${path}`).toEqual([405, null])
        expect(answer.headers.get('allow')!.split(', ').filter((name) => name !== 'HEAD').toSorted(), `${method} ${path}`).toEqual(methods.toSorted())
      }
    }
  })

  test('an unknown path is 404 with an error', async () => {
    for (const path of ['/no-such-thing', '/products/a/b/c/d/e', '/', '', '/%2e%2e/x']) {
      const answer = await app.send('GET', path, undefined, { key: shop.keys.admin })
      expect([answer.status, errorProblem(answer)], path).toEqual([404, null])
    }
  })

  test('a request id comes back when it is a good one, and is made when it is not', () => each(operations, async (operation, find) => {
    for (const [sent, echoed] of [['a.B-9_z', true], ['x'.repeat(128), true], ['x'.repeat(129), false], ['has space', false], ['semi;colon', false]] as const) {
      const { headers } = await app.send(operation.method, nowhere(operation), operation.body?.example, { headers: { 'x-request-id': sent } })
      const id = headers.get('x-request-id')
      if (!id || (id === sent) !== echoed) find(`${sent} comes back as ${id}`)
    }
  }))

  test('every single resource has an ETag, and 304 for it', () => each(keyed.filter(({ method }) => method === 'GET'), async (operation, find) => {
    const path = `${somewhere(operation)}?${operation.needed}`
    const first = await caller.call(operation, path)
    if (first.status !== 200) return
    const etag = first.headers.get('etag')
    if (!etag) return find('has no ETag', first)
    const again = await caller.call(operation, path, undefined, { headers: { 'if-none-match': etag } })
    if (again.status !== 304 && again.headers.get('etag') === etag) find('is not 304', again)
  }))

  test('If-Match with a stale ETag is 412 and changes nothing', () => each(keyed.filter(({ method, path, params }) => ['PATCH', 'PUT', 'DELETE'].includes(method) && params.length && keyed.some((read) => read.method === 'GET' && read.path === path)), async (operation, find) => {
    const path = somewhere(operation)
    const before = await app.send('GET', path, undefined, { key: shop.keys.admin })
    if (before.status !== 200) return
    const answer = await caller.call(operation, path, bodyOf(operation), { headers: { 'if-match': '"stale"' } })
    if (answer.status !== 412) find('is not 412', answer)
    if ((await app.send('GET', path, undefined, { key: shop.keys.admin })).text !== before.text) find('changed something')
  }))

  test('a POST with an Idempotency-Key comes again as it was, and another body under it is 422', () => each(keyed.filter(({ method, isUpload }) => method === 'POST' && !isUpload), async (operation, find) => {
    const key = `contract-${operation.id}`
    const path = nowhere(operation)
    const post = (body: unknown, idempotencyKey = key) => shop.call('POST', path, body, { headers: { 'idempotency-key': idempotencyKey } })
    const body = bodyOf(operation)
    const [first, again] = [await post(body), await post(body)]
    if (first.status >= 500 || first.status === 422) find('fails', first)
    if (again.status !== first.status || again.text !== first.text) find(`answers otherwise the second time than ${first.status} ${first.text.slice(0, 100)}`, again)
    if (first.status !== 400 && again.headers.get('idempotent-replayed') !== 'true') find('does not say that it comes again', again)
    if (operation.body && first.status !== 400) {
      const other = await post({ ...body as object, contract: 1 })
      if (other.status !== 422 || errorProblem(other)) find('takes another body under the same key', other)
    }
    for (const wrong of ['', 'x'.repeat(256)]) {
      const answer = await post(body, wrong)
      if (answer.status !== 400 || errorProblem(answer)) find(`takes a key of ${wrong.length} characters`, answer)
    }
  }))

  test('HEAD answers as GET does, without a body', () => each(keyed.filter(({ method }) => method === 'GET'), async (operation, find) => {
    const path = somewhere(operation)
    const [get, head] = [await app.send('GET', path, undefined, { key: shop.keys.admin }), await app.send('HEAD', path, undefined, { key: shop.keys.admin })]
    if (head.status !== get.status || head.text !== '') find('is another answer', head)
  }))
})

test('the rate limit is shown on every answer, and refuses with 429', async () => {
  const limited = await testApp({ rate: { perSecond: 1, burst: 60 } })
  try {
    const store = await limited.newStore()
    const some = operationsOf((await limited.send('GET', '/openapi')).body).filter(({ isPublic }) => !isPublic).slice(0, 60)
    for (const operation of some) {
      const { headers, status } = await limited.send(operation.method, nowhere(operation), undefined, { key: store.keys.storefront, raw: operation.body ? '{' : undefined })
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
  expect(caller.calls).toBeGreaterThan(operations.length)
  caller.verify()
})
