/** The way of a request, where no resource shows it: what counts before a store is known, clients that hang up, and writes that hang. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { Pipeline } from '../../api/http/pipeline.ts'
import { resource } from '../../api/http/route.ts'
import { Named, Type } from '../../api/http/schema.ts'
import { createLog, type Log } from '../../api/server/log.ts'
import { Metrics } from '../../api/server/metrics.ts'
import { RateLimiter, SUBMISSIONS_RATE } from '../../api/server/rate-limit.ts'
import { Readiness } from '../../api/server/readiness.ts'
import { imageImport } from '../../api/content/media/image-import.ts'
import { lookAtWrites, slowWrites } from '../../db/watchdog.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

let app: TestApp
let shop: TestStore
let log: Log
const lines: Record<string, unknown>[] = []
beforeAll(async () => {
  log = createLog('warn', {
    write: (text: string) =>
      void lines.push(
        ...text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ),
  } as never)
  app = await testApp({ log, metrics: true })
  shop = await app.newStore()
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => app.close())

/** A pipeline of one route without a key, which counts what is sent in before it knows whose store it is about. */
function counting() {
  const Sent = Named('Sent', { ok: Type.Literal(true) })
  const routes = resource('store', '/sent').post(
    '',
    {
      operationId: 'send',
      summary: 'Send',
      scope: 'public',
      responses: { 200: Sent },
      async owner(call) {
        call.countSubmission()
        return { storeId: shop.store.id, environment: 'live' as const }
      },
    },
    (call) => {
      call.countSubmission()
      return { ok: true as const }
    },
  ).routes
  const { services, handles } = app
  const [silent, limiter] = [createLog('silent'), new RateLimiter({ perSecond: 1_000, burst: 1_000 })]
  const submissions = new RateLimiter(SUBMISSIONS_RATE)
  const visitors = {
    limiter,
    shoppers: null,
    guesses: limiter,
    submissions,
    relayed: limiter,
    isForwarded: () => true,
    clientOf: () => 'one',
  }
  const about = { images: imageImport, metrics: new Metrics(), limiter: null, rememberedBytes: 0, checkAnswers: true, contentUrl: '' }
  const readiness = new Readiness({ handles, folders: [], log: silent })
  const pipeline = new Pipeline({ ...about, services, handles, log: silent, visitors, readiness, after: () => {} }, routes)
  return () => pipeline.answer(routes[0]!, new Request('http://localhost/api/v1/sent', { method: 'POST' }), {})
}

test('what a stranger sends in is counted before it is known whose store it is about', async () => {
  const send = counting()
  const statuses: number[] = []
  for (let i = 0; i <= SUBMISSIONS_RATE.burst; i++) statuses.push((await send()).status)
  expect(statuses).toEqual([...Array.from({ length: SUBMISSIONS_RATE.burst }, () => 200), 429])
})

test('a HEAD request ends with its client', async () => {
  const made: Request[] = []
  const Original = Request
  vi.stubGlobal(
    'Request',
    class extends Original {
      constructor(...given: ConstructorParameters<typeof Request>) {
        super(...given)
        made.push(this)
      }
    },
  )
  const client = new AbortController()
  const headers = { authorization: `Bearer ${shop.keys.admin}` }
  const sent = new Original('http://localhost/api/v1/me', { method: 'HEAD', headers, signal: client.signal })
  const answered = app.app.fetch(sent)
  vi.unstubAllGlobals()
  expect((await answered).status).toBe(200)
  expect(made.map(({ method, signal }) => [method, signal.aborted])).toEqual([['GET', false]])
  client.abort()
  expect(made[0]!.signal.aborted).toBe(true)
})

test('a request whose write hangs is answered 503 after a minute, and the log and the metrics tell which it was', async () => {
  const { registry } = app
  const asked = Promise.withResolvers<void>()
  vi.spyOn(registry, 'change').mockImplementation(() => {
    asked.resolve()
    return new Promise(() => {})
  })
  const hung = shop.call('POST', '/api-keys', { name: 'Till' }, { headers: { 'idempotency-key': 'once' } })
  await asked.promise
  const { ended } = slowWrites()
  for (let i = 0; i < 10; i++) lookAtWrites()
  const metrics = async () => (await app.app.fetch(new Request('http://localhost/metrics'))).text()
  expect(await metrics()).toMatch(/^stoa_slow_writes 1$/m)
  for (let i = 0; i < 60; i++) lookAtWrites()
  const { status, body, headers } = await hung
  expect([status, body.error, headers.get('retry-after')]).toEqual([
    503,
    'the change took too long and was ended: nothing of it was made',
    '10',
  ])
  expect(await metrics()).toMatch(new RegExp(`^stoa_slow_writes 0\\n[^]*^stoa_ended_writes ${ended + 1}$`, 'm'))
  log.flush()
  const told = lines.filter(({ message }) => String(message).includes('a write'))
  expect(told.map(({ message, route, storeId, environment }) => [message, route, storeId, environment])).toEqual(
    ['a write holds its store', 'a write was ended that held its store'].map((message) => [
      message,
      'POST /api-keys',
      shop.store.id,
      'live',
    ]),
  )
  vi.restoreAllMocks()
  // The same request can be sent again: of what was ended nothing is left.
  const again = await shop.call('POST', '/api-keys', { name: 'Till' }, { headers: { 'idempotency-key': 'once' } })
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null])
})
