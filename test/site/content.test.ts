import type { Heading, Link, Nodes } from 'mdast'
import { remark } from 'remark'
import remarkGfm from 'remark-gfm'
import { afterEach, expect, test } from 'vitest'
import { readContent } from '../../site/lib/content.ts'
import { htmlOf } from '../../site/lib/html.ts'
import { linksOf, lowered, parse, textOf, walk } from '../../site/lib/markdown.ts'
import { pastedAt } from '../../site/lib/pasted.ts'
import { llmsTxt, pageMarkdown } from '../../site/lib/texts.ts'
import { version } from '../../package.json'
import { readPricing } from '../../site/lib/pricing.ts'
import { contentOf, page, problemsOf, removeFolders, SUMMARY } from './fixture.ts'
import { ROOT } from './site.ts'

afterEach(removeFolders)

test('content that is in order is read in the order of the navigation', () => {
  const { pages, byPath } = contentOf(
    { 'docs/start/b.md': page('See [a](/docs/start/a#more).', { title: 'The second' }), 'docs/start/a.md': page('## More\n\nText.') },
    ['b', 'a'],
  )
  expect(pages.map(({ path }) => path)).toEqual(['/docs/start/b', '/docs/start/a'])
  expect(byPath.get('/docs/start/a')).toMatchObject({
    title: 'A page',
    summary: SUMMARY,
    date: '2026-01-02',
    body: '## More\n\nText.',
    headings: [{ depth: 2, text: 'More', id: 'more' }],
  })
})

