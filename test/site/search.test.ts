import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { folderFor } from '../folder.ts'
import type { Passage } from '../../site/lib/passages.ts'
import { readContent } from '../../site/lib/content.ts'
import { FOUND, INDEX, IndexWriter, Search } from '../../site/lib/search.ts'
import { ASKED_LATER, QUESTIONS } from './questions.ts'
import { openSite, ROOT } from './site.ts'

const { ask, base, manifest } = await openSite()
const search = (query: string, headers: Record<string, string> = {}) => ask(`/api/search?${query}`, headers)
const pathsOf = ({ body }: Awaited<ReturnType<typeof search>>) =>
  body.data.map(({ url }: { url: string }) => url.slice(base.length).split('#')[0])

describe('what is found', () => {
  test.each([
    ['refund an order', '/help/orders/refunds-and-returns'],
    ['How do I refund an order?', '/help/orders/refunds-and-returns'],
    ['coupons', '/help/marketing/coupons-and-discounts'],
    ['pickup location', '/help/shipping/pickup-locations'],
    ['maxRedeemPercent', '/help/marketing/loyalty-program'],
    ['webhook signature', '/docs/api-reference/webhooks'],
    ['Idempotency-Key', '/docs/api-reference/overview'],
    ['newsl', '/docs/api-reference/newsletters'],
    ['where are my backups', '/docs/getting-started/deployment'],
  ])('%s is found on %s', async (q, path) => {
    expect(pathsOf(await search(`q=${encodeURIComponent(q)}`))).toContain(path)
  })

  test('each is a passage of a page that is there, with its heading; the best come first', async () => {
    const answer = await search('q=order%20refund&limit=50')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect(answer.body.meta).toEqual({ count: 50 })
    const { data } = answer.body
    for (const found of data) {
      expect(Object.keys(found)).toEqual(['title', 'url', 'section', 'heading', 'excerpt', 'planned', 'score'])
      const [path, anchor] = found.url.slice(base.length).split('#')
      expect([manifest.pages[path]?.title, found.section]).toEqual([found.title, path.split('/')[1]])
      if (anchor) expect((await ask(path)).text).toContain(`id="${anchor}"`)
      else expect(found.heading).toBe(found.title)
      expect(found.excerpt).not.toBe('')
      expect(found.excerpt.length).toBeLessThan(1_000)
    }
    const scores = data.map(({ score }: { score: number }) => score)
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a))
    expect(
      Math.max(
        ...Map.groupBy(data, (found: any) => found.url.split('#')[0])
          .values()
          .map((of) => of.length),
      ),
    ).toBeLessThanOrEqual(3)
  })

  test('limit is 1 to 50, and 10 unless told', async () => {
    for (const [query, count] of [
      ['q=order', 10],
      ['q=order&limit=1', 1],
      ['q=order&limit=50', 50],
    ] as const) {
      const { body } = await search(query)
      expect([body.data.length, body.meta.count]).toEqual([count, count])
    }
  })

  test('the answer has an ETag, and HEAD and 304 are as everywhere', async () => {
    const answer = await search('q=coupon')
    expect([answer.headers.get('cache-control'), answer.headers.get('access-control-allow-origin')]).toEqual([
      expect.stringContaining('max-age=60'),
      '*',
    ])
    const again = await search('q=coupon', { 'if-none-match': answer.headers.get('etag')! })
    expect([again.status, again.text]).toEqual([304, ''])
    const head = await ask('/api/search?q=coupon', { accept: 'image/png' }, 'HEAD')
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', String(Buffer.byteLength(answer.text))])
  })
})

describe('what is refused', () => {
  test.each([
    ['', 'missing_parameter'],
    ['limit=5', 'missing_parameter'],
    ['q=', 'missing_parameter'],
    ['q=%20+', 'missing_parameter'],
    [`q=${'a'.repeat(201)}`, 'invalid_parameter'],
    ['q=a&q=b', 'invalid_parameter'],
    ['q=%zz', 'invalid_parameter'],
    ['q=%ff', 'invalid_parameter'],
    ...['0', '51', '-1', '1.5', '1e1', '05', '', '%205', 'ten'].map((limit) => [`q=a&limit=${limit}`, 'invalid_parameter']),
    ['q=a&limit=1&limit=2', 'invalid_parameter'],
  ])('%s: 400 %s', async (query, code) => {
    const answer = await search(query!)
    expect([answer.status, answer.headers.get('content-type'), answer.body.code]).toEqual([400, 'application/problem+json', code])
  })

  test.each([
    '"',
    '""',
    "'",
    '*',
    '* OR *',
    'NEAR(a b)',
    'title:coupon',
    'coupon AND',
    'coupon NOT',
    '^coupon',
    '-coupon',
    '{title}: x',
    '(',
    '\\',
    '%',
    '_',
    ';--',
    '\u0000',
    'coupon\u0000"',
    '\ud800',
    '…',
    '日本',
    '👩‍👩‍👧',
    'a.',
    '._-',
    'coupon+*',
    '"coupon" *',
    `${'coupon '.repeat(28)}`,
    'a.b.'.repeat(50),
    '"'.repeat(200),
  ])('%j is text like any other', async (q) => {
    const answer = await search(`q=${encodeURIComponent(q.isWellFormed() ? q : '\ufffd')}`)
    expect([200, 400]).toContain(answer.status)
    expect(answer.body.code ?? 'found').toMatch(/found|parameter/)
  })
})

