import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toldBy } from '../../site/analyses/page-meta.ts'
import { Markup } from '../../site/analyses/reading/markup.ts'
import { differences } from './conform.ts'
import { http, openScanner, rawShop, type RawShop } from './scanner.ts'

const told = (html: string, url = 'https://shop.example/a/b?c') => {
  const markup = new Markup(true)
  markup.write(html)
  return toldBy(markup.end(), new URL(url))
}
const og = (name: string, content: string) => `<meta property="og:${name}" content="${content}">`

describe('what a head says', () => {
  test('the title is og, then twitter, then the element', () => {
    const [all, twitter, title] = [og('title', 'O'), '<meta name="twitter:title" content="T">', '<title>E</title>']
    expect(told(title + twitter + all).title).toBe('O')
    expect(told(twitter + title).title).toBe('T')
    expect(told(title).title).toBe('E')
    expect(told(og('title', '  ') + title).title).toBe('E')
    expect(told('').title).toBeNull()
    // Names and properties are one, in any case.
    expect(told('<META NAME=OG:TITLE CONTENT=X>').title).toBe('X')
  })

  test('the description and the picture in their order', () => {
    expect(told('<meta name=description content=m><meta name=twitter:description content=t>' + og('description', 'o')).description).toBe(
      'o',
    )
    expect(told('<meta name=description content=m><meta name=twitter:description content=t>').description).toBe('t')
    expect(told('<meta name=description content=m>').description).toBe('m')
    const src = '<link rel="image_src" href="/l.png">'
    const twitter = '<meta name="twitter:image" content="/t.png">'
    expect(told(src + twitter + og('image', '/o.png') + og('image:secure_url', 'https://cdn.example/s.png')).image).toBe(
      'https://cdn.example/s.png',
    )
    expect(told(src + twitter + og('image', '/o.png')).image).toBe('https://shop.example/o.png')
    expect(told(src + twitter).image).toBe('https://shop.example/t.png')
    expect(told(src).image).toBe('https://shop.example/l.png')
    expect(told(og('image', 'data:image/png;base64,AA') + twitter).image).toBe('https://shop.example/t.png')
    for (const no of ['javascript:alert(1)', 'file:///etc/passwd', 'http://[', '']) expect(told(og('image', no)).image).toBeNull()
  })

  test('addresses are seen from the base, then from where the page was', () => {
    expect(told('<base href="/x/"><link rel=canonical href="y">').canonical).toBe('https://shop.example/x/y')
    expect(told('<base href="https://cdn.example/"><link rel="shortcut icon" href="i.ico">').favicon).toBe('https://cdn.example/i.ico')
    expect(told('<base href="javascript:1"><link rel=canonical href="y">').canonical).toBe('https://shop.example/a/y')
    expect(told('<link rel=canonical href="//other.example/z">').canonical).toBe('https://other.example/z')
  })

  test('entities are decoded once, white space is one space, and long texts are cut', () => {
    expect(told('<title>A &amp;amp; B &lt;b&gt;\n\t &eacute; &#x1F45F;</title>').title).toBe('A &amp; B <b> é 👟')
    expect(told(og('title', '&quot;a&quot; &amp;lt;')).title).toBe('"a" &lt;')
    expect(told(`<title>${'👟'.repeat(600)}</title>`).title).toBe('👟'.repeat(512))
    expect(told(og('description', 'x'.repeat(2_000))).description).toBe('x'.repeat(1_024))
    expect(told(og('title', 'a\u0000b\u001bc')).title).toBe('a b c')
  })

  test('comments, scripts, drawings and templates are no titles', () => {
    const not =
      '<!-- <title>c</title> --><script>"<title>s</title>"</script><svg><title>d</title></svg><template><title>t</title></template>'
    expect(told(`${not}<title>yes</title>`).title).toBe('yes')
    expect(told(not).title).toBeNull()
    expect(told('<noscript><meta property="og:title" content="n"></noscript><title>yes</title>').title).toBe('yes')
    expect(told('<title>one</title><title>two</title>').title).toBe('one')
    expect(told('<textarea><title>in</title></textarea><title>yes</title>').title).toBe('yes')
  })

  test('the head alone is read', () => {
    expect(told('<head><title>h</title></head>' + og('title', 'late')).title).toBe('h')
    expect(told('<title>h</title><body>' + og('description', 'late')).description).toBeNull()
  })

  test('everything else that there is', () => {
    const head =
      og('image', '/o.png') + og('image:alt', 'A shoe') + og('image:width', '1200') + og('image:height', '630px') + og('site_name', 'Shop')
    const more =
      og('type', 'product') + og('locale', 'de_DE') + '<meta name="theme-color" content="#fff"><meta name="twitter:card" content="summary">'
    expect(told(head + more)).toMatchObject({
      imageAlt: 'A shoe',
      imageWidth: 1200,
      imageHeight: 630,
      siteName: 'Shop',
      type: 'product',
      locale: 'de_DE',
      themeColor: '#fff',
      twitterCard: 'summary',
    })
    expect(told(og('image:width', 'wide')).imageWidth).toBeNull()
  })
})