test.each<[what: string, files: Record<string, string>, problem: RegExp, listed?: string[]]>([
  ['a title that is missing', { 'docs/start/a.md': page('Text.').replace(/title.*\n/, '') }, /^content\/docs\/start\/a\.md: title: /],
  ['a field that there is none of', { 'docs/start/a.md': page('Text.', { colour: 'red' }) }, /^content\/docs\/start\/a\.md: colour: /],
  ['a date that is none', { 'docs/start/a.md': page('Text.', { updated: '2026-02-31x' }) }, /^content\/docs\/start\/a\.md: updated: /],
  ['a summary that is too short', { 'docs/start/a.md': page('Text.', { summary: 'Short.' }) }, /^content\/docs\/start\/a\.md: summary: /],
  ['frontmatter that is no YAML', { 'docs/start/a.md': '---\ntitle: [\n---\n\nText.' }, /^content\/docs\/start\/a\.md: the frontmatter/],
  [
    'a link that leads nowhere',
    { 'docs/start/a.md': page('Text.\n\nSee [b](/docs/start/b).') },
    /a\.md:9: links to \/docs\/start\/b, which/,
  ],
  ['an anchor that is not there', { 'docs/start/a.md': page('See [a](#nowhere).') }, /a\.md:7: links to #nowhere: that page has no such/],
  ['a page that is not listed', { 'docs/start/a.md': page('Text.') }, /^content\/docs\/start\/a\.md: is not listed/, []],
  ['a page that is listed and missing', {}, /^content\/docs\/start\/a\.md: is listed in navigation\.json, but is not there/, ['a']],
  ['a page that is listed twice', { 'docs/start/a.md': page('Text.') }, /^content\/docs\/start\/a\.md: /, ['a', 'a']],
  [
    'two pages with one title',
    { 'docs/start/a.md': page('Text.'), 'docs/start/b.md': page('Text.') },
    /^content\/docs\/start\/b\.md: has the title of content\/docs\/start\/a\.md/,
  ],
  ['a page over its limit', { 'docs/start/a.md': page('word '.repeat(10_000)) }, /^content\/docs\/start\/a\.md: is 49999 bytes long/],
  ['a page without text', { 'docs/start/a.md': page('') }, /^content\/docs\/start\/a\.md: has no text/],
  ['HTML', { 'docs/start/a.md': page('Text.\n\n<b>bold</b>') }, /^content\/docs\/start\/a\.md:9: holds HTML/],
  [
    'a table without the line below its head',
    { 'docs/start/a.md': page('Text:\n\n| Field | Meaning |\n| `a` | the first |') },
    /^content\/docs\/start\/a\.md:9: holds a line that begins with a bar/,
  ],
  [
    'a row that a paragraph took in',
    { 'docs/start/a.md': page('**Text** of\n| `a` | the first |') },
    /^content\/docs\/start\/a\.md:8: holds a line that begins with a bar/,
  ],
  [
    'a row with a bar too many',
    { 'docs/start/a.md': page('| A | B |\n|---|---|\n| a | b | c |') },
    /^content\/docs\/start\/a\.md:9: holds a table of 2 columns with a row of 3/,
  ],
  [
    'a line that a table took in',
    { 'docs/start/a.md': page('| A | B |\n|---|---|\n| a | b |\nText.') },
    /^content\/docs\/start\/a\.md:10: holds a table of 2 columns with a row of 1/,
  ],
  ['a heading of the first level', { 'docs/start/a.md': page('# Title') }, /^content\/docs\/start\/a\.md:7: holds a heading/],
  ['a heading twice', { 'docs/start/a.md': page('## One\n\nText.\n\n## One\n\nText.') }, /has the heading "One" twice/],
  ['a post whose name can be no address', { 'blog/Not this.md': page('Text.') }, /^content\/blog\/Not this\.md: has a name/],
  ['a release without its date in its name', { 'changelog/first.md': page('Text.') }, /^content\/changelog\/first\.md: has a name/],
])('%s fails the build, naming the file', (_, files, problem, listed) => {
  expect(problemsOf(files, listed)).toContainEqual(expect.stringMatching(problem))
})

test('bars within lines, code and tables are no rows that went astray', () => {
  const body = 'Either `a` | `b`, or\n`| c`:\n\n```text\n| d |\n```\n\n| A | B |\n|---|---|\n| `x \\| y` | z |'
  expect(problemsOf({ 'docs/start/a.md': page(body) })).toEqual([])
})

test('all that is wrong is told at once', () => {
  const problems = problemsOf({ 'docs/start/a.md': page('[b](/b)', { updated: 'soon' }), 'docs/start/c.md': page('<i>x</i>') })
  expect(problems.length).toBeGreaterThanOrEqual(3)
})

test('another parser reads the same headings and links in every page', () => {
  const other = remark().use(remarkGfm)
  for (const { body, file } of readContent(ROOT).pages) {
    const [headings, links]: [string[], string[]] = [[], []]
    const see = (node: Nodes) => {
      if (node.type === 'heading') headings.push(textOf(node as Heading))
      if (node.type === 'link') links.push((node as Link).url)
    }
    walk(other.parse(body), see)
    const read: string[] = []
    walk(parse(body), (node) => node.type === 'heading' && read.push(textOf(node)))
    expect(read, file).toEqual(headings)
    expect(
      linksOf(parse(body)).map(({ url }) => url),
      file,
    ).toEqual(links)
  }
})

test('a text that stands below another has its headings lowered, and its code as it was', () => {
  expect(lowered('## One\n\n```sh\n## not a heading\n```\n\n### Two\n\n- *a*')).toBe(
    '### One\n\n```sh\n## not a heading\n```\n\n#### Two\n\n- *a*',
  )
})

test('links from the root are absolute in what agents read, wherever they stand', () => {
  const { pages } = contentOf({
    'docs/start/a.md': page('[a](/docs/start/a) `[b](/b)` [c](https://c.example/docs) [d][d]\n\n[d]: /docs/start/a'),
  })
  expect(pageMarkdown(pages[0]!, { base: 'https://shop.example' })).toContain(
    '[a](https://shop.example/docs/start/a) `[b](/b)` [c](https://c.example/docs) [d][d]\n\n[d]: https://shop.example/docs/start/a',
  )
})

test('code is coloured by classes, aligned cells have them too, and headings have their anchors', () => {
  const { pages } = contentOf({
    'docs/start/a.md': page('## "One" & two\n\n```ts\nconst a = "<b>"\n```\n\n```nonsense\n<i>\n```\n\n| a | b |\n| - | -: |\n| 1 | 2 |'),
  })
  const html = htmlOf(pages[0]!)
  expect(html).toContain('<h2 id="one--two">')
  expect(html).toContain('<span class="k">const</span>')
  expect(html).toContain('&lt;i&gt;')
  expect(html).toContain('<td class="right">2</td>')
  expect(html).not.toMatch(/style=|<b>|<i>/)
  expect(htmlOf(pages[0]!, 1)).toContain('<h3>')
})

test('headings of a quote, a list or a footnote have no anchor, and those of the page keep theirs', () => {
  const { pages } = contentOf({
    'docs/start/a.md': page('## One\n\n> ## Quoted\n>\n> Text.[^1]\n\n- ### Listed\n\n## Two\n\nText.\n\n[^1]: A note.\n\n### Three'),
  })
  const [{ headings }] = pages as [(typeof pages)[0]]
  expect(headings.map(({ id }) => id)).toEqual(['one', 'two', 'three'])
  const html = htmlOf(pages[0]!)
  const anchored = [...html.matchAll(/<h(\d) id="([^"]+)">([^<]+) <a class="anchor" href="#([^"]+)"/g)].map((found) => found.slice(1))
  expect(anchored).toEqual([
    ['2', 'one', 'One', 'one'],
    ['2', 'two', 'Two', 'two'],
    ['3', 'three', 'Three', 'three'],
  ])
  for (const plain of ['<h2>Quoted</h2>', '<h3>Listed</h3>']) expect(html).toContain(plain)
  const lower = htmlOf(pages[0]!, 1)
  for (const plain of ['<h3>One</h3>', '<h3>Quoted</h3>', '<h4>Listed</h4>', '<h4>Three</h4>']) expect(lower).toContain(plain)
})

test('where the pages are too many for llms.txt, it leads to the lists of the areas', () => {
  const pages = Object.fromEntries(
    Array.from({ length: 600 }, (_, i) => [`docs/start/page-${i}.md`, page('Text.', { title: `Page ${i}` })]),
  )
  const text = llmsTxt({ base: 'https://shop.example', content: contentOf(pages), pricing: readPricing(ROOT) })
  expect(text.length).toBeLessThan(50_000)
  expect(text).toContain('- [All 600 pages](https://shop.example/docs/llms.txt): ')
})

test('what is pasted as it stands has the addresses of the installation', () => {
  const { byPath } = pastedAt(readContent(ROOT), { base: 'https://docs.shop.example', storeApi: 'https://api.shop.example' })
  const body = (path: string) => byPath.get(path)!.body
  expect(body('/docs/commerce-sdk/installation')).toContain(`npm install https://docs.shop.example/sdk/stoa-sdk-${version}.tgz`)
  expect(body('/docs/api-reference/mcp-server')).toContain('"url": "https://api.shop.example/mcp"')
  // What a page says of where something listens stays as it is.
  expect(body('/docs/commerce-sdk/overview')).toContain('http://127.0.0.1:3000')
})
