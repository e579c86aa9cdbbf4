/** Feedback sessions (documents 2, 3 and 7): their states, the review behind the link, the tasks that comments become, and a real preview. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { byRules } from '../../api/builder/feedback/instruction.ts'
import { processComments } from '../../api/builder/feedback/process-job.ts'
import { hashOf, usualMs } from '../../api/builder/feedback/session.ts'
import { clearDeployments } from '../../api/builder/publishing/housekeeping.ts'
import { newToken, ownerOfToken } from '../../api/store/links/link-token.ts'
import { deployments } from '../../db/control/tables.ts'
import { builds, feedbackComments, feedbackSessions, publishes, SESSION_STATUSES } from '../../db/store/builder.ts'
import { jobs } from '../../db/store/store.ts'
import type { Db } from '../../db/driver.ts'
import { testApp, type Answer, type CallOptions, type TestApp, type TestStore } from '../harness.ts'
import { openShop, type PublishedShop } from './published.ts'

type Status = (typeof SESSION_STATUSES)[number]
const ENDED: readonly Status[] = ['done', 'canceled', 'interrupted']
const DAY_MS = 86_400_000

let app: TestApp
beforeAll(async () => {
  app = await testApp({ visitorRate: { perSecond: 1_000, burst: 1_000 } })
})
afterAll(() => app.close())

interface Shop extends TestStore {
  get(path?: string, options?: CallOptions): Promise<Answer>
  post(path?: string, options?: CallOptions): Promise<Answer>
  tell(fn: (tx: Db) => Promise<unknown>): Promise<void>
}

async function newShop(input: Parameters<TestApp['newStore']>[0] = {}): Promise<Shop> {
  const store = await app.newStore({ aiBuilt: true, ...input })
  return {
    ...store,
    get: (path = '', options) => store.call('GET', `/feedback-sessions${path}`, undefined, options),
    post: (path = '', options) => store.call('POST', `/feedback-sessions${path}`, undefined, options),
    tell: (fn) => app.handles.use(store.store.id, 'live', (handle) => handle.write(async (tx) => void (await fn(tx)))),
  }
}

/** Puts a session into a state, as if everything before it had happened. */
const put = (shop: Shop, id: string, status: Status) =>
  shop.tell((tx) =>
    tx
      .update(feedbackSessions)
      .set({ status, active: ENDED.includes(status) ? null : 1 })
      .where(eq(feedbackSessions.id, id)),
  )

/** A session in a state, with the token of its link. */
async function session(shop: Shop, status: Status = 'in_progress'): Promise<{ id: string; token: string }> {
  const { status: answered, body, text } = await shop.post()
  expect(answered, text).toBe(201)
  if (status !== 'created') await put(shop, body.id, status)
  return { id: body.id, token: body.feedbackUrl.split('/').at(-1) }
}

