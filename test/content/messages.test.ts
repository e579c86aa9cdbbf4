/** Contact messages and support cases (document 3): an inbox, and conversations that go on by mail and by link. */
import { sql } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Answer } from '../harness.ts'
import { mailing } from '../mailing.ts'
import { made, newShop, paths } from '../shop.ts'
import { form, png } from './pictures.ts'

const mailed = mailing()
const smtpOptions = mailed.options
let { app, shop, smtp } = mailed
beforeEach(() => {
  ;({ app, shop, smtp } = mailed)
})

const visitor = () => ({ key: shop.keys.storefront })
const PDF = '%PDF-1.7\n1 0 obj <<>> endobj\n'

describe('a contact message', () => {
  const text = { name: ' Ada ', email: 'ADA@example.com', subject: 'Sizes', message: ' Does M run large? ' }
  const send = async (more: object = {}) => made(await shop.post('/contact-messages', { ...text, ...more }, visitor()))
  const inbox = async (query = '') => made(await shop.get(`/contact-messages${query}`))

  test('is new until somebody says what became of it', async () => {
    const sent = await send()
    expect(sent).toMatchObject({ name: 'Ada', email: 'ada@example.com', subject: 'Sizes', message: 'Does M run large?', status: 'new' })
    expect(sent).not.toHaveProperty('signals')
    const { data, meta } = await inbox()
    expect(data).toEqual([{ ...sent, signals: expect.any(Object), updatedAt: expect.any(String) }])
    expect(meta).toEqual({ count: 1, unread: 1, offset: 0, limit: 20 })
    for (const status of ['read', 'answered', 'spam', 'new'])
      expect(made(await shop.patch(`/contact-messages/${sent.id}`, { status })).status).toBe(status)
    made(await shop.patch(`/contact-messages/${sent.id}`, { status: 'read' }))
    expect([(await inbox()).meta.unread, (await inbox('?status=read')).meta, (await inbox('?status=new')).data]).toEqual([
      0,
      { count: 1, unread: 0, offset: 0, limit: 20 },
      [],
    ])
    for (const status of ['open', '', null]) expect(paths(await shop.patch(`/contact-messages/${sent.id}`, { status }))).toEqual(['status'])
  })

  test('is found by its words, and by nobody without messages:read', async () => {
    const { id } = await send()
    await send({ message: 'Another.', subject: null, name: null })
    for (const words of ['large', 'sizes', 'ada@']) expect((await inbox(`?query=${words}&limit=5`)).data.length, words).toBeGreaterThan(0)
    expect((await inbox('?query=large')).data.map((one: any) => one.id)).toEqual([id])
    for (const path of ['/contact-messages', `/contact-messages/${id}`]) expect((await shop.get(path, visitor())).status).toBe(403)
    expect((await (await newShop(app)).get(`/contact-messages/${id}`)).status).toBe(404)
  })

  test('says what is wrong', async () => {
    for (const [body, path] of [
      [{ email: 'x' }, 'email'],
      [{ message: '  ' }, 'message'],
      [{ message: 'x'.repeat(10_001) }, 'message'],
      [{ subject: 'two\nlines' }, 'subject'],
      [{ name: 'x'.repeat(201) }, 'name'],
    ] as const)
      expect(paths(await shop.post('/contact-messages', { ...text, ...body }, visitor()))).toEqual([path])
  })
})

