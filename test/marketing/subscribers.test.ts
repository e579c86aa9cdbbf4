import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import PostalMime, { type Email } from 'postal-mime'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sql } from 'drizzle-orm'
import { createLog } from '../../api/server/log.ts'
import { tokenFor } from '../../api/marketing/subscribers/token.ts'
import { newToken, ownerOfToken } from '../../api/store/links/link-token.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

let app: TestApp
let shop: Shop
const lines: string[] = []
beforeAll(async () => {
  app = await testApp({ log: createLog('info', { write: (text) => void lines.push(text) }) })
})
beforeEach(async () => {
  shop = await newShop(app)
})
afterAll(() => app.close())

const signUp = (body: object, key?: string) => shop.post('/subscribers', body, key ? { key } : {})
const tokenOf = async (email: string, environment: 'live' | 'sandbox' = 'live') =>
  (await shop.rows(sql`select token from subscribers where email = ${email}`, environment))[0]![0] as string
const confirmTokenOf = async (email: string) =>
  (await shop.rows(sql`select confirm_token from subscribers where email = ${email}`))[0]![0] as string
const page = (method: string, path: string, init: RequestInit = {}) =>
  app.app.fetch(new Request(`http://localhost/api/v1/subscribers/${path}`, { method, ...init }))
const statusOf = async (email: string) => (await shop.get(`/subscribers?query=${email}`)).body.data[0]?.status
/** The mails to an address so far. */
const mailsTo = async (address: string): Promise<Email[]> => {
  const files = existsSync(app.mailFolder) ? readdirSync(app.mailFolder).filter((file) => file.endsWith('.eml')) : []
  const mails = await Promise.all(files.map((file) => PostalMime.parse(readFileSync(join(app.mailFolder, file)))))
  return mails.filter(({ to }) => to?.[0]?.address === address)
}

describe('signing up', () => {
  test('makes an active subscriber', async () => {
    const answer = await signUp({ email: 'Ada@Example.com', name: ' Ada ', source: 'footer' })
    expect(answer.status, answer.text).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      email: 'ada@example.com',
      name: 'Ada',
      source: 'footer',
      status: 'active',
      subscribedAt: expect.any(String),
      unsubscribedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect((await shop.get(`/subscribers/${answer.body.id}`)).body).toEqual(answer.body)
  })

  test('again is the same 201 and the same subscriber, in any spelling of the address', async () => {
    const first = await signUp({ email: 'ada@example.com', name: 'Ada' })
    const again = await signUp({ email: 'ADA@example.COM', name: 'Somebody else' })
    expect([again.status, again.body]).toEqual([201, first.body])
  })

  test('of twenty at once is one subscriber', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => signUp({ email: 'ada@example.com' })))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
    expect((await shop.get('/subscribers')).body.meta.count).toBe(1)
  })

  test.each([
    [{}, ['email']],
    [{ email: 'nobody' }, ['email']],
    [{ email: 'a@example.com', name: 'A\r\nBcc: x@example.com' }, ['name']],
    [{ email: 'a@example.com\r\nBcc: x@example.com' }, ['email']],
    [{ email: 'a@example.com', source: 'x'.repeat(101) }, ['source']],
  ])('refuses %j, naming the field', async (body, fields) => {
    expect(paths(await signUp(body))).toEqual(fields)
  })

  test('tells a storefront the same, whether the address is new, there, or has unsubscribed', async () => {
    const { storefront } = shop.keys
    const said = async (email: string) => {
      const { status, headers, body } = await signUp({ email }, storefront)
      return [status, [...headers.keys()].toSorted(), { ...body, email: '' }]
    }
    await signUp({ email: 'there@example.com', name: 'There' })
    await signUp({ email: 'gone@example.com', name: 'Gone' })
    await page('POST', `unsubscribe/${await tokenOf('gone@example.com')}`)
    const fresh = await said('new@example.com')
    expect(fresh[2]).toEqual({ email: '', name: null, source: null, status: 'active' })
    expect(await said('there@example.com')).toEqual(fresh)
    expect(await said('gone@example.com')).toEqual(fresh)
    expect(await statusOf('gone@example.com')).toBe('unsubscribed')
    expect((await shop.get('/subscribers', { key: storefront })).status).toBe(403)
  })
})