let clients = 0
/** A browser of a reviewer: an address, and the cookies that it was given. */
function reviewer(token: string, client = `reviewer-${++clients}`) {
  let cookie: string | null = null
  return {
    client,
    get cookie() {
      return cookie
    },
    async send(method: string, below = '', body?: unknown, headers: Record<string, string> = {}) {
      const response = await app.app.fetch(
        new Request(`http://localhost/feedback/${token}${below}`, {
          method,
          headers: {
            'x-client': client,
            ...(cookie ? { cookie } : {}),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
        }),
      )
      const set = response.headers.get('set-cookie')
      if (set) cookie = set.split(';')[0]!
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.includes('json')
      return { status: response.status, headers: response.headers, text, body: isJson && text ? JSON.parse(text) : null, set }
    },
  }
}
const PIN = { selector: '#main > h1', x: 0.5, y: 0.25, viewportWidth: 390, element: 'heading “Linen shirt”' }
const COMMENT = { content: 'Make it bigger.', pagePath: '/products/linen-shirt', pin: PIN }

describe('sessions', () => {
  test('begin as created, with a link of their own, and are listed newest first', async () => {
    const shop = await newShop()
    expect((await shop.get()).body).toEqual({ data: [], meta: { count: 0, offset: 0, limit: 50 } })
    const { status, body } = await shop.post()
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      status: 'created',
      feedbackUrl: expect.stringMatching(/^https:\/\/api\.shop\.example\/feedback\/[\w-]{44}$/),
      deploymentUrl: null,
      errorMessage: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const token = body.feedbackUrl.split('/').at(-1)
    const [row] = await app.handles.use(shop.store.id, 'live', ({ read }) => read.select().from(feedbackSessions))
    expect(row!.tokenHash).toBe(hashOf(token))
    expect(JSON.stringify(row)).not.toContain(token)
    const detail = (await shop.get(`/${body.id}`)).body
    expect(detail).toEqual({ ...body, progress: { total: 3, done: 0, fillPct: 0, label: 'Waiting for other builds', eta: null } })
    await put(shop, body.id, 'done')
    const second = await session(shop)
    const { data, meta } = (await shop.get('?limit=1')).body
    expect([data.map(({ id }: any) => id), meta]).toEqual([[second.id], { count: 2, offset: 0, limit: 1 }])
    expect((await shop.get('?offset=1')).body.data[0].id).toBe(body.id)
    expect((await shop.get('?status=done')).body).toMatchObject({ data: [{ id: body.id }], meta: { count: 1 } })
    for (const query of ['limit=0', 'limit=101', 'status=open', 'offset=-1']) expect((await shop.get(`?${query}`)).status).toBe(400)
  })

  test('estimate their end by the earlier builds of the store: previews rather than others', async () => {
    const shop = await newShop()
    const now = new Date().toISOString()
    const build = (kind: 'publish' | 'preview', ms: number) => ({ id: Bun.randomUUIDv7(), kind, changes: 0, pages: 1, ms, createdAt: now })
    await shop.tell((tx) => tx.insert(builds).values(build('publish', 60_000)))
    const { id } = await session(shop, 'created')
    const { createdAt, progress } = (await shop.get(`/${id}`)).body
    expect(Date.parse(progress.eta) - Date.parse(createdAt)).toBe(60_000)
    await shop.tell((tx) => tx.insert(builds).values([build('preview', 9_000), build('preview', 5_000), build('preview', 7_000)]))
    expect(await app.handles.use(shop.store.id, 'live', ({ read }) => usualMs(read))).toBe(7_000)
  })

  test('are for AI-built stores and their live keys; others get 400, and have none to read', async () => {
    const plain = await newShop({ aiBuilt: false })
    expect(await plain.post()).toMatchObject({ status: 400, body: { error: expect.stringContaining('AI-built') } })
    expect((await plain.get()).body.data).toEqual([])
    const shop = await newShop()
    expect((await shop.post('', { key: shop.keys.staging })).status).toBe(400)
    expect((await shop.get('', { key: shop.keys.staging })).body.data).toEqual([])
    expect((await shop.post('', { key: await shop.keyWith('catalog:write') })).status).toBe(403)
    expect((await shop.post('', { key: null })).status).toBe(401)
  })

  test('twenty that begin at once are one', async () => {
    const shop = await newShop()
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.post()))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(19).fill(409)])
    expect((await shop.get()).body.meta.count).toBe(1)
  })

  test('do not begin while a publish runs, and nothing is published while one is active', async () => {
    const shop = await newShop()
    const now = new Date().toISOString()
    const running = {
      ...{ id: Bun.randomUUIDv7(), status: 'building' as const, running: 1, commitSha: 'a', savedChanges: false },
      ...{ deploymentId: null, reason: null, createdAt: now, updatedAt: now },
    }
    await shop.tell((tx) => tx.insert(publishes).values(running))
    expect(await shop.post()).toMatchObject({ status: 409, body: { error: expect.stringContaining('publish') } })
    await shop.tell((tx) => tx.update(publishes).set({ running: null, status: 'failed' }))
    const { id } = await session(shop)
    expect((await shop.call('POST', '/publish')).status).toBe(409)
    await shop.post(`/${id}/finalize`)
    await session(shop)
  })

  test('move on as the table says, and refuse everything else with their state', async () => {
    const shop = await newShop()
    const allowed: Record<string, Partial<Record<Status, Status>>> = {
      cancel: { created: 'canceled' },
      finalize: { in_progress: 'done', task_review: 'done', processing: 'done', in_review: 'done' },
      process: { task_review: 'processing' },
      submit: { in_progress: 'task_review' },
    }
    const { id, token } = await session(shop)
    for (const [name, moves] of Object.entries(allowed))
      for (const status of SESSION_STATUSES) {
        await put(shop, id, status)
        const answer = name === 'submit' ? await reviewer(token).send('POST', '/submit') : await shop.post(`/${id}/${name}`)
        const after = (await shop.get(`/${id}`)).body.status
        expect([name, status, answer.status, after]).toEqual([name, status, moves[status] ? 200 : 409, moves[status] ?? status])
        if (moves[status]) expect(answer.body.status).toBe(moves[status])
        else if (name !== 'submit') expect(answer.body.error).toContain(status)
        // What the moves have enqueued is not what this is about.
        await shop.tell((tx) => tx.delete(jobs))
      }
  })

  test('of other stores are not there, in the same words as those that nobody has', async () => {
    const [shop, other] = [await newShop(), await newShop()]
    const { id } = await session(other)
    for (const path of ['', '/comments']) {
      const [theirs, nobodys] = [await shop.get(`/${id}${path}`), await shop.get(`/${Bun.randomUUIDv7()}${path}`)]
      expect([theirs.status, theirs.body.error]).toEqual([404, nobodys.body.error])
    }
    for (const action of ['cancel', 'finalize', 'process']) expect((await shop.post(`/${id}/${action}`)).status).toBe(404)
    expect((await other.get(`/${id}`)).body.status).toBe('in_progress')
  })
})

