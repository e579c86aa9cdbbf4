/** Email templates (document 3): the words of a store in its mails, in which values stay values. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { filled } from '../../api/content/mails/template.ts'
import { html } from '../../api/values/html.ts'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'

const KINDS = ['order-confirmation', 'shipment', 'refund', 'ticket', 'back-in-stock', 'review-request']
let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await newShop(app, { name: 'Atelier Nord' })
})
afterAll(() => app.close())
const put = (path: string, body: object) => shop.call('PUT', `/email-templates/${path}`, body)
const preview = async (path: string, body: object = {}) => made(await shop.post(`/email-templates/${path}`, body))

test.each(KINDS)('%s has words before anybody wrote any, and shows what it would look like', async (kind) => {
  const template = made(await shop.get(`/email-templates/${kind}`))
  expect(template).toMatchObject({ kind, lang: null, custom: false, updatedAt: null })
  expect(Object.keys(template.variables).length).toBeGreaterThan(5)
  const mail = await preview(`${kind}/preview`)
  for (const part of [mail.subject, mail.text, mail.html]) expect(part).not.toMatch(/\{\{|undefined|null|\[object/)
  expect(mail.html).toMatch(/^<!doctype html>/)
  // Every variable has a sample, and none of another kind is known.
  const all = Object.keys(template.variables)
    .map((name) => `${name}: {{${name}}}`)
    .join('\n\n')
  const shown = await preview(`${kind}/preview`, { subject: 'x', body: all })
  expect(shown.text).not.toContain('{{')
  const refused = await shop.post(`/email-templates/${kind}/preview`, { body: '{{nonsense}} {{ other }} {{storeName}}' })
  expect([paths(refused), refused.body.error]).toEqual([['body'], expect.stringContaining('nonsense, other')])
})

test('is written, read in each language, and goes back to what it was', async () => {
  await shop.settings({ enabledLanguages: { 'en-US': true, 'pl-PL': true } })
  const own = { subject: 'Order {{orderNumber}}', body: 'Thank you, **{{customerName}}**.' }
  const polish = { subject: 'Zamówienie {{orderNumber}}', body: 'Dziękujemy.' }
  expect(made(await put('order-confirmation', own))).toMatchObject({ ...own, custom: true, lang: null })
  const read = (query = '') => shop.get(`/email-templates/order-confirmation${query}`).then(made)
  expect(await read('?lang=pl-PL')).toMatchObject({ ...own, custom: false, lang: 'pl-PL' })
  made(await put('order-confirmation?lang=pl-PL', polish))
  expect([await read('?lang=pl-PL'), await read(), await read('?lang=en-US')]).toMatchObject([{ ...polish, custom: true }, own, own])
  expect((await preview('order-confirmation/preview?lang=pl-PL')).subject).toBe('Zamówienie 1001')
  made(await shop.remove('/email-templates/order-confirmation?lang=pl-PL'))
  expect(await read('?lang=pl-PL')).toMatchObject(own)
  made(await shop.remove('/email-templates/order-confirmation'))
  expect((await read()).custom).toBe(false)
  expect((await shop.remove('/email-templates/order-confirmation')).status).toBe(404)
})

test('says what is wrong', async () => {
  for (const [body, path] of [
    [{ subject: '{{orderNumbr}}', body: 'x' }, 'subject'],
    [{ subject: 'x', body: '{{constructor}}' }, 'body'],
    [{ subject: 'two\nlines', body: 'x' }, 'subject'],
    [{ subject: '', body: 'x' }, 'subject'],
    [{ subject: '{{total}', body: 'x' }, 'subject'],
    [{ subject: 'x', body: 'Hi {{ total' }, 'body'],
    [{ subject: 'x', body: 'Hi {{amount}}}}' }, 'body'],
    [{ subject: 'x' }, 'body'],
    [{ subject: 'x', body: 'x'.repeat(100_001) }, 'body'],
  ] as const)
    expect(paths(await put('refund', body))).toEqual([path])
  expect(paths(await put('review-request', { subject: 'x', body: 'Please review it.' }))).toEqual(['body'])
  for (const body of ['Here they are.', '[x]: https://x.example "{{tickets}}"', '![{{tickets}}](https://x.example/y.png)'])
    expect(paths(await put('ticket', { subject: 'x', body })), body).toEqual(['body'])
  for (const body of ['[Write]({{reviewUrl}})', '{{ reviewUrl }}']) made(await put('review-request', { subject: 'x', body }))
  expect((await put('newsletter', { subject: 'x', body: 'x' })).status).toBe(404)
  expect(paths(await put('refund?lang=klingon', { subject: 'x', body: 'x' }))).toEqual(['lang'])
  expect((await shop.get('/email-templates/refund', { key: shop.keys.storefront })).status).toBe(403)
})

describe('a value in a mail', () => {
  const mail = (body: string, values: Record<string, any>) => filled({ subject: 'About {{name}}', body }, values)

  test('is text, whatever is in it', () => {
    const name = '<script>alert(1)</script> **bold** [x](javascript:alert(1)) {{name}}\r\nBcc: all@example.com'
    const { subject, text, html: shown } = mail('Hello **{{name}}**', { name })
    expect(subject).not.toMatch(/[\r\n]/)
    expect(shown).toBe(
      '<p>Hello <strong>&lt;script&gt;alert(1)&lt;/script&gt; **bold** [x](javascript:alert(1)) {{name}} Bcc: all@example.com</strong></p>',
    )
    expect(text).toContain('[x](javascript:alert(1))')
  })

  test('can make no address of a link but one that leads to the web', () => {
    const link = (value: any) => mail('[go]({{url}})', { url: value }).html
    expect(link({ url: 'https://shop.example/a?b=1&c=2' })).toBe('<p><a href="https://shop.example/a?b=1&amp;c=2">go</a></p>')
    for (const url of ['javascript:alert(1)', 'data:text/html,x', ' java\nscript:alert(1)', '"><script>alert(1)</script>'])
      expect(link(url), url).not.toMatch(/href="(?!#|https?:)[^"]*:|<script/)
    expect(mail('{{url}}', { url: { url: 'javascript:alert(1)' } }).html).toBe('<p>javascript:alert(1)</p>')
  })

  test('that is a table stands in no paragraph, and leaves nothing behind when it is empty', () => {
    const lines = { text: '1 × Shirt', html: html`<table><tr><td>1 × Shirt</td></tr></table>` }
    expect(mail('Before\n\n{{lines}}\n\nAfter', { lines }).html).toBe(
      '<p>Before</p>\n<table><tr><td>1 × Shirt</td></tr></table>\n<p>After</p>',
    )
    const none = mail('Before\n\n{{lines}}\n\nAfter', { lines: '' })
    expect([none.html.replace(/\n+/g, '\n'), none.text]).toEqual(['<p>Before</p>\n<p>After</p>', 'Before\n\nAfter\n'])
    expect(mail('![{{lines}}](https://a.example/b.png)', { lines }).html).toBe(
      '<p><img src="https://a.example/b.png" alt="1 × Shirt" /></p>',
    )
  })

  test('has something instead where there is none', () => {
    const hello = (name: string) => filled({ subject: 'Hello {{ name | you }}', body: 'Hello {{name|<b>you</b>}},' }, { name })
    expect(hello('Ada')).toMatchObject({ subject: 'Hello Ada', text: 'Hello Ada,\n', html: '<p>Hello Ada,</p>' })
    expect(hello('')).toMatchObject({ subject: 'Hello you', text: 'Hello <b>you</b>,\n', html: '<p>Hello &lt;b&gt;you&lt;/b&gt;,</p>' })
  })

  test('is never taken for a place of another one, whatever signs are in it', () => {
    const signs = '\uE0000\uE001 {{secret}} %EE%80%800%EE%80%81 &#xE000;0&#xE001; place0e'
    const lines = { text: signs, html: html`<table><tr><td>${signs}</td></tr></table>` }
    const body =
      '{{lines}}\n\n![{{name}}](https://a.example/{{name}} "{{name}}") {{name}} &#xE000;9&#xE001; [a](https://x/%EE%80%809%EE%80%81)\n\n```{{lines}}\nx\n```\n\n{{secret}}'
    const { html: shown, text } = mail(body, { name: signs, lines, secret: 'TOP' })
    expect([shown.match(/TOP/g), text.match(/TOP/g)]).toEqual([['TOP'], ['TOP']])
    expect(shown).not.toMatch(/="[^"]*<|place[0-9a-f]{32}/)
    expect(text).not.toMatch(/place[0-9a-f]{32}/)
  })

  test.each([
    '[x](<',
    '*a ',
    '![](',
    '_a*',
    '1. ',
    '> ',
    '~a',
    '|a',
    '`',
    ' ',
    '{{',
    '{{ ',
    '[',
    'a@',
    '<a ',
    '[](',
    '[](‹',
    '![](',
    'a',
    '**a',
  ])('is put into words of nothing but %j in no time to speak of', (piece) => {
    const body = piece.repeat(20_000 / piece.length)
    for (const words of [body, `x${body}x`, `${body}\n${body}`, `{{${body}`])
      expect(typeof mail(words, { name: 'Ada' }).html).toBe('string')
  })

  test('comes with words in which HTML is text', () => {
    expect(
      mail('<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> [x](javascript:alert(1)) <https://ok.example>', {}).html,
    ).not.toMatch(/<script|<img|javascript:/)
  })
})

test('the text of a mail reads as if nobody had used Markdown', () => {
  const body =
    '## Hello\n\n**{{name}}**, *look* at [this page]({{url}}) or [https://a.example](https://a.example).\n\n- 2 * 3 * 4\n- snake_case_name'
  expect(filled({ subject: 'x', body }, { name: '**Ada**', url: { url: 'https://shop.example/a%20b?c=1&d=2' } })).toMatchObject({
    text: 'Hello\n\n**Ada**, look at this page: https://shop.example/a%20b?c=1&d=2 or https://a.example.\n\n- 2 * 3 * 4\n- snake_case_name\n',
    html: expect.stringContaining('<a href="https://shop.example/a%20b?c=1&amp;d=2">'),
  })
})

test('the looks of the store are in its mails', async () => {
  made(await shop.call('PUT', '/brand-kit', { colors: { text: '#111111' }, fonts: { body: 'Inter' } }))
  const { html: shown } = await preview('refund/preview')
  expect(shown).toContain('font:16px/1.55 &#39;Inter&#39;,system-ui,sans-serif')
  expect(shown).toContain('color:#111111')
  expect((await preview('review-request/preview')).html).toMatch(/<a style="color:#0F766E" href="https/)
  expect(shown).toContain('Atelier Nord')
})