describe('over HTTP', () => {
  const PAGES: Record<string, Buffer> = {
    '/utf8': http('<title>Grüße, 世界</title>'),
    '/latin1': http(Buffer.from('<title>caf\xe9</title>', 'latin1'), { 'content-type': 'text/html; charset=ISO-8859-1' }),
    '/windows-1251': http(Buffer.from([...Buffer.from('<title>'), 0xcc, 0xe0, 0xe3, ...Buffer.from('</title>')]), {
      'content-type': 'text/html; charset=windows-1251',
    }),
    '/shift_jis': http(
      Buffer.concat([Buffer.from('<meta charset="Shift_JIS"><title>'), Buffer.from([0x93, 0xfa, 0x96, 0x7b]), Buffer.from('</title>')]),
      {
        'content-type': 'text/html',
      },
    ),
    '/meta-equiv': http(
      Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2"><title>\xb3</title>', 'latin1'),
      {
        'content-type': 'text/html',
      },
    ),
    '/bom': http(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('<title>ş</title>', 'utf16le')]), {
      'content-type': 'text/html; charset=utf-8',
    }),
    '/unsaid': http(Buffer.from('<title>caf\xe9</title>', 'latin1'), { 'content-type': 'text/html' }),
    '/http-wins': http('<meta charset="iso-8859-1"><title>é</title>'),
    '/pdf': http('%PDF-1.7 <title>no</title>', { 'content-type': 'application/pdf' }),
    '/image': http('GIF89a', { 'content-type': 'image/gif' }),
    '/json': http('{"title":"x"}', { 'content-type': 'application/json' }),
    '/untyped': Buffer.from('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<title>old</title>'),
    '/to': http('', { location: '/utf8?b#f' }, '301 Moved'),
    '/404': http('<title>not here</title>', {}, '404 Not Found'),
    '/500': http('<title>broken</title>', {}, '500 Oops'),
  }
  let shop: RawShop
  let scanner: Awaited<ReturnType<typeof openScanner>>
  beforeAll(async () => {
    shop = await rawShop((socket, { path, head }) => {
      const page = PAGES[path.split('?')[0]!]
      if (page) return socket.end(page)
      // Until it has a cookie it sends everybody around.
      if (path === '/cookie')
        return socket.end(
          /cookie: seen=1/.test(head)
            ? http('<title>let in</title>')
            : http('', { 'set-cookie': 'seen=1', location: '/cookie' }, '302 Found'),
        )
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html><head><title>at once</title></head><body>')
    })
    scanner = await openScanner({ FETCH_ALLOW: `127.0.0.1:${shop.port}` })
  }, 60_000)
  afterAll(async () => {
    await scanner?.stop()
    await shop?.close()
  })
  const meta = (path: string) => scanner.analyse('fetch-page-meta', `http://127.0.0.1:${shop.port}${path}`)

  test.each([
    ['/utf8', 'Grüße, 世界'],
    ['/latin1', 'café'],
    ['/windows-1251', 'Маг'],
    ['/shift_jis', '日本'],
    ['/meta-equiv', 'ł'],
    ['/bom', 'ş'],
    ['/unsaid', 'café'],
    ['/http-wins', 'é'],
    ['/untyped', 'old'],
    ['/cookie', 'let in'],
  ])('%s is read in its characters: %s', async (path, title) => {
    const { status, body } = await meta(path)
    expect([status, body.title]).toEqual([200, title])
  })

  test('what is no page says so, and nothing else', async () => {
    for (const [path, type] of [
      ['/pdf', 'application/pdf'],
      ['/image', 'image/gif'],
      ['/json', 'application/json'],
    ]) {
      const { status, body } = await meta(path!)
      expect([status, body.contentType]).toEqual([200, type])
      const { url, finalUrl, status: own, contentType, fetchedAt, cached, ...rest } = body
      expect(Object.values(rest).filter((value) => value !== null)).toEqual([])
      expect([url, finalUrl, own, cached, typeof contentType, typeof fetchedAt]).toEqual([url, url, 200, false, 'string', 'string'])
    }
  })

  test('a page that answers with an error is not there', async () => {
    for (const status of [404, 500]) {
      const { body } = await meta(`/${status}`)
      expect(body).toMatchObject({ status: 502, code: 'upstream_unavailable', detail: expect.stringContaining(`${status}`) })
    }
  })

  test('who has read the head waits for no more, and a report is what its schema says', async () => {
    const { status, body } = await meta('/endless')
    expect([status, body.title]).toEqual([200, 'at once'])
    const { components } = (await scanner.ask('/openapi.json')).body
    expect(differences(body, components.schemas.PageMeta, components.schemas)).toEqual([])
  })

  test('redirects are followed, and the same page is not asked for again', async () => {
    const first = await meta('/to')
    expect(first.body).toMatchObject({ url: expect.stringMatching(/\/to$/), finalUrl: expect.stringMatching(/\/utf8\?b$/), cached: false })
    const asked = shop.asked.length
    const again = await meta('/to#elsewhere')
    expect([again.body.cached, again.headers.get('age'), shop.asked.length]).toEqual([true, '0', asked])
    expect({ ...again.body, cached: false }).toEqual(first.body)
    expect(first.headers.has('age')).toBe(false)
  })
})