describe('a review', () => {
  test('takes comments, shows whose they are, and lets their writers alone delete them', async () => {
    const shop = await newShop()
    const { id, token } = await session(shop)
    const [ada, grace] = [reviewer(token), reviewer(token)]
    const page = await ada.send('GET', '', undefined, { accept: 'text/html' })
    expect(page.set).toMatch(/^feedback=[\w-]{27}; Path=\/feedback; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/)
    const first = await ada.send('POST', '/comments', { ...COMMENT, author: ' Ada ' })
    expect([first.status, first.set]).toEqual([201, null])
    expect(first.body).toEqual({ id: expect.any(String), ...COMMENT, author: 'Ada', createdAt: expect.any(String), mine: true })
    const second = await grace.send('POST', '/comments', { content: 'Nice', pagePath: '/' })
    expect(second.set).toContain('feedback=')
    const seen = (await grace.send('GET', '/comments')).body
    expect(seen).toMatchObject({ meta: { count: 2 }, status: 'in_progress' })
    expect(seen.data.map(({ mine }: any) => mine)).toEqual([false, true])
    // What the merchant reads has no places, and no cookies.
    expect((await shop.get(`/${id}/comments`)).body).toEqual({
      data: [
        {
          ...{ id: first.body.id, content: 'Make it bigger.', author: 'Ada', pagePath: '/products/linen-shirt' },
          ...{ status: 'open', taskInstruction: null, createdAt: expect.any(String) },
        },
        expect.objectContaining({ content: 'Nice', author: null }),
      ],
      meta: { count: 2 },
    })
    for (const who of [grace, reviewer(token)]) expect((await who.send('DELETE', `/comments/${first.body.id}`)).status).toBe(404)
    expect((await ada.send('DELETE', `/comments/${first.body.id}`)).status).toBe(200)
    expect((await ada.send('DELETE', `/comments/${first.body.id}`)).status).toBe(404)
    expect((await ada.send('DELETE', '/comments/nothing')).status).toBe(404)
    expect((await ada.send('GET', '/comments')).body.meta.count).toBe(1)
  })

  test('is its own page alone: with a policy, without a referrer, kept nowhere', async () => {
    const shop = await newShop({ name: '<b>Shop</b> & "co"' })
    const { token } = await session(shop)
    const { status, headers, text } = await reviewer(token).send('GET')
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-robots-tag')).toContain('noindex')
    const policy = headers.get('content-security-policy')!
    expect(policy).toContain('frame-src https://*.localhost:3000;')
    expect(policy).not.toContain('unsafe')
    expect(policy).toContain("frame-ancestors 'none'")
    const [, style] = /<style>([\s\S]*)<\/style>/.exec(text)!
    expect(policy).toContain(`'sha256-${new Bun.CryptoHasher('sha256').update(style!).digest('base64')}'`)
    expect(text).toContain('&lt;b&gt;Shop&lt;/b&gt; &amp; &quot;co&quot;')
    expect(text).not.toContain('<b>Shop')
    expect((await reviewer(token).send('HEAD')).text).toBe('')
    const script = /src="(\/feedback\/review\.js\?v=\w+)"/.exec(text)![1]
    const answer = await app.app.fetch(new Request(`http://localhost${script}`))
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
  })

  test('is read alone in every other state', async () => {
    const shop = await newShop()
    const { id, token } = await session(shop)
    const ada = reviewer(token)
    const { body } = await ada.send('POST', '/comments', COMMENT)
    for (const status of SESSION_STATUSES.filter((one) => one !== 'in_progress')) {
      await put(shop, id, status)
      const who = reviewer(token)
      const page = await who.send('GET')
      expect([page.status, page.set, page.text.includes('id="compose"'), page.text.includes('id="submit"')]).toEqual([
        200,
        null,
        false,
        false,
      ])
      expect(page.text.includes('<iframe')).toBe(['task_review', 'processing', 'in_review'].includes(status))
      expect((await who.send('GET', '/comments')).body).toMatchObject({ status, meta: { count: 1 } })
      expect((await who.send('POST', '/comments', COMMENT)).status).toBe(409)
      expect((await reviewer(token).send('POST', '/submit')).status).toBe(409)
      const late = await app.app.fetch(
        new Request(`http://localhost/feedback/${token}/comments/${body.id}`, {
          method: 'DELETE',
          headers: { cookie: ada.cookie!, 'x-client': status },
        }),
      )
      expect(late.status).toBe(409)
    }
  })

  test('shows what was written as it was written, never as markup', async () => {
    const shop = await newShop()
    const { id, token } = await session(shop)
    const evil = `<script>alert(1)</script><img src=x onerror=alert(1)>"'&</textarea>`
    const who = reviewer(token)
    const sent = {
      content: evil,
      author: '<svg onload=alert(1)>',
      pagePath: '/"><script>',
      pin: { ...PIN, element: '<b>', selector: '"><i>' },
    }
    expect((await who.send('POST', '/comments', sent)).status).toBe(201)
    const { headers, body } = await who.send('GET', '/comments')
    expect([headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
      expect.stringContaining('application/json'),
      'nosniff',
    ])
    expect(body.data[0]).toMatchObject(sent)
    const { text } = await who.send('GET')
    expect(text).not.toContain('alert(1)')
    expect((await shop.get(`/${id}/comments`)).body.data[0].content).toBe(evil)
  })

  test.each<[string, unknown, number]>([
    ['no content', { pagePath: '/' }, 400],
    ['blank content', { content: ' \n ', pagePath: '/' }, 400],
    ['2,001 characters', { content: 'a'.repeat(2_001), pagePath: '/' }, 400],
    ['half a character', { content: '\ud800', pagePath: '/' }, 400],
    ['a NUL', { content: 'a\0b', pagePath: '/' }, 400],
    ['no page', { content: 'a' }, 400],
    ['a page elsewhere', { content: 'a', pagePath: 'https://evil.example/' }, 400],
    ['a host as a page', { content: 'a', pagePath: '//evil.example/' }, 400],
    ['a backslash', { content: 'a', pagePath: '/\\evil.example' }, 400],
    ['a name of 101 characters', { content: 'a', pagePath: '/', author: 'a'.repeat(101) }, 400],
    ['a name of two lines', { content: 'a', pagePath: '/', author: 'a\nb' }, 400],
    ['a pin without a place', { content: 'a', pagePath: '/', pin: { selector: 'a' } }, 400],
    ['a pin beside its element', { content: 'a', pagePath: '/', pin: { ...PIN, x: 1.01 } }, 400],
    ['a status', { content: 'a', pagePath: '/', status: 'processed' }, 400],
    ['a task', { content: 'a', pagePath: '/', taskInstruction: 'obey' }, 400],
    ['a list', [], 400],
    ['null', 'null', 400],
    ['no JSON', '{', 400],
    ['a prototype', '{"__proto__":{"content":"a"},"pagePath":"/"}', 400],
    ['40 KB', { content: 'a', pagePath: '/', pin: { ...PIN, element: 'a'.repeat(40_000) } }, 413],
  ])('refuses a comment with %s', async (_, body, status) => {
    const who = reviewer((await open()).token)
    const answer = await who.send('POST', '/comments', body)
    expect([answer.status, typeof answer.body.error]).toEqual([status, 'string'])
  })
  let shared: Promise<{ token: string }> | undefined
  const open = () => (shared ??= newShop().then((shop) => session(shop)))

  test('takes 2,000 characters, counted as characters', async () => {
    const { token } = await open()
    expect((await reviewer(token).send('POST', '/comments', { content: '🪡'.repeat(2_000), pagePath: '/' })).status).toBe(201)
  })

  test('does nothing for other sites, nor for what is no JSON', async () => {
    const { token } = await open()
    const send = (headers: Record<string, string>, method = 'POST', below = '/comments') =>
      reviewer(token).send(method, below, COMMENT, headers)
    expect((await send({ origin: 'https://evil.example' })).status).toBe(403)
    expect((await send({ origin: 'null' })).status).toBe(403)
    expect((await send({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await send({ origin: 'https://evil.example' }, 'POST', '/submit')).status).toBe(403)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a'])
      expect((await send({ 'content-type': type })).status).toBe(415)
    expect((await send({ origin: 'http://localhost' })).status).toBe(403)
    expect((await send({ origin: 'https://localhost' })).status).toBe(201)
    expect((await reviewer(token).send('PUT', '/comments', COMMENT)).headers.get('allow')).toBe('GET, POST')
    expect((await reviewer(token).send('GET', '/submit')).status).toBe(405)
  })

  test('reads a comment within the limits that every body of the API has', async () => {
    const { token } = await open()
    const send = async (content: string) => {
      const [method, url] = ['POST', `http://localhost/feedback/${token}/comments`]
      const headers = { 'content-type': 'application/json', 'x-client': 'limits' }
      const answer = await app.app.fetch(new Request(url, { method, headers, body: `{"pagePath":"/","content":${content}}` }))
      return [answer.status, (await answer.json()).error]
    }
    expect(await send('['.repeat(30_000))).toEqual([400, 'the body nests deeper than 100 levels'])
    expect(await send(`"${'x'.repeat(32_768)}"`)).toEqual([413, 'a comment has at most 32768 bytes'])
    expect(await send('"a\\ud800"')).toEqual([400, 'content: must be well-formed text without NUL'])
    expect(await send('"\\ud83e\\udea1"')).toEqual([201, undefined])
  })

  test('takes 20 comments of one address in a minute, and 500 in all', async () => {
    const shop = await newShop()
    const { id, token } = await session(shop)
    const who = reviewer(token)
    const answers = []
    for (let i = 0; i < 22; i++) answers.push(await who.send('POST', '/comments', COMMENT))
    expect(answers.slice(0, 20).every(({ status }) => status === 201)).toBe(true)
    expect(answers.at(-1)).toMatchObject({ status: 429 })
    expect(Number(answers.at(-1)!.headers.get('retry-after'))).toBeGreaterThan(0)
    const row = { sessionId: id, content: 'a', author: null, pagePath: '/', pin: null, visitor: 'a', status: 'open' as const }
    await shop.tell(async (tx) => {
      for (let i = 0; i < 479; i++)
        await tx
          .insert(feedbackComments)
          .values({ ...row, id: Bun.randomUUIDv7(), taskInstruction: null, createdAt: new Date().toISOString() })
    })
    // Of ten who send at once, one finds a place.
    const last = await Promise.all(Array.from({ length: 10 }, () => reviewer(token).send('POST', '/comments', COMMENT)))
    expect(last.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(409)])
    expect((await shop.get(`/${id}/comments`)).body.meta.count).toBe(500)
  })

  test('opens by its token alone: what is crafted, cut or of another store leads nowhere, and is counted', async () => {
    const [shop, other] = [await newShop(), await newShop()]
    const { token } = await session(shop)
    await session(other)
    const owner = { storeId: shop.store.id, environment: 'live' as const }
    const bytes = Buffer.from(token, 'base64url')
    const moved = Buffer.concat([Buffer.from(other.store.id.replaceAll('-', ''), 'hex'), bytes.subarray(16)]).toString('base64url')
    const sandboxed = Buffer.from(bytes)
    sandboxed[16] = 1
    expect(ownerOfToken(token)).toEqual(owner)
    const wrong = [
      newToken(owner),
      newToken({ ...owner, storeId: Bun.randomUUIDv7() }),
      moved,
      sandboxed.toString('base64url'),
      token.slice(1),
      `${token}A`,
      'x',
    ]
    for (const one of wrong) {
      const who = reviewer(one)
      const page = await who.send('GET', '', undefined, { accept: 'text/html' })
      expect([page.status, page.headers.get('content-type')]).toEqual([404, expect.stringContaining('text/html')])
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect((await who.send('GET', '/comments')).body).toEqual({ error: 'review not found' })
      expect((await who.send('POST', '/comments', COMMENT)).status).toBe(404)
      expect((await who.send('POST', '/submit')).status).toBe(404)
    }
    expect((await app.app.fetch(new Request('http://localhost/feedback/%2e%2e/x'))).status).toBe(404)
    for (let i = 0; i < 20; i++) await reviewer(newToken(owner), 'guesser').send('GET')
    const refused = await reviewer(token, 'guesser').send('GET')
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await reviewer(token, 'somebody else').send('GET')).status).toBe(200)
  })

  test('of a store that was deleted leads nowhere', async () => {
    const shop = await newShop()
    const { token } = await session(shop)
    await app.registry.deleteStore(shop.store.id)
    expect((await reviewer(token).send('GET')).status).toBe(404)
  })
})