describe('a support case', () => {
  const text = { name: 'Ada', email: 'ada@example.com', subject: 'An open seam', message: 'One seam is open.' }
  const open = async (more: object = {}) => made(await shop.post('/support-cases', { ...text, ...more }))
  const answer = async (id: string, message: string, more: object = {}) =>
    made(await shop.post(`/support-cases/${id}/messages`, { message, ...more }))
  const thread = async (id: string) => made(await shop.get(`/support-cases/${id}/messages`))
  const one = async (id: string) => made(await shop.get(`/support-cases/${id}`))
  const mails = async () => (await app.jobs.settle(), (await smtp.mails()).filter(({ to }) => to?.[0]?.address === 'ada@example.com'))
  const html = { headers: { accept: 'text/html' }, key: null }
  /** The path of the customer's page, as the newest mail has it. */
  const linkOf = async () => /https:\/\/api\.shop\.example\/api\/v1(\/support-replies\/[\w.-]+)/.exec((await mails()).at(-1)!.text!)![1]!
  const reply = (path: string, message: string, more: object = {}) => shop.post(path, { message }, { ...html, ...more })

  test('waits for the merchant, then for the customer, until it is resolved', async () => {
    const { id, ...first } = await open()
    expect(first).toMatchObject({ status: 'open', unread: true, messageCount: 1, subject: 'An open seam', email: 'ada@example.com' })
    expect(first).not.toHaveProperty('token')
    expect((await thread(id)).data).toMatchObject([{ author: 'customer', message: 'One seam is open.', attachments: [], delivery: 'none' }])
    expect(await answer(id, 'We mend it.')).toMatchObject({ author: 'merchant', delivery: 'queued', caseId: id })
    expect(await one(id)).toMatchObject({ status: 'pending', unread: false, messageCount: 2 })
    await answer(id, 'Thanks, by phone.', { author: 'customer' })
    expect(await one(id)).toMatchObject({ status: 'open', unread: true, messageCount: 3 })
    expect(made(await shop.patch(`/support-cases/${id}`, { status: 'resolved' }))).toMatchObject({ status: 'resolved', unread: false })
    await answer(id, 'One more thing.', { author: 'customer' })
    expect((await one(id)).status).toBe('open')
    expect(made(await shop.patch(`/support-cases/${id}`, { unread: false })).status).toBe('open')
    expect(paths(await shop.patch(`/support-cases/${id}`, { status: 'new' }))).toEqual(['status'])
  })

  test('is listed by when something was last said, with how many are unread', async () => {
    const [a, b] = [await open({ subject: 'A' }), await open({ subject: 'B', email: 'grace@example.com' })]
    const subjects = async (query = '') => made(await shop.get(`/support-cases${query}`)).data.map(({ subject }: any) => subject)
    expect(await subjects()).toEqual(['B', 'A'])
    app.clock.advance(1_000)
    await answer(a.id, 'First.')
    expect(await subjects()).toEqual(['A', 'B'])
    expect(made(await shop.get('/support-cases')).meta).toEqual({ count: 2, unread: 1, offset: 0, limit: 20 })
    expect([await subjects('?status=pending'), await subjects('?query=grace'), await subjects('?status=resolved')]).toEqual([
      ['A'],
      ['B'],
      [],
    ])
    expect((await (await newShop(app)).get(`/support-cases/${b.id}`)).status).toBe(404)
    expect((await shop.get('/support-cases', visitor())).status).toBe(403)
  })

  test('is one thread in the customer’s mail program', async () => {
    const { id } = await open()
    for (const message of ['We mend it.\n\n<b>Send it</b> to us.', 'Has it left?', 'Hello?']) {
      await answer(id, message)
      await app.jobs.settle()
    }
    const sent = (await mails()).slice(-3)
    expect(sent.map(({ subject }) => subject)).toEqual(['Re: An open seam', 'Re: An open seam', 'Re: An open seam'])
    const ids = sent.map(({ messageId }) => messageId)
    expect(new Set(ids).size).toBe(3)
    for (const messageId of ids) expect(messageId).toMatch(/^<[\w-]+@mail\.shop\.example>$/)
    expect(sent.map(({ inReplyTo, references }) => [inReplyTo, references])).toEqual([
      [undefined, undefined],
      [ids[0], ids[0]],
      [ids[1], `${ids[0]} ${ids[1]}`],
    ])
    expect(sent[0]!.from).toMatchObject({ name: 'Atelier Nord', address: expect.stringMatching(/@mail\.shop\.example$/) })
    expect(sent[0]!.text).toContain('<b>Send it</b> to us.')
    expect(sent[0]!.html).toContain('&lt;b&gt;Send it&lt;/b&gt; to us.')
    expect((await thread(id)).data.map(({ delivery }: any) => delivery)).toEqual(['none', 'sent', 'sent', 'sent'])
  })

  test('goes on behind the link of a mail: without a key, and for nobody else', async () => {
    const { id } = await open()
    await answer(id, 'Which <seam>?')
    const path = await linkOf()
    const page = await shop.get(path, html)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    for (const part of ['An open seam', 'One seam is open.', 'Which &lt;seam&gt;?', 'Atelier Nord']) expect(page.text).toContain(part)
    expect(page.text).not.toContain('ada@example.com')
    const sent = await reply(path, 'The left one.')
    expect([sent.status, sent.text.includes('The left one.')]).toEqual([200, true])
    expect(await one(id)).toMatchObject({ status: 'open', unread: true, messageCount: 3 })
    expect((await thread(id)).data.at(-1)).toMatchObject({ author: 'customer', message: 'The left one.' })
    // A page that is loaded again sends the form that it was shown again; the same words in another form are said again.
    const form_ = { message: 'The right one.', nonce: /name="nonce" value="([^"]+)"/.exec(sent.text)![1]! }
    for (let n = 0; n < 2; n++) expect((await shop.post(path, form_, html)).text).toContain('Your answer was sent.')
    expect((await one(id)).messageCount).toBe(4)
    expect((await shop.post(path, { ...form_, message: 'The right one, I mean.' }, html)).status).toBe(200)
    const [, theirs] = (await thread(id)).data
    expect((await shop.post(path, { message: 'Not lost.', nonce: theirs.id }, html)).status).toBe(200)
    expect((await thread(id)).data.slice(-2).map(({ message }: any) => message)).toEqual(['The right one, I mean.', 'Not lost.'])
    await shop.change(sql`delete from support_messages where message in ('The right one, I mean.', 'Not lost.')`)
    await shop.change(sql`update support_cases set message_count = 4 where id = ${id}`)
    made(await shop.patch(`/support-cases/${id}`, { status: 'resolved' }))
    expect((await reply(path, 'The right one.')).status).toBe(200)
    expect(await one(id)).toMatchObject({ status: 'open', unread: true, messageCount: 5 })
    expect((await reply(path, '   ')).text).toContain('Nothing was written')
    expect((await reply(path, 'x'.repeat(10_000).replace(/.{100}/g, '$&\r\n'))).text).toContain('Your answer was sent.')
    await shop.change(sql`update support_cases set message_count = 1000 where id = ${id}`)
    const full = await reply(path, 'One more.')
    expect([full.status, full.headers.get('content-type'), full.text.includes('too long')]).toEqual([409, 'text/html; charset=utf-8', true])
    expect((await shop.post(`/support-cases/${id}/messages`, { message: 'One more.' })).status).toBe(409)
    await shop.change(sql`update support_cases set message_count = 6 where id = ${id}`)
    for (const wrong of [
      `${path}x`,
      path.slice(0, -1),
      '/support-replies/nothing',
      path.replace(/.(?=.{5}$)/, (letter) => (letter === 'A' ? 'B' : 'A')),
    ])
      expect((await shop.get(wrong, html)).status, wrong).toBe(404)
  })

  test('takes pictures and PDFs from both sides, and gives them to both alone', async () => {
    const { id } = await open()
    const upload = (path: string, bytes: Uint8Array | string, name: string, options: object = {}): Promise<Answer> =>
      shop.call('POST', path, undefined, { raw: form(bytes, { message: 'See this.' }, { name, type: 'text/plain' }), ...options })
    const own = made(await upload(`/support-cases/${id}/messages`, await png(), 'C:\\pictures\\"seam".\u202egnp.exe'))
    expect(own.attachments).toEqual([
      { id: expect.any(String), name: expect.stringMatching(/^[^"\\]*seam[^"\\]*\.png$/), type: 'image/png', size: expect.any(Number) },
    ])
    const path = await linkOf()
    expect((await upload(path, PDF, 'bill.pdf', html)).status).toBe(200)
    const [, , theirs] = (await thread(id)).data
    expect(theirs.attachments).toMatchObject([{ name: 'bill.pdf', type: 'application/pdf', size: PDF.length }])
    const read = await shop.get(`/support-cases/${id}/attachments/${theirs.attachments[0].id}`)
    expect([read.status, read.text, read.headers.get('content-type'), read.headers.get('content-disposition')]).toEqual([
      ...[200, PDF, 'application/pdf', `attachment; filename="bill.pdf"; filename*=UTF-8''bill.pdf`],
    ])
    for (const attachment of [own.attachments[0], theirs.attachments[0]]) {
      expect((await shop.get(`${path}/attachments/${attachment.id}`, html)).status).toBe(200)
      expect((await shop.get(`/support-cases/${id}/attachments/${attachment.id}`, visitor())).status).toBe(403)
      const other = await open({ subject: 'Another' })
      expect((await shop.get(`/support-cases/${other.id}/attachments/${attachment.id}`)).status).toBe(404)
      const cdn = await app.app.fetch(new Request(`http://localhost/cdn/${shop.store.id}/live/${attachment.id}/attachment`))
      expect(cdn.status).toBe(404)
    }
    for (const [bytes, name] of [
      ['<script>alert(1)</script>', 'page.pdf'],
      ['MZ\x90\0', 'picture.png'],
      ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'drawing.svg'],
    ] as const)
      expect(paths(await upload(`/support-cases/${id}/messages`, bytes, name))).toEqual(['file'])
    expect((await upload(`/support-cases/${id}/messages`, new Uint8Array(10 * 1_048_576 + 1), 'large.png')).status).toBe(413)
    expect((await upload(`/support-cases/${crypto.randomUUID()}/messages`, PDF, 'x.pdf')).status).toBe(404)
    for (const [bytes, status, says] of [
      ['no picture', 400, 'or a PDF'],
      [new Uint8Array(10 * 1_048_576 + 1), 413, 'larger than'],
    ] as const) {
      const refused = await upload(path, bytes, 'x.heic', html)
      expect([refused.status, refused.headers.get('content-type'), refused.text.includes(says)]).toEqual([
        status,
        'text/html; charset=utf-8',
        true,
      ])
      expect((await upload(path, bytes, 'x.heic', { key: null })).body.error).toContain(says)
    }
    const blank = form(PDF, { message: ' ' }, { name: 'blank.pdf', type: 'application/pdf' })
    expect((await shop.call('POST', path, undefined, { ...html, raw: blank })).text).toContain('Nothing was written')
    const sum = { nonce: Bun.randomUUIDv7(), message: 'Twice.' }
    for (let n = 0; n < 2; n++) {
      const again = form(`${PDF}${n}`, sum, { name: 'b.html', type: 'text/html' })
      expect((await shop.call('POST', path, undefined, { ...html, raw: again })).text).toContain('Your answer was sent.')
    }
    const twice = (await thread(id)).data.filter(({ message }: any) => message === 'Twice.')
    expect(twice.map(({ attachments }: any) => attachments.map(({ name }: any) => name))).toEqual([['b.pdf']])
    const kept = await app.services.files.list({ storeId: shop.store.id, environment: 'live' })
    expect(kept.map((file) => file.id).sort()).toEqual([own.attachments[0].id, theirs.attachments[0].id, twice[0].attachments[0].id].sort())
    await shop.change(sql`insert into attached_files (id, message_id) with recursive n(i) as (select 1 union all select i + 1 from n where i < 50)
      select printf('x%d', i), ${twice[0].id} from n`)
    const more = await upload(path, PDF, 'more.pdf', html)
    expect([more.status, more.text.includes('too many files')]).toEqual([409, true])
    expect((await upload(path, PDF, 'more.pdf', { key: null })).body.error).toContain('too many files')
    expect((await reply(path, 'Without one.')).text).toContain('Your answer was sent.')
  })

  test('says when a mail was not taken, or nobody knows', async () => {
    const { id } = await open()
    smtpOptions.refuse = () => 550
    await answer(id, 'Refused.')
    await app.jobs.settle()
    smtpOptions.refuse = undefined
    smtpOptions.hangUpOn = () => true
    await answer(id, 'Cut off.')
    await app.jobs.settle()
    expect((await thread(id)).data.map(({ delivery }: any) => delivery)).toEqual(['none', 'failed', 'unknown'])
  })

  test('and a message are removed with all that belongs to them', async () => {
    const { id } = await open()
    const { attachments } = made(
      await shop.call('POST', `/support-cases/${id}/messages`, undefined, { raw: form(PDF, { message: 'See.' }, { name: 'x.pdf' }) }),
    )
    const path = await linkOf()
    expect(made(await shop.remove(`/support-cases/${id}`))).toEqual({ ok: true, deleted: 1 })
    for (const gone of [`/support-cases/${id}`, `/support-cases/${id}/messages`, `/support-cases/${id}/attachments/${attachments[0].id}`])
      expect((await shop.get(gone)).status).toBe(404)
    for (const answer of [await shop.get(path, html), await reply(path, 'Hello?')])
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    await app.app.settled()
    expect(await app.services.files.list({ storeId: shop.store.id, environment: 'live' })).toEqual([])
    expect(await shop.rows(sql`select (select count(*) from support_messages), (select count(*) from attached_files)`)).toEqual([[0, 0]])
    const message = made(await shop.post('/contact-messages', { email: 'ada@example.com', message: 'Forget me.' }))
    expect(made(await shop.remove(`/contact-messages/${message.id}`))).toEqual({ ok: true, deleted: 1 })
    expect((await shop.remove(`/contact-messages/${message.id}`)).status).toBe(404)
  })

  test('sends nothing from a store that has outbound mail off, nor to anybody from the sandbox', async () => {
    const before = smtp.taken.length
    const options = { key: shop.keys.staging }
    made(await shop.patch('/settings', { email: { outboundEnabled: true } }, options))
    const staged = made(await shop.post('/support-cases', text, options))
    made(await shop.post(`/support-cases/${staged.id}/messages`, { message: 'From the sandbox.' }, options))
    await shop.settings({ email: { outboundEnabled: false } })
    const { id } = await open()
    expect((await answer(id, 'Not by mail.')).delivery).toBe('none')
    await app.jobs.settle()
    expect(smtp.taken.length).toBe(before)
    const files = readdirSync(app.mailFolder).map((name) => readFileSync(join(app.mailFolder, name)))
    const texts = await Promise.all(files.map(async (file) => (await PostalMime.parse(file)).text))
    expect(texts.filter((words) => words?.includes('From the sandbox.'))).toHaveLength(1)
  })
})