describe('work', () => {
  const folder = folderFor('search')
  const writeIndex = (file: string, passages: Passage[]) => {
    const index = new IndexWriter(file)
    index.add(passages)
    index.finish()
  }
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('a passage with every word comes before one that has one of them often; one page does not fill the list', () => {
    const passage = (path: string, text: string, anchor: string): Passage => ({
      area: 'docs',
      path,
      anchor,
      title: 'Page',
      heading: 'Heading',
      text,
      isPlanned: false,
    })
    const file = join(folder, 'small.db')
    writeIndex(file, [
      ...Array.from({ length: 9 }, (_, i) => passage('/docs/a', 'refund refund refund refund', `a${i}`)),
      passage('/docs/b', `a partial refund${' of something else'.repeat(20)}`, 'b'),
      passage('/docs/c', 'something else', 'c'),
    ])
    const found = new Search(file).find('partial refunds', 50)
    expect(found.map(({ path }) => path.split('#')[0])).toEqual(['/docs/b', '/docs/a', '/docs/a', '/docs/a'])
  })

  test('of a word that every passage has, so many are ranked as are allowed', () => {
    const file = join(folder, 'large.db')
    const text = 'a coupon for the order'
    writeIndex(
      file,
      Array.from({ length: 5_000 }, (_, i) => ({
        area: 'docs',
        path: `/docs/${i}`,
        anchor: null,
        title: 'Page',
        heading: 'Page',
        text,
        isPlanned: false,
      })),
    )
    const found = new Search(file).find('coupon order', 50)
    expect(found).toHaveLength(50)
    for (const { path } of found) expect(Number(path.slice('/docs/'.length))).toBeLessThan(1_000)
  })
})

describe('questions as people ask them', () => {
  const found = new Search(join(ROOT, 'dist', INDEX))
  const pagesOf = (question: string) => [...new Set(found.find(question, FOUND).map(({ path }) => path.split('#')[0]!))].slice(0, 3)

  test.each([
    [57, 60, QUESTIONS],
    [15, 18, ASKED_LATER],
  ])('have their page among the first three: at least %d of %d', (least, count, questions) => {
    expect(questions.length).toBe(count)
    const missed = questions.filter(([question, ...pages]) => !pagesOf(question).some((page) => pages.includes(page)))
    expect(missed.map(([question]) => question).slice(count - least)).toEqual([])
    for (const [, ...pages] of questions) for (const page of pages) expect(Object.keys(manifest.pages)).toContain(page)
  })

  test('every title finds its page first, or another one that has it', () => {
    const wordsOf = (text: string) =>
      text
        .toLowerCase()
        .replace(/[^a-z ]/g, '')
        .replace(/s\b/g, '')
        .split(' ')
        .filter((word) => !['a', 'and', 'the', 'of', 'to'].includes(word))
        .join(' ')
    const wrong = readContent(ROOT).pages.filter(({ title, path }) => {
      const [first] = found.find(title, 1)
      return first?.path.split('#')[0] !== path && wordsOf(first?.title ?? '') !== wordsOf(title)
    })
    expect(wrong.map(({ title, path }) => `${title}: ${path}`)).toEqual([])
  })

  test('what is planned comes after what is there, and the plans are found', () => {
    expect(found.find('analytics', 10).length).toBeGreaterThan(0)
    expect([pagesOf('pricing')[0], pagesOf('what does it cost').includes('/pricing')]).toEqual(['/pricing', true])
  })
})

describe('the search page, without scripts', () => {
  test('lists what was found, in HTML and in Markdown', async () => {
    const page = await ask('/search?q=refund+an+order')
    expect([page.status, page.headers.get('content-type'), page.headers.get('vary')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'Accept, Accept-Encoding',
    ])
    expect(page.text).toContain('value="refund an order"')
    expect(page.text).toMatch(/<p role="status"[^>]*>10 passages<\/p>/)
    expect(page.text.match(/<li><a href="\/[^"]+">/g)!.length).toBeGreaterThanOrEqual(10)
    expect(page.text).not.toContain('<noscript>')
    for (const answer of [await ask('/search?q=refund+an+order', { accept: 'text/markdown' }), await ask('/search.md?q=refund+an+order')]) {
      expect(answer.headers.get('content-location')).toBe('/search.md?q=refund%20an%20order')
      expect(answer.text).toMatch(/^# Search: refund an order\n\n10 passages\n\n- \[/)
      expect(answer.text.split('\n').filter((line) => line.startsWith(`- [`) && line.includes(`](${base}/`))).toHaveLength(10)
    }
    expect((await ask('/search?q=x', { accept: 'image/png' })).status).toBe(406)
    expect((await ask('/search?q=')).text).toBe((await ask('/search')).text)
  })

  test('what was asked for is text, whatever it is', async () => {
    const q = `"><script>alert(1)</script>$&$'`
    const { text } = await ask(`/search?q=${encodeURIComponent(q)}`)
    expect(text).not.toContain('<script>alert')
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;$&amp;$&#39;"')
    const markdown = await ask(`/search.md?q=${encodeURIComponent('[x](http://evil.example) <b>')}`)
    expect(markdown.text.split('\n')[0]).toBe('# Search: \\[x\\](http://evil.example) \\<b\\>')
  })
})