describe('processing', () => {
  test('makes a task of each comment, tells how far it is, and ends in review', async () => {
    const shop = await newShop()
    const { id, token } = await session(shop)
    for (const comment of [COMMENT, { content: 'Blue. Not red!', pagePath: '/' }]) await reviewer(token).send('POST', '/comments', comment)
    expect((await reviewer(token).send('POST', '/submit')).body).toEqual({ ok: true, status: 'task_review' })
    await shop.tell((tx) => tx.delete(jobs))
    expect((await shop.post(`/${id}/process`)).body.status).toBe('processing')
    expect((await shop.get(`/${id}`)).body.progress).toEqual({
      total: 2,
      done: 0,
      fillPct: 0,
      label: '0 of 2 comments are tasks',
      eta: null,
    })
    await app.jobs.settleStore(shop.store.id, 'live')
    expect((await shop.get(`/${id}`)).body).toMatchObject({ status: 'in_review', progress: { total: 2, done: 2, fillPct: 100 } })
    expect((await shop.get(`/${id}/comments`)).body.data.map(({ status, taskInstruction }: any) => [status, taskInstruction])).toEqual([
      ['processed', 'On the page /products/linen-shirt, as phones show it, for the heading “Linen shirt”: Make it bigger.'],
      ['processed', 'On the home page, for the page as a whole: Blue; Not red.'],
    ])
    expect((await shop.post(`/${id}/finalize`)).body.status).toBe('done')
  })

  test('of a review without comments ends in review, too', async () => {
    const shop = await newShop()
    const { id } = await session(shop, 'task_review')
    await shop.tell((tx) => tx.delete(jobs))
    await shop.post(`/${id}/process`)
    await app.jobs.settleStore(shop.store.id, 'live')
    expect((await shop.get(`/${id}`)).body).toMatchObject({ status: 'in_review', progress: { total: 0, done: 0, fillPct: 100 } })
  })

  test('goes on where it was cut off, stops when it is finalized, and is never stuck', async () => {
    const shop = await newShop()
    const { id, token } = await session(shop)
    for (const content of ['One', 'Two', 'Three']) await reviewer(token).send('POST', '/comments', { content, pagePath: '/' })
    await put(shop, id, 'processing')
    let asked = 0
    const run = (signal: AbortSignal, wrong = false) =>
      app.handles.use(shop.store.id, 'live', (store) => {
        const instructor = {
          async instruct() {
            asked++
            if (wrong) throw new Error('it has no mood for that')
            return 'Do it.'
          },
        }
        const nothing = async () => {}
        const job = {
          store,
          storeId: shop.store.id,
          environment: 'live' as const,
          subject: id,
          clock: app.services.clock,
          signal,
          ending: signal,
          held: nothing,
          progress: nothing,
        }
        return processComments(instructor).run(job)
      })
    expect(await run(AbortSignal.abort())).toBe('interrupted')
    expect(asked).toBe(0)
    await expect(run(new AbortController().signal, true)).rejects.toThrow('mood')
    expect((await shop.get(`/${id}`)).body.status).toBe('processing')
    // Given up: what has no task is read as it is.
    await shop.tell((tx) =>
      processComments(byRules).givenUp!(tx, { clock: app.services.clock, now: new Date().toISOString() }, id, {
        error: 'no mood',
        told: null,
      }),
    )
    expect((await shop.get(`/${id}`)).body).toMatchObject({ status: 'in_review', errorMessage: expect.stringContaining('no mood') })
    asked = 0
    await put(shop, id, 'done')
    await run(new AbortController().signal)
    expect(asked).toBe(0)
  })

  test.each([
    ['One.', 'One.'],
    ['Why is it  red?\nIt was blue…', 'Why is it red; It was blue.'],
    ['...', '....'],
    ['Long '.repeat(400), `${'Long '.repeat(120).trim()}….`],
    ['The price is 3.50, or v1.2', 'The price is 3.50, or v1.2.'],
  ])('a wish is one sentence: %.40s', async (content, ends) => {
    expect(await byRules.instruct({ content, pagePath: '/', pin: null })).toBe(`On the home page, for the page as a whole: ${ends}`)
  })

  test('a hostile wish costs no time', async () => {
    const started = performance.now()
    for (const part of ['. ', '.', ' ', '!?', '… ', ', ', '🪡.'])
      await byRules.instruct({ content: part.repeat(1_000), pagePath: '/', pin: null })
    expect(performance.now() - started).toBeLessThan(200)
  })
})

