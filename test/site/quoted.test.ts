/** What pages quote (figures, the project), what they are marked as (planned), and what is drawn of them. */
import { afterEach, describe, expect, test } from 'vitest'
import { chartOf } from '../../site/lib/chart.ts'
import { svgOf } from '../../site/lib/diagram.ts'
import { htmlOf } from '../../site/lib/html.ts'
import { securityTxt } from '../../site/lib/machine.ts'
import { figuresOf, measuredBody, type Peers } from '../../site/lib/measured.ts'
import { codeOf, parse } from '../../site/lib/markdown.ts'
import { needsOf, unexplained } from '../../site/lib/needs.ts'
import { sectionsOf } from '../../site/lib/nav.ts'
import { isPlanned, roadmapBody } from '../../site/lib/planned.ts'
import { readPricing } from '../../site/lib/pricing.ts'
import { readContent } from '../../site/lib/content.ts'
import { llmsTxt } from '../../site/lib/texts.ts'
import { contentOf, page, problemsOf, removeFolders } from './fixture.ts'
import { ROOT } from './site.ts'

afterEach(removeFolders)

const parseCode = (markdown: string) => codeOf(parse(markdown))

const figure = (more: object = {}) => ({
  id: 'orders',
  value: 12_345,
  unit: 'orders',
  what: 'Orders that were made.',
  date: '2026-03-01',
  commit: 'abcdef1',
  machine: '2 cores',
  command: 'npm run bench',
  caveats: [],
  ...more,
})
const release = (version: string, date: string) =>
  page('It brings things.').replace(
    /title.*\nsummary.*\nupdated.*/,
    `version: ${version}\ndate: ${date}\nheadline: Release ${version}\nfixes: []`,
  )
const quoting = { 'docs/start/a.md': page('It made {figure:orders} in a row.') }

describe('a figure', () => {
  test('is quoted with its unit, from one file', () => {
    const { byPath } = contentOf({ ...quoting, 'figures.json': JSON.stringify([figure()]) })
    expect(byPath.get('/docs/start/a')!.body).toBe('It made 12,345 orders in a row.')
  })

  test.each([
    ['that there is not', [], /a\.md: quotes the figure orders, which content\/figures\.json does not have/],
    ['that is there twice', [figure(), figure()], /^content\/figures\.json: has orders twice/],
    ['without a machine', [figure({ machine: undefined })], /^content\/figures\.json: \/0\/machine/],
    [
      'of the minor release before',
      [figure({ date: '2026-01-31' })],
      /orders was measured on 2026-01-31, before 0\.5\.0 of 2026-02-01: run npm run bench again/,
    ],
  ])('%s fails the build', (_, figures, problem) => {
    const releases = {
      'changelog/2026-02-01-a.md': release('0.5.0', '2026-02-01'),
      'changelog/2026-03-02-b.md': release('0.5.1', '2026-03-02'),
    }
    expect(problemsOf({ ...quoting, ...releases, 'figures.json': JSON.stringify(figures) })).toContainEqual(expect.stringMatching(problem))
  })

  test('of a minor release lasts for its fixes', () => {
    const releases = {
      'changelog/2026-02-01-a.md': release('0.5.0', '2026-02-01'),
      'changelog/2026-03-02-b.md': release('0.5.1', '2026-03-02'),
    }
    expect(problemsOf({ ...quoting, ...releases, 'figures.json': JSON.stringify([figure({ date: '2026-02-01' })]) })).toEqual([])
  })
})

