/** What every operation may answer because of checks that all share: each such status stands in the document, and each header as it is taken. */
import { afterAll, describe, test } from 'vitest'
import { testApp, type Answer } from '../harness.ts'
import { fill, nobody, resolve, WORDS, type Json, type Operation } from './operations.ts'
import { each, nowhere, world } from './world.ts'

const { app, document, operations, shop, bodyOf } = await world()
afterAll(() => app.close())
const [starter, quiet] = [await app.newStore({ plan: 'starter' }), await app.newStore({ plan: 'scale' })]
await quiet.call('PATCH', '/settings', {
  tools: { events: false, bookings: false, reviews: false, blog: false, loyalty: false, wishlist: false },
})
const unfit = await shop.keyWith('ai:write')

/** Sends an operation with the admin key, at a path that leads nowhere and with the body of its example, unless told otherwise. */
function ask(
  operation: Operation,
  headers: Record<string, string> = {},
  { key = shop.keys.admin, path = nowhere(operation), body = bodyOf(operation) } = {},
) {
  return app.send(operation.method, `${path}${operation.needed && `?${operation.needed}`}`, body, { key, headers })
}

const withQuery = (operation: Operation) => Object.keys(operation.query).map((name) => `${nowhere(operation)}?${name}=%00&${name}=1`)
const broken = (operation: Operation) =>
  operation.params.map((varied) =>
    fill(operation.path, (name) => (name === varied ? '%' : (WORDS[name] ?? nobody()))).replace('%25', '%zz'),
  )

/** What makes a common check refuse, or answer by itself; an operation that has no such check answers something else. */
const PROVOKED: Record<string, (operation: Operation) => Promise<Answer>[]> = {
  'a wrong key': (operation) => [ask(operation, {}, { key: 'sk-wrong' })],
  'a key without the scope': (operation) => [ask(operation, {}, { key: unfit })],
  'the smallest plan': (operation) => [ask(operation, {}, { key: starter.keys.admin })],
  'tools that are off': (operation) => [ask(operation, {}, { key: quiet.keys.admin })],
  'a missing thing': (operation) => [ask(operation)],
  'an Idempotency-Key that is none': (operation) => [ask(operation, { 'idempotency-key': 'x'.repeat(256) })],
  'a stale ETag': (operation) => [ask(operation, { 'if-match': '"stale"' })],
  'any ETag': (operation) => [ask(operation, { 'if-none-match': '*' })],
  'a body that is no JSON': (operation) => [app.send(operation.method, nowhere(operation), undefined, { key: shop.keys.admin, raw: '{"' })],
  'a body of another type': (operation) => [
    app.send(operation.method, nowhere(operation), undefined, { key: shop.keys.admin, raw: 'a', headers: { 'content-type': 'text/csv' } }),
  ],
  'a large body': (operation) => [ask(operation, {}, { body: { a: 'x'.repeat(1_100_000) } })],
  'nonsense for each parameter': (operation) =>
    withQuery(operation).map((path) => app.send(operation.method, path, bodyOf(operation), { key: shop.keys.admin })),
  'a broken escape in the path': (operation) => broken(operation).map((path) => ask(operation, {}, { path })),
}

describe('every status that a common check answers stands in the document', () => {
  test.each(Object.entries(PROVOKED))('%s', (_, provoke) =>
    each(operations, async (operation, find) => {
      for (const answer of await Promise.all(provoke(operation)))
        if (!operation.statuses.has(answer.status)) find('does not name the status', answer)
    }),
  )

  test('an Idempotency-Key with another body', () =>
    each(
      operations.filter(({ method, body }) => method === 'POST' && body),
      async (operation, find) => {
        const headers = { 'idempotency-key': `statuses-${operation.id}` }
        const path = nowhere(operation)
        for (const body of [bodyOf(operation), { ...bodyOf(operation), more: 1 }]) {
          const answer = await ask(operation, headers, { path, body })
          if (!operation.statuses.has(answer.status)) find('does not name the status', answer)
        }
      },
    ))

  test('a key, or a client without one, that asks too often', async () => {
    const limited = await testApp({ rate: { perSecond: 0.001, burst: 1 } })
    try {
      const { keys } = await limited.newStore()
      await limited.send('GET', '/me', undefined, { key: keys.admin })
      await each(operations, async (operation, find) => {
        const { status } = await limited.send(operation.method, nowhere(operation), undefined, {
          key: operation.isPublic ? null : keys.admin,
        })
        if (!operation.isPublic && status !== 429) find(`answers ${status}`)
        if (!operation.statuses.has(429)) find('does not name 429')
      })
    } finally {
      await limited.close()
    }
  })
})

describe('the document describes headers as they are taken', () => {
  const sent = (schema: Json): { fitting: string[]; unfit: string[] } => {
    const strange = ['a b', 'ä', '"', ',,', 'W/"1"', '*', 'x'.repeat(100)]
    const takes = (value: string) =>
      value.length >= (schema.minLength ?? 0) &&
      value.length <= (schema.maxLength ?? Infinity) &&
      (!schema.pattern || new RegExp(schema.pattern, 'u').test(value))
    const all = [...strange, 'x'.repeat(300), '']
    return { fitting: all.filter(takes), unfit: all.filter((value) => !takes(value)) }
  }

  test('what the schema of a header takes is not refused for it, and what it does not take is', () =>
    each(
      operations.filter(({ isUpload }) => !isUpload),
      async (operation, find) => {
        const about = document.paths[operation.path][operation.method.toLowerCase()]
        for (const parameter of about.parameters
          .map((each: Json) => resolve(document, each))
          .filter((each: Json) => each.in === 'header')) {
          const path = nowhere(operation)
          const plain = await ask(operation, {}, { path, body: {} })
          const { fitting, unfit } = sent(parameter.schema)
          for (const value of fitting) {
            const answer = await ask(operation, { [parameter.name]: Buffer.from(value).toString('latin1') }, { path, body: {} })
            if (answer.status !== plain.status && ![304, 412, 422].includes(answer.status))
              find(`${parameter.name}: ${value} changes ${plain.status}`, answer)
          }
          for (const value of unfit) {
            const answer = await ask(operation, { [parameter.name]: Buffer.from(value).toString('latin1') }, { path, body: {} })
            if (answer.status !== 400) find(`${parameter.name}: ${value.slice(0, 20)} is taken`, answer)
          }
        }
      },
    ))
})