describe('double opt-in', () => {
  beforeEach(() =>
    shop.settings({ email: { doubleOptIn: true, outboundEnabled: true, fromName: 'Atelier', fromAddress: 'hello@shop.example' } }),
  )

  test('waits for the click in a mail, which a look at the page does not make', async () => {
    expect((await shop.get('/settings')).body.email.doubleOptIn).toBe(true)
    const email = 'double@example.com'
    expect((await signUp({ email, name: 'Żółw' })).body.status).toBe('pending')
    await app.jobs.settle()
    const [mail, ...more] = await mailsTo(email)
    expect(more).toEqual([])
    // Nobody has shown that shop.example is theirs.
    expect([mail!.from, mail!.replyTo]).toEqual([
      { name: 'Atelier', address: 'no-reply@api.shop.example' },
      [{ name: '', address: 'hello@shop.example' }],
    ])
    expect(mail!.to).toEqual([{ name: 'Żółw', address: email }])
    const [link] = /https:\/\/api\.shop\.example\/api\/v1\/subscribers\/confirm\/\S+/.exec(mail!.text!)!
    expect(mail!.html).toContain(`href="${link}"`)
    const path = `confirm/${link.split('/').at(-1)}`
    const looked = await page('GET', path)
    expect([looked.status, looked.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await looked.text()).toMatch(/<form method="post"><button>/)
    expect(await statusOf(email)).toBe('pending')
    expect((await page('POST', path)).status).toBe(200)
    expect(await statusOf(email)).toBe('active')
  })

  test('asks once a day at most, whoever signs the address up', async () => {
    const email = 'asked@example.com'
    for (let i = 0; i < 5; i++) await signUp({ email }, shop.keys.storefront)
    await app.jobs.settle()
    expect(await mailsTo(email)).toHaveLength(1)
    app.clock.advance(86_400_000)
    await signUp({ email })
    await app.jobs.settle()
    expect(await mailsTo(email)).toHaveLength(2)
    app.clock.real()
  })

  test('is asked of one who has unsubscribed, also where it is off', async () => {
    await shop.settings({ email: { doubleOptIn: false } })
    const email = 'back@example.com'
    await signUp({ email })
    const token = await tokenOf(email)
    await page('POST', `unsubscribe/${token}`)
    expect((await signUp({ email })).body.status).toBe('unsubscribed')
    await app.jobs.settle()
    expect(await mailsTo(email)).toHaveLength(1)
    await page('POST', `confirm/${await confirmTokenOf(email)}`)
    expect(await statusOf(email)).toBe('active')
  })

  test('takes the link of the last question alone, and not once they have left again', async () => {
    const email = 'again@example.com'
    await signUp({ email })
    const token = await tokenOf(email)
    const asked = await confirmTokenOf(email)
    // What a forwarded newsletter carries is no way in.
    expect(await (await page('POST', `confirm/${token}`)).text()).toContain('no longer good')
    expect(await statusOf(email)).toBe('pending')
    await page('POST', `confirm/${asked}`)
    expect(await statusOf(email)).toBe('active')
    await Bun.sleep(2)
    await page('POST', `unsubscribe/${token}`)
    expect(await (await page('POST', `confirm/${asked}`)).text()).toContain('no longer good')
    expect(await statusOf(email)).toBe('unsubscribed')
  })

  test('sends nothing while the store has outbound mail turned off', async () => {
    await shop.settings({ email: { outboundEnabled: false } })
    await signUp({ email: 'quiet@example.com' })
    await app.jobs.settle()
    expect(await mailsTo('quiet@example.com')).toEqual([])
    await shop.settings({ email: { outboundEnabled: true } })
    await signUp({ email: 'quiet@example.com' })
    await app.jobs.settle()
    expect(await mailsTo('quiet@example.com')).toHaveLength(1)
  })
})

describe('unsubscribing', () => {
  const email = 'ada@example.com'
  let path: string
  beforeEach(async () => {
    await signUp({ email })
    path = `unsubscribe/${await tokenOf(email)}`
  })

  test('takes a page with one button; looking at it changes nothing', async () => {
    const looked = await page('GET', path)
    const text = await looked.text()
    expect([looked.status, looked.headers.get('cache-control'), looked.headers.get('referrer-policy')]).toEqual([
      200,
      'no-store',
      'no-referrer',
    ])
    expect(text.match(/<button/g)).toHaveLength(1)
    expect(text).toContain('Test store')
    expect(await statusOf(email)).toBe('active')
  })

  test.each([
    ['the button', {}],
    ['one click (RFC 8058)', { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'List-Unsubscribe=One-Click' }],
    ['a body that is nothing', { headers: { 'content-type': 'application/json' }, body: '{nonsense' }],
  ])('takes a POST: %s; again is as well', async (_, init) => {
    for (let i = 0; i < 2; i++) {
      const answer = await page('POST', path, init as RequestInit)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    }
    expect(await statusOf(email)).toBe('unsubscribed')
  })

  test('works for one who is forgotten, and says nothing else', async () => {
    const { id } = (await signUp({ email })).body
    const before = await (await page('POST', path)).text()
    made(await shop.remove(`/subscribers/${id}`))
    expect(await (await page('POST', path)).text()).toBe(before)
    expect((await page('GET', path)).status).toBe(200)
    expect((await shop.get('/subscribers')).body.meta.count).toBe(0)
  })

  test('works from an old mail for one who was deleted and has come back', async () => {
    const { id } = (await signUp({ email })).body
    made(await shop.remove(`/subscribers/${id}`))
    await signUp({ email })
    expect(await statusOf(email)).toBe('active')
    await page('POST', path)
    expect(await statusOf(email)).toBe('unsubscribed')
  })

  test.each(['x', 'a'.repeat(44), newToken({ storeId: Bun.randomUUIDv7(), environment: 'live' })])(
    'with a token that is none, or of no store, is a page that says so, with 404: %s',
    async (token) => {
      for (const [method, path] of [
        ['GET', 'unsubscribe'],
        ['POST', 'unsubscribe'],
        ['GET', 'confirm'],
        ['POST', 'confirm'],
      ] as const) {
        const answer = await page(method, `${path}/${token}`, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
        expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
        expect(await answer.text()).toContain('<h1>This link leads nowhere</h1>')
        const program = await page(method, `${path}/${token}`)
        expect([program.status, await program.json()]).toEqual([404, expect.objectContaining({ error: 'page not found' })])
      }
    },
  )

  test('escapes the name of the store', async () => {
    await shop.settings({ name: '<script>alert(1)</script>' })
    expect(await (await page('GET', path)).text()).not.toContain('<script>')
  })

  test('leaves no token in the log', async () => {
    await page('POST', path)
    await Bun.sleep(80)
    const text = lines.join('')
    expect(text).toContain('/subscribers/unsubscribe/{token}')
    expect(text).not.toContain(path.split('/')[1])
  })

  test('leaves none there by a wrong method or path either', async () => {
    const token = path.split('/')[1]!
    for (const [method, wrong] of [
      ['DELETE', path],
      ['POST', `${path}/`],
      ['GET', `${path}/more`],
      ['GET', `unsubscribed/${token}`],
    ] as const)
      await page(method, wrong)
    await Bun.sleep(80)
    const text = lines.join('')
    expect(text).toContain('/subscribers/unsubscribe/…')
    expect(text).not.toContain(token)
  })

  test('of a sandbox stays there', async () => {
    await signUp({ email }, shop.keys.staging)
    await page('POST', `unsubscribe/${await tokenOf(email, 'sandbox')}`)
    expect(await statusOf(email)).toBe('active')
  })
})

test('a token names its store, and has 128 random bits beside', () => {
  const storeId = Bun.randomUUIDv7()
  for (const environment of ['live', 'sandbox'] as const) {
    const owner = { storeId, environment }
    expect(ownerOfToken(newToken(owner))).toEqual(owner)
    expect(ownerOfToken(tokenFor(owner, 'a@example.com', 'secret'))).toEqual(owner)
  }
  expect(new Set(Array.from({ length: 1_000 }, () => newToken({ storeId, environment: 'live' }).slice(-21))).size).toBe(1_000)
})

describe('the list', () => {
  test('is newest first, filtered by status and by how the address begins, and counts all that match', async () => {
    for (const name of ['ada', 'adam', 'eve', 'a_a', 'a%a']) await signUp({ email: `${name}@example.com` })
    await page('POST', `unsubscribe/${await tokenOf('eve@example.com')}`)
    const emails = async (query: string) => {
      const { data, meta } = (await shop.get(`/subscribers?${query}`)).body
      return [...data.map((row: { email: string }) => row.email.split('@')[0]), meta.count]
    }
    expect(await emails('')).toEqual(['a%a', 'a_a', 'eve', 'adam', 'ada', 5])
    expect(await emails('status=unsubscribed')).toEqual(['eve', 1])
    expect(await emails('status=active&limit=2&offset=1')).toEqual(['a_a', 'adam', 4])
    expect(await emails('query=ADA')).toEqual(['adam', 'ada', 2])
    expect(await emails('query=a_')).toEqual(['a_a', 1])
    expect(await emails('query=ada&status=unsubscribed')).toEqual([0])
  })

  test('has the same pages from either end, and its counts are those of the rows', async () => {
    for (let i = 0; i < 25; i++) await signUp({ email: `s${i}@example.com` })
    made(await shop.remove(`/subscribers/${(await shop.get('/subscribers')).body.data[3].id}`))
    const all = (await shop.get('/subscribers?limit=100')).body.data.map(({ id }: { id: string }) => id)
    expect(all).toHaveLength(24)
    for (let offset = 0; offset <= 26; offset += 3) {
      const { data, meta } = (await shop.get(`/subscribers?limit=5&offset=${offset}`)).body
      expect(data.map(({ id }: { id: string }) => id)).toEqual(all.slice(offset, offset + 5))
      expect(meta).toEqual({ count: 24, offset, limit: 5 })
    }
    // What is remembered of pages holds until the list changes.
    const page = async (query: string) => (await shop.get(`/subscribers?${query}`)).body.data.map(({ id }: { id: string }) => id)
    expect(await page('limit=5&offset=10')).toEqual(all.slice(10, 15))
    made(await shop.remove(`/subscribers/${all[2]}`))
    const { id } = (await signUp({ email: 'newest@example.com' })).body
    const now = [id, ...all.filter((_: string, i: number) => i !== 2)]
    for (const offset of [10, 5, 15, 10, 0]) expect(await page(`limit=5&offset=${offset}`)).toEqual(now.slice(offset, offset + 5))
    expect(await page('limit=5&offset=10&status=active')).toEqual(now.slice(10, 15))
    expect(await page('limit=5&offset=0&status=pending')).toEqual([])
  })
})
