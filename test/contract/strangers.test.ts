/** Bodies of strangers, at every operation that takes no key (document 3: at most 64 KB, uploads aside), and what JSON costs to read. */
import { afterAll, describe, expect, test } from 'vitest'
import { orderOfLink, reviewLinks } from '../../api/orders/mails/review-link.ts'
import { parsed, storable } from '../../api/http/input/json.ts'
import { parser } from '../../api/http/input/check.ts'
import { Notes } from '../../api/http/input/notes.ts'
import { Type } from '../../api/http/schema.ts'
import { newToken } from '../../api/store/links/link-token.ts'
import { fill, nobody, type Operation } from './operations.ts'
import { world } from './world.ts'

const { app, operations, shop } = await world()
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.app.fetch })
afterAll(async () => {
  await server.stop(true)
  await app.close()
})

const MOST = 65_536
const owner = { storeId: shop.store.id, environment: 'live' as const }
const review = reviewLinks(app.services, owner, nobody()).write.split('/').at(-1)!
const keyless = operations.filter(({ isPublic, method }) => isPublic && method !== 'GET')
/** A path whose token names the store, so that nothing but the body stands against it. */
const pathOf = ({ path }: Operation) =>
  fill(path, (name) => (name !== 'token' ? nobody() : path.startsWith('/reviews') ? review : newToken(owner)))

async function send({ method }: Operation, path: string, body: BodyInit, type: string | null = 'application/json') {
  const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1${path}`, {
    method,
    body,
    headers: type === null ? {} : { 'content-type': type },
  })
  const text = await answer.text()
  return { status: answer.status, error: text.startsWith('{') ? String(JSON.parse(text).error) : text }
}

/** A body that does not say how long it is. */
const inPieces = (text: string) => new Response(text).body!

test('there are operations without a key that change something', () => {
  expect(orderOfLink(app.services, review)).toMatchObject(owner)
  expect(keyless.map(({ id }) => id)).toEqual(expect.arrayContaining(['receiveStripeEvent', 'acceptTeamInvitation', 'replyToSupportCase']))
})

/** A test of operations that it is about: of the others there is nothing to skip. */
const where = (applies: unknown) => (title: string, work: () => Promise<void>) => void (applies && test(title, work))

describe.each(keyless.map((operation) => [operation.title, operation] as const))('%s', (_, operation) => {
  const isRead = operation.body !== null || operation.id === 'receiveStripeEvent'
  const json = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`

  where(!operation.form)('takes no body that declares one byte more than 64 KB', async () => {
    const { status, error } = await send(operation, pathOf(operation), json(MOST + 1))
    expect([status, error]).toEqual([413, `the body is larger than ${MOST} bytes`])
    expect((await send(operation, pathOf(operation), json(MOST))).status).not.toBe(413)
  })

  // Without Stripe there is nothing whose signature could match: its own test has one.
  where(isRead && operation.id !== 'receiveStripeEvent')('reads no further than 64 KB of one that declares nothing', async () => {
    const { status, error } = await send(operation, pathOf(operation), inPieces(json(MOST + 1)))
    expect([status, error]).toEqual([413, `the body is larger than ${MOST} bytes`])
  })

  where(operation.body)('takes no nesting without end', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
    expect(await send(operation, pathOf(operation), deep)).toEqual({ status: 400, error: expect.stringContaining('100 levels') })
  })

  where(operation.form)('takes 64 KB of fields in a form beside its file', async () => {
    const form = new FormData()
    form.set('message', 'x'.repeat(MOST))
    const { status, error } = await send(operation, pathOf(operation), form, null)
    expect([status, error]).toEqual([413, `the fields of the form are larger than ${MOST} bytes`])
  })

  where(operation.id === 'writeOrderReview')('takes a form without a file as a body like any other', async () => {
    const form = new FormData()
    form.set('content', 'x'.repeat(MOST))
    const { status, error } = await send(operation, pathOf(operation), form, null)
    expect([status, error]).toEqual([413, `the body is larger than ${MOST} bytes`])
  })
})

describe('what reading JSON costs grows with its length alone', () => {
  /** The least of some runs, in ms. */
  const timed = (fn: () => unknown) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const started = performance.now()
        fn()
        return performance.now() - started
      }),
    )
  const EMPTIES = `[${'[],'.repeat(340_000)}`

  test('one escape in a megabyte costs no more than the megabyte', () => {
    const [plain, escaped] = ['"A"]', '"\\u0041"]'].map((end) => timed(() => storable(EMPTIES + end)))
    expect(escaped! / plain!).toBeLessThan(3)
  })

  test.each([
    ['NUL', '\\u0000'],
    ['half a character', '\\ud800'],
    ['the other half', '\\udc00'],
    ['two first halves', '\\ud83d\\ud83d'],
    ['a half before something else', '\\ud83d\\n'],
    ['one behind an escaped backslash', '\\\\\\u0000'],
  ])('%s is refused by field', (_, escape) => {
    expect(() => storable(`{"a":[1,{"b":"x${escape}y"}]}`)).toThrow('a.1.b: must be well-formed')
    expect(() => storable(`{"x${escape}":1}`)).toThrow('must be well-formed')
  })

  test.each(['\\ud83d\\ude00', '\\\\u0000', '\\\\\\\\ud800', '\\u00e9\\t\\"\\u0001'])('%s is text', (text) => {
    expect(storable(`{"a":"${text}"}`)).toEqual({ a: JSON.parse(`"${text}"`) })
  })

  test('depth is counted before anything is parsed', () => {
    expect(() => parsed('['.repeat(100_000))).toThrow('nests deeper than 100 levels')
    const names = (count: number) => `{${Array.from({ length: count }, (_, n) => `"a${n}":":"`).join()}}`
    expect(Object.keys(parsed(names(20_000)) as object)).toHaveLength(20_000)
    expect(() => parsed(names(20_001))).toThrow('more than 20000 names')
    expect(parsed(`${'['.repeat(100)}${']'.repeat(100)}`)).toBeTruthy()
  })

  test('fields that nobody knows are named up to fifty, however many come', () => {
    const known = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`field${i}`, Type.Optional(Type.String())]))
    const strict = parser(Type.Object(known, { additionalProperties: false }))
    const sent = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`name${i}`, 1]))
    const refused = (count: number) => {
      try {
        strict.parse(sent(count), new Notes())
      } catch (error) {
        return (error as { extra: { details: { keys: string[] }[] } }).extra.details
      }
    }
    expect(refused(80_000)).toEqual([expect.objectContaining({ code: 'unrecognized_keys', keys: expect.any(Array) })])
    expect(refused(80_000)![0]!.keys).toHaveLength(50)
    const [few, many] = [sent(4_000), sent(80_000)].map((body) => timed(() => expect(() => strict.parse(body, new Notes())).toThrow()))
    expect(many! / few!).toBeLessThan(100)
  })
})