describe('the project', () => {
  const files = { 'docs/start/a.md': page('Text.\nTake {project:repository}.\nFree: {unless:licence}\nLicensed: {when:licence}') }
  const bodyWith = (project: object) => {
    const whole = { repository: '', licence: '', contact: '', ...project }
    return contentOf({ ...files, 'project.json': JSON.stringify(whole) })
      .byPath.get('/docs/start/a')!
      .body.trim()
  }

  test('is said where it is known; an empty field hides its line', () => {
    expect(bodyWith({})).toBe('Text.\nFree:')
    expect(bodyWith({ repository: 'https://git.example/stoa', licence: 'MIT' })).toBe('Text.\nTake https://git.example/stoa.\nLicensed:')
    expect(problemsOf({ ...files, 'project.json': '{"repository":"","licence":"","contact":"nobody"}' })).toEqual([
      expect.stringMatching(/^content\/project\.json: \/contact/),
    ])
  })

  test('has a security.txt where somebody is to be told', () => {
    const content = contentOf({
      ...files,
      'project.json': '{"repository":"","licence":"","contact":"mailto:a@shop.example"}',
      'changelog/2026-02-01-a.md': release('0.5.0', '2026-02-01'),
    })
    expect(securityTxt({ base: 'https://docs.example', content, pricing: readPricing(ROOT) }).split('\n')).toEqual([
      'Contact: mailto:a@shop.example',
      'Expires: 2027-01-31T00:00:00.000Z',
      'Preferred-Languages: en',
      'Canonical: https://docs.example/.well-known/security.txt',
      '',
    ])
  })
})

describe('what is planned', () => {
  const planned = page('> **Not in this release.** Until then\n> [do this](#today).\n\n## Today\n\nText.', { title: 'A plan' })
  const content = () => contentOf({ 'docs/start/a.md': page('Text.'), 'docs/start/b.md': planned })

  test('is known by its notice, stands on one page with it, and by itself in llms.txt', () => {
    const { pages } = content()
    expect(pages.map(isPlanned)).toEqual([false, true])
    expect(roadmapBody({ pages })).toContain('Until then [do this](/docs/start/b#today). [The page](/docs/start/b).')
    expect(roadmapBody({ pages: pages.slice(0, 1) })).toContain('everything that has a page is there')
    const [there, later] = llmsTxt({ base: '', content: content(), pricing: readPricing(ROOT) }).split('## Planned')
    expect([there!.includes('A plan'), later!.includes('A plan')]).toEqual([false, true])
  })
})

describe('code', () => {
  const wide = `${'word '.repeat(20)}end`
  test.each([
    ['sh', `echo ${wide}`, 1],
    ['ts', `// ${wide}`, 1],
    ['text', wide, 0],
    ['sh', `${'x'.repeat(90)} \\`, 0],
    ['json', `{\n  "a": "${wide}"\n}`, 0],
  ])('in %s is refused where a laptop would cut it off: %s', (language, code, count) => {
    const problems = problemsOf({ 'docs/start/a.md': page(`Text.\n\n\`\`\`${language}\n${code}\n\`\`\``) })
    expect(problems.filter((problem) => /has a line of code of more than 76 columns/.test(problem))).toHaveLength(count)
  })

  test('is introduced by the scopes that it needs and what its variables stand for; one that nothing explains is refused', () => {
    const request = 'Text.\n\n```sh\ncurl "$STORE_URL/api/v1/orders/$ORDER_ID?x=$NUMBER" \\\n  -H "Authorization: Bearer $API_KEY"\n```'
    expect(problemsOf({ 'docs/start/a.md': page(request) })).toContainEqual(expect.stringMatching(/a\.md: reads \$NUMBER in a command/))
    const scopes = '[scopes](/docs/api-reference/authentication#scopes)'
    const paragraph = needsOf(parseCode(request))
    expect(paragraph).toContain(`You need an API key with \`orders:read\` (${scopes}). In the requests, `)
    expect(paragraph).toMatch(
      /`\$API_KEY` is your API key and `\$ORDER_ID` is the id of a paid order \(\[from its number\]\([^)]+\)\)\. In TypeScript, `stoa` is \[a client\]\([^)]+\) with the key of the request, and `\$ORDER_ID` is `orderId`\.$/,
    )
    expect(unexplained(parseCode(request), request)).toEqual(['NUMBER'])
    expect(unexplained(parseCode(request), `${request}\n\nIts number is \`$NUMBER\`.`)).toEqual([])
    expect(unexplained(parseCode(`\`\`\`sh\nexport NUMBER=1\necho $NUMBER\n\`\`\``), '')).toEqual([])
  })

  test('says what it is: a request, its answer, a file', () => {
    const body =
      '```sh\ncurl "$STORE_URL/api/v1/products"\n```\n\n```json\n{}\n```\n\n```sh status=404\ncurl "$STORE_URL/api/v1/products/x"\n```\n\n```json\n{}\n```\n\n```ts file=shop.ts\n1\n```'
    const heads = [...htmlOf({ body }).matchAll(/<span class="what">(.*?)<\/span><(?:\/div|button)/g)].map(([, text]) =>
      text!.replace(/<[^>]+>/g, ''),
    )
    expect(heads).toEqual(['GET /products', 'GET /products', 'Answer 200', 'GET /products/x', 'Answer 404', 'shop.ts'])
  })
})

