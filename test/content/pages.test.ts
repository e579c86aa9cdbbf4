/** Legal pages, social links and the brand kit (document 3): what a store says of itself, and how it looks. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp, type TestApp } from '../harness.ts'
import { made, newShop, paths, type Shop } from '../shop.ts'
import { form, png } from './pictures.ts'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  shop = await newShop(app)
})
afterAll(() => app.close())
const visitor = () => ({ key: shop.keys.storefront })
const put = (path: string, body: object, options: object = {}) => shop.call('PUT', path, body, options)

describe('a legal page', () => {
  const content = { type: 'doc', content: [{ type: 'heading', attrs: { level: 2 }, content: [{ type: 'text', text: 'Thirty days' }] }] }

  test('is there once it is written, whole, for visitors as HTML and Markdown too', async () => {
    for (const kind of ['terms', 'privacy', 'returns', 'shipping', 'imprint']) {
      expect((await shop.get(`/legal-pages/${kind}`, visitor())).status).toBe(404)
      const page = made(await put(`/legal-pages/${kind}`, { title: ' Returns ', content }))
      expect(page).toMatchObject({ kind, title: 'Returns', content })
      expect(made(await shop.get(`/legal-pages/${kind}`, visitor()))).toEqual(page)
    }
    expect(made(await shop.get('/legal-pages/returns?format=html', visitor())).contentHtml).toBe('<h2>Thirty days</h2>')
    expect(made(await shop.get('/legal-pages/returns?format=markdown', visitor())).contentMarkdown).toBe('## Thirty days')
    const { createdAt } = made(await shop.get('/legal-pages/returns'))
    expect(made(await put('/legal-pages/returns', { content }))).toMatchObject({ title: null, createdAt })
  })

  test('without content is hidden from visitors', async () => {
    made(await put('/legal-pages/terms', { content }))
    made(await put('/legal-pages/terms', { title: 'Terms', content: null }))
    expect([(await shop.get('/legal-pages/terms')).body.content, (await shop.get('/legal-pages/terms', visitor())).status]).toEqual([
      null,
      404,
    ])
  })

  test('is one of five, and safe', async () => {
    expect([(await put('/legal-pages/cookies', { content })).status, (await shop.get('/legal-pages/cookies')).status]).toEqual([404, 404])
    expect(paths(await put('/legal-pages/terms', {}))).toEqual(['content'])
    expect(paths(await put('/legal-pages/terms', { content: { type: 'doc', content: [{ type: 'iframe' }] } }))).toEqual([
      'content.content.0.type',
    ])
    expect(paths(await put('/legal-pages/terms', { content: 'words' }))).toEqual(['content'])
    expect((await put('/legal-pages/terms', { content }, visitor())).status).toBe(403)
    expect((await (await newShop(app)).get('/legal-pages/terms')).status).toBe(404)
  })
})

describe('social links', () => {
  test('are replaced as a whole', async () => {
    const links = { instagram: 'https://www.instagram.com/atelier', mastodon: 'https://social.example/@atelier' }
    expect(made(await put('/socials', links))).toMatchObject({ ...links, youtube: null })
    const read = made(await shop.get('/socials'))
    expect(made(await put('/socials', read))).toEqual(read)
    expect(made(await put('/socials', { youtube: 'https://youtu.be/x' }))).toMatchObject({ instagram: null, youtube: 'https://youtu.be/x' })
    expect(made(await shop.remove('/socials'))).toEqual({ ok: true, deleted: 1 })
    expect(Object.values(made(await shop.get('/socials'))).every((url) => url === null)).toBe(true)
  })

  test.each([
    ['instagram', 'https://evil.example/instagram.com'],
    ['instagram', 'https://instagram.com.evil.example/a'],
    ['instagram', 'https://evilinstagram.com/a'],
    ['instagram', 'http://instagram.com/a'],
    ['instagram', 'https://me@instagram.com/a'],
    ['x', 'javascript:alert(1)'],
    ['mastodon', 'ftp://social.example/a'],
  ])('of %s are not %s', async (network, url) => {
    expect(paths(await put('/socials', { [network]: url }))).toEqual([network])
  })

  test('of a network that nobody knows are named', async () => {
    expect((await put('/socials', { friendster: 'https://friendster.com/a' })).headers.get('ignored-fields')).toBe('friendster')
  })
})

describe('a brand kit', () => {
  const upload = async () => made(await shop.call('POST', '/media', undefined, { raw: form(await png()) }))

  test('has colours that are there before anybody chose any, and one logo of the library', async () => {
    const defaults = made(await shop.get('/brand-kit'))
    expect(defaults).toMatchObject({ logo: null, fonts: { heading: null, body: null }, updatedAt: null })
    const image = await upload()
    const kit = { logo: image.url, colors: { accent: '#7c2d12' }, fonts: { heading: 'Fraunces' } }
    const own = made(await put('/brand-kit', kit))
    expect(own).toMatchObject({
      logo: image.url,
      colors: { ...defaults.colors, accent: '#7C2D12' },
      fonts: { heading: 'Fraunces', body: null },
    })
    const { updatedAt: _, ...again } = made(await put('/brand-kit', own))
    expect(own).toMatchObject(again)
    expect((await shop.remove(`/media/${image.id}`)).status).toBe(409)
    expect(made(await shop.remove('/brand-kit'))).toEqual({ ok: true, deleted: 1 })
    expect(made(await shop.get('/brand-kit'))).toEqual(defaults)
    made(await shop.remove(`/media/${image.id}`))
  })

  test('takes no picture of another store, or from elsewhere', async () => {
    const other = await newShop(app)
    const theirs = made(await other.call('POST', '/media', undefined, { raw: form(await png()) })).url
    const own = (await upload()).url
    for (const logo of [
      theirs,
      'https://evil.example/logo.png',
      own.replace('https://api.shop.example', 'https://evil.example/x'),
      own.replace('.png', '.svg?x=1'),
      `${theirs.slice(0, theirs.lastIndexOf('/'))}/nothing.png`,
    ])
      expect(paths(await put('/brand-kit', { logo }))).toEqual(['logo'])
  })

  test.each([
    ['colors.text', { colors: { text: '#999999' } }],
    ['colors.accent', { colors: { accent: '#FFFF00' } }],
    ['colors.onAccent', { colors: { accent: '#FFFFFF', background: '#000000', text: '#FFFFFF', surface: '#111111', muted: '#DDDDDD' } }],
    ['colors.accent', { colors: { accent: 'red' } }],
    ['fonts.body', { fonts: { body: "Arial';}body{display:none" } }],
    ['fonts.heading', { fonts: { heading: 'x'.repeat(101) } }],
  ])('refuses %s that nobody could read', async (path, body) => {
    expect(paths(await put('/brand-kit', body))).toEqual([path])
  })

  test('takes dark colours that can be read', async () => {
    const colors = { background: '#000000', surface: '#111111', text: '#FFFFFF', muted: '#DDDDDD', accent: '#FFFF00', onAccent: '#000000' }
    expect(made(await put('/brand-kit', { colors })).colors).toEqual(colors)
  })
})