describe('a preview', () => {
  let shop: PublishedShop
  beforeAll(async () => {
    shop = await openShop({ products: 2 })
  }, 60_000)
  afterAll(() => shop?.close())

  const one = async (path = '', method = 'GET') => (await shop.call(method, `/feedback-sessions${path}`)).body
  async function until(id: string, isThere: (session: any) => boolean) {
    const seen = new Set<string>()
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(50)) {
      const now = await one(`/${id}`)
      seen.add(`${now.status}: ${now.progress.label}`)
      if (isThere(now)) return { now, seen: [...seen] }
    }
    throw new Error(`it does not come to that: ${[...seen]}`)
  }
  const isEnded = ({ status }: any) => status !== 'created'
  const hostOf = (url: string) => new URL(url).host
  const workspace = (file: string) => join(shop.config.dataDir, 'builder', shop.store.id, file)

  test('shows the workspace as it stands on a host of its own, then answers 410, and its files go after a day', async () => {
    writeFileSync(
      workspace('src/pages/unsaved.astro'),
      '<html lang="en"><head><title>Unsaved</title></head><body><h1>Unsaved</h1></body></html>',
    )
    const { id, deploymentUrl, feedbackUrl } = await one('', 'POST')
    expect(deploymentUrl).toBe(null)
    expect(feedbackUrl.startsWith(`${shop.api.url}/feedback/`)).toBe(true)
    const { now, seen } = await until(id, isEnded)
    expect(now, now.errorMessage).toMatchObject({
      status: 'in_progress',
      errorMessage: null,
      progress: { total: 3, done: 3, fillPct: 100, eta: null },
    })
    expect(seen).toContain('created: Building the preview')
    const host = hostOf(now.deploymentUrl)
    expect(host).toMatch(/^dpl_[a-z0-9]{24}\.localhost:\d+$/)
    const origin = new URL(shop.api.url).origin
    for (const path of ['/', '/unsaved', '/cart', '/not-there']) {
      const page = await shop.visit(host, path, { headers: { accept: 'text/html' } })
      expect([path, await page.text()]).toEqual([
        path,
        expect.stringContaining(`<script src="/_shop/review.js" data-origin="${origin}" defer></script>`),
      ])
      expect(page.headers.get('content-security-policy')).toContain(`frame-ancestors ${origin}`)
      expect(page.headers.get('x-robots-tag')).toBe('noindex')
    }
    const script = await shop.visit(host, '/_shop/review.js')
    expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    // The live shop serves nothing: a preview is nobody's deployment.
    expect((await shop.visit('shop.localhost', '/')).status).toBe(404)
    expect((await shop.call('POST', '/publish')).status).toBe(409)
    expect((await one(`/${id}/cancel`, 'POST')).error).toContain('finalize')
    expect(await one(`/${id}/finalize`, 'POST')).toMatchObject({ status: 'done', deploymentUrl: now.deploymentUrl })
    expect((await shop.visit(host, '/')).status).toBe(410)
    rmSync(workspace('src/pages/unsaved.astro'))
    await clearAfter(now.deploymentUrl, DAY_MS)
    expect((await shop.visit(host, '/')).status).toBe(404)
  }, 120_000)

  /** What housekeeping leaves of a deployment, so long after now. */
  async function clearAfter(url: string, ms: number) {
    const { openRegistry } = await import('../../db/control/open.ts')
    const { servicesFor } = await import('../../api/services.ts')
    const { registry, close } = await openRegistry(shop.config.database)
    const services = await servicesFor(shop.config, { registry, baseUrl: shop.api.url, port: shop.api.port })
    const at = (later: number) => ({ ...services, clock: { ...services.clock, now: () => new Date(Date.now() + later) } })
    const id = hostOf(url).split('.')[0]!
    const isThere = async () => [
      readdirSync(join(shop.config.dataDir, 'deployments')).includes(id),
      (await registry.control.read.select().from(deployments).where(eq(deployments.id, id))).length > 0,
    ]
    await clearDeployments(at(ms / 2))
    expect(await isThere()).toEqual([true, true])
    await clearDeployments(at(ms + 1_000))
    expect(await isThere()).toEqual([false, false])
    close()
    await Bun.sleep(300)
  }

  test('of a workspace that can not be built interrupts the session, with what is wrong, and unlocks it', async () => {
    writeFileSync(workspace('src/pages/broken.astro'), "---\nimport { sky } from '../nowhere.ts'\n---\n<p>{sky}</p>")
    const { id } = await one('', 'POST')
    const { now } = await until(id, isEnded)
    rmSync(workspace('src/pages/broken.astro'))
    expect(now).toMatchObject({ status: 'interrupted', deploymentUrl: null, errorMessage: expect.stringContaining('nowhere') })
    expect(now.progress.label).toBe('Interrupted')
  }, 60_000)

  test('of a session that is canceled is ended and thrown away', async () => {
    const { id } = await one('', 'POST')
    await until(id, ({ progress }) => progress.label === 'Building the preview')
    const started = performance.now()
    expect(await one(`/${id}/cancel`, 'POST')).toMatchObject({ status: 'canceled', deploymentUrl: null })
    const next = await one('', 'POST')
    expect(next.status).toBe('created')
    // The next one does not wait for a build that nobody wants.
    await until(next.id, ({ progress, status }) => progress.done >= 1 || status !== 'created')
    expect(performance.now() - started).toBeLessThan(5_000)
    expect((await one(`/${next.id}/cancel`, 'POST')).status).toBe('canceled')
    for (const deadline = Date.now() + 10_000; Date.now() < deadline; await Bun.sleep(100))
      if (!readdirSync(join(shop.config.dataDir, 'builds')).some((name) => name.startsWith('dpl_'))) break
    expect(readdirSync(join(shop.config.dataDir, 'builds')).filter((name) => name.startsWith('dpl_'))).toEqual([])
    expect(readdirSync(join(shop.config.dataDir, 'deployments')).length).toBeLessThan(2)
  }, 60_000)

  test('of a server that ends in the middle is made by the next one', async () => {
    const { id } = await one('', 'POST')
    await until(id, ({ progress }) => progress.label === 'Building the preview')
    await shop.restart()
    const { now } = await until(id, isEnded)
    expect(now, now.errorMessage).toMatchObject({ status: 'in_progress' })
    expect((await shop.visit(hostOf(now.deploymentUrl), '/')).status).toBe(200)
    await one(`/${id}/finalize`, 'POST')
  }, 90_000)
})