test('the reference stands in the groups of the tags of the API, and no page is left out', () => {
  const content = readContent(ROOT)
  const [reference] = sectionsOf(content, 'docs').filter(({ id }) => id === 'api-reference')
  const groups = reference!.groups.map(({ title }) => title)
  expect(groups.slice(0, 4)).toEqual(['Begin here', 'Store', 'Catalog', 'Carts and shipping'])
  const grouped = reference!.groups.flatMap(({ pages }) => pages.map(({ path }) => path))
  expect(grouped.toSorted()).toEqual(reference!.pages.map(({ path }) => path).toSorted())
})

describe('what is drawn', () => {
  test('a diagram is SVG with the words of its text, and none of the colours; what is no graph is refused', () => {
    const svg = svgOf('digraph { a [label="Cart"] b [label="Order"] a -> b [label="pays"] }')
    expect(svg).toMatch(/^<svg width="\d+" height="\d+" aria-hidden="true" viewBox=/)
    for (const word of ['Cart', 'Order', 'pays']) expect(svg).toContain(`>${word}</text>`)
    expect(svg).not.toMatch(/style=|black|<title|<!--/)
    expect(() => svgOf('digraph { a -> ')).toThrow('is no diagram')
  })

  test('a chart has a dot for each variant, between the powers of ten around them', () => {
    const row = (system: string, perSecond: number) => ({
      call: 'list',
      system,
      variant: 'a & b',
      perSecond,
      p50Ms: 1,
      p99Ms: 2,
      perRound: [perSecond],
    })
    const svg = chartOf([row('stoa', 1_200), row('other', 30)])
    expect(svg.match(/<circle/g)).toHaveLength(2)
    expect([...svg.matchAll(/class="tick"[^>]*>([^<]+)</g)].map(([, text]) => text)).toEqual(['10/s', '100/s', '1,000/s', '10,000/s'])
    expect(svg).toContain('aria-label="stoa, a &amp; b: 1,200 a second; other, a &amp; b: 30 a second"')
    expect(svg).not.toContain('<rect')
  })

  test('the comparison is told with what speaks against it, and quoted at its own expense', () => {
    const rows = [
      ['stoa', 'remembering answers', 9_000],
      ['stoa', 'remembering no answers', 1_000],
      ['vendure', 'slow', 40],
      ['vendure', 'fast', 100],
      ['medusa', 'only', 10],
    ].map(([system, variant, perSecond]) => ({
      call: 'list',
      system,
      variant,
      perSecond,
      p50Ms: 1,
      p99Ms: 2,
      perRound: [perSecond],
    })) as Peers['rows']
    const peers: Peers = {
      ...{ date: '2026-03-01T10:00:00Z', commit: 'abcdef1234', rounds: 5, seconds: 3, connections: 16, products: 1_000, rows },
      machine: { cpus: 2, model: 'A', memoryGb: 4, os: 'Linux' },
      ...{ versions: { stoa: '1' }, notCompared: ['Checkout.'], against: ['All in memory.'] },
    }
    expect(figuresOf(peers).map(({ id, value }) => [id, value])).toEqual([
      ['vendure-list', 10],
      ['medusa-list', 100],
    ])
    const body = measuredBody([figure()], peers)
    for (const text of ['| stoa | remembering answers | 9,000 |', '- All in memory.', '- Checkout.', '12,345 orders (orders)'])
      expect(body).toContain(text)
  })
})
