import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderFor } from '../folder.ts'
import { version } from '../../package.json'
import { LIMITS } from '../../api/values/plans.ts'
import { readContent } from '../../site/lib/content.ts'
import { outputsOf } from '../../site/lib/outputs.ts'
import { readPricing } from '../../site/lib/pricing.ts'
import { storeApi } from '../../site/lib/reference.ts'
import { ANSWER_MAX_BYTES } from '../../api/mcp/trim.ts'
import { openSite, ROOT } from './site.ts'

const { ask, base, manifest } = await openSite()
const content = readContent(ROOT)
const pages = Object.keys(manifest.pages)

/** The targets of a page's links, with the anchors. */
const linksIn = (html: string) =>
  [...html.matchAll(/<a\b[^>]*\bhref="([^"]+)"/g)].map(([, href]) => href!.replaceAll('&amp;', '&').replaceAll('&#38;', '&'))

describe('links', () => {
  test('every link and anchor of every page leads somewhere, in HTML', async () => {
    const anchors = new Map<string, Set<string>>()
    const texts = new Map<string, string>()
    for (const path of pages) {
      const { text } = await ask(path)
      texts.set(path, text)
      anchors.set(path, new Set([...text.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id!)))
    }
    const broken: string[] = []
    for (const [path, text] of texts)
      for (const link of linksIn(text)) {
        if (/^(https?:|mailto:)/.test(link) && !link.startsWith(`${base}/`)) continue
        const [target, anchor] = link.replace(base, '').split('#') as [string, string?]
        const at = target === '' ? path : target.split('?')[0]!
        if (!(at in manifest.files) && !(at in manifest.pages)) broken.push(`${path} -> ${link}`)
        else if (anchor && !anchors.get(at)?.has(anchor)) broken.push(`${path} -> ${link} (no anchor)`)
      }
    expect(broken).toEqual([])
  })

  test('every absolute link of every Markdown leads to a page or a file', async () => {
    const broken: string[] = []
    for (const path of Object.keys(manifest.files).filter((name) => /\.md$|llms.*\.txt$/.test(name))) {
      const { text } = await ask(path)
      for (const [, link] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (!link!.startsWith(base)) continue
        const [at] = link!.slice(base.length).split('#') as [string]
        if (!((at || '/') in manifest.files) && !(at in manifest.pages)) broken.push(`${path} -> ${link}`)
      }
    }
    expect(broken).toEqual([])
  })
})

describe('lists for machines', () => {
  test('llms.txt has a line for each page with an absolute .md link, under 50,000 characters', async () => {
    const { text } = await ask('/llms.txt')
    expect(text.length).toBeLessThan(50_000)
    for (const { path, summary } of content.pages) {
      const line = text.split('\n').find((candidate) => candidate.startsWith('- [') && candidate.includes(`](${base}${path}.md)`))
      expect(line, path).toMatch(/^- \[.+\]\(.+\): .+/)
      expect(line).toContain(summary)
    }
  })

  test('llms.txt begins with what to read for which task, and with the search', async () => {
    const { text } = await ask('/llms.txt')
    const [tasks] = /^# Stoa\n\n> .+\n\nWhat to read for which task:\n\n((?:- .+\n)+)/.exec(text)!.slice(1)
    const lines = new Map(
      tasks!
        .trim()
        .split('\n')
        .map((line) => [/^- ([^:]+):/.exec(line)![1], line] as const),
    )
    for (const task of ['Sell', 'Ship', 'Mail', 'Build a shop', 'Run it'])
      expect(lines.get(task)?.match(/\]\(http[^)]+\.md\)/g)?.length, task).toBeGreaterThanOrEqual(3)
    expect(lines.get('Anything else')).toContain(`${base}/api/search?q=`)
    expect(text.indexOf('](')).toBeLessThan(500)
  })

  test('llms-full.txt has every page, and each area its own list', async () => {
    const { text } = await ask('/llms-full.txt')
    for (const { title, kind } of content.pages) if (kind !== 'changelog') expect(text).toContain(`# ${title}\n`)
    for (const area of ['docs', 'help', 'blog', 'changelog'])
      for (const file of ['sitemap.md', 'llms.txt']) {
        const list = (await ask(`/${area}/${file}`)).text
        for (const page of content.pages) expect(list.includes(`](${base}${page.path}.md)`), page.path).toBe(page.kind === area)
      }
  })

  test('sitemap.xml has every page once, and the days of change', async () => {
    const { text } = await ask('/sitemap.xml')
    const found = [...text.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url]) => url!.slice(base.length) || '/')
    expect(new Set(found).size).toBe(found.length)
    for (const path of pages.filter((page) => page !== '/search')) expect(found).toContain(path)
    for (const [, day] of text.matchAll(/<lastmod>([^<]+)<\/lastmod>/g)) expect(day).toMatch(/^\d{4}-\d\d-\d\d$/)
    expect((await ask('/robots.txt')).text).toMatch(/^User-agent: \*\nContent-Signal: .+\nAllow: \/\n\nSitemap: http/)
  })

  test.each(['/rss.xml', '/blog/rss.xml', '/changelog/rss.xml'])(
    '%s is RSS 2.0 with absolute links and dates, newest first',
    async (path) => {
      const { text } = await ask(path)
      expect(text).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<rss version="2.0"/)
      expect(text).toContain(`<atom:link href="${base}${path}" rel="self" type="application/rss+xml"/>`)
      const items = [...text.matchAll(/<item>([^]*?)<\/item>/g)].map(([, item]) => item!)
      expect(items.length).toBeGreaterThan(0)
      const dates = items.map((item) => Date.parse(/<pubDate>(.+)<\/pubDate>/.exec(item)![1]!))
      expect(dates).toEqual(dates.toSorted((a, b) => b - a))
      for (const item of items) expect(pages).toContain(/<link>([^<]+)<\/link>/.exec(item)![1]!.slice(base.length))
    },
  )

  test('the API catalogue names both APIs and both MCP servers with what describes them', async () => {
    const { linkset } = JSON.parse((await ask('/.well-known/api-catalog')).text)
    const anchors = [`${base}/`, `${manifest.storeApi}/api/v1`, `${base}/mcp`, `${manifest.storeApi}/mcp`]
    expect(linkset.map(({ anchor }: { anchor: string }) => anchor)).toEqual(anchors)
    for (const entry of linkset)
      for (const relation of ['service-desc', 'service-doc', ...(entry.anchor.endsWith('/mcp') ? [] : ['status'])])
        expect(entry[relation][0].href).toMatch(/^http/)
  })
})

describe('openapi.json', () => {
  test('describes what there is, with the sections and slugs that there are', async () => {
    const document = JSON.parse((await ask('/openapi.json')).text)
    expect([document.openapi, document.info.version]).toEqual([expect.stringMatching(/^3\.1/), '1.0.0'])
    const parameters = document.paths['/api/docs/{section}/{slug}'].get.parameters
    expect(parameters[0].schema.enum).toEqual(['getting-started', 'storefront', 'commerce-sdk', 'api-reference'])
    expect(new Set(parameters[1].schema.enum)).toEqual(new Set(content.pages.filter(({ kind }) => kind === 'docs').map(({ slug }) => slug)))
    for (const [path, { get }] of Object.entries(document.paths as Record<string, any>)) {
      // These ask for shops: test/analyses has some.
      if (get.tags.includes('analyses')) continue
      const concrete = path
        .replace('{section}/sitemap', 'docs/sitemap')
        .replace('docs/{section}/{slug}', 'docs/api-reference/coupons')
        .replace('help/{category}/{slug}', 'help/payments/taxes')
        .replace('blog/{slug}', 'blog/group-commit')
        .replace('/api/search', '/api/search?q=coupon')
        .replace('changelog/{slug}', '2026-11-21-a-store-that-sells')
      const answer = await ask(concrete.replace('/api/2026', '/api/changelog/2026'))
      expect([answer.status, Object.keys(get.responses[200].content)[0]], path).toEqual([
        200,
        answer.headers.get('content-type')!.split(';')[0],
      ])
    }
  })

  test('has nothing that the linter minds', async () => {
    const folder = folderFor('lint')
    try {
      writeFileSync(join(folder, 'openapi.json'), (await ask('/openapi.json')).text)
      const child = Bun.spawnSync(
        [
          process.execPath,
          join(ROOT, 'node_modules/.bin/redocly'),
          'lint',
          join(folder, 'openapi.json'),
          '--config',
          join(ROOT, 'redocly.yaml'),
        ],
        { cwd: ROOT },
      )
      expect(child.exitCode, child.stdout.toString() + child.stderr.toString()).toBe(0)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

test('prices carry the limits that the store API enforces', async () => {
  const pricing = JSON.parse((await ask('/api/pricing')).text)
  expect(Object.keys(pricing).toSorted()).toEqual(['currency', 'features', 'plans', 'updatedAt'])
  for (const plan of pricing.plans) {
    expect(Object.keys(plan).toSorted()).toEqual(['features', 'id', 'limits', 'name', 'priceMonthly', 'priceYearly', 'tagline'])
    expect(plan.limits).toEqual(LIMITS[plan.id as keyof typeof LIMITS])
  }
})

test('the latest release, and a release headed by version and date', async () => {
  const latest = JSON.parse((await ask('/api/changelog/latest')).text)
  expect(latest).toEqual({
    version,
    date: '2026-11-23',
    headline: 'For those who build on it',
    slug: '2026-11-23-builders',
    url: `${base}/changelog/2026-11-23-builders`,
    fixes: expect.any(Array),
    markdown: expect.stringMatching(/^# 0\.8\.0, 2026-11-23/),
  })
  expect((await ask(`/api/changelog/${latest.slug}`)).text).toBe(latest.markdown)
})

test('the same content gives the same bytes', () => {
  const made = () => [...outputsOf({ base, content: readContent(ROOT), pricing: readPricing(ROOT) }, manifest.storeApi)]
  expect(made()).toEqual(made())
  expect(JSON.stringify(storeApi())).toBe(JSON.stringify(storeApi()))
})

describe('weight', () => {
  test('no page of the content has more Markdown than a tool shows at once', async () => {
    const heavy = []
    for (const { path } of content.pages) {
      const bytes = Buffer.byteLength((await ask(`${path}.md`)).text)
      if (bytes > ANSWER_MAX_BYTES - 500) heavy.push(`${path}: ${bytes}`)
    }
    expect(heavy).toEqual([])
  })

  test('what the statuses mean is said once, and the pages of the reference lead there', async () => {
    const reference = content.pages.filter(({ section, body }) => section === 'api-reference' && / Answers `\d/.test(body))
    expect(reference.length).toBeGreaterThan(20)
    for (const { body, file } of reference) {
      expect(body, file).toContain('[once for all](/docs/api-reference/overview#statuses)')
      expect(body, file).not.toMatch(/The key lacks the scope, or the plan|There is no such resource in this store/)
    }
    const { body } = content.byPath.get('/docs/api-reference/overview')!
    const said = new Set([...body.matchAll(/^\| (\d{3}(?:, \d{3})*) \|/gm)].flatMap(([, statuses]) => statuses!.split(', ')))
    const answered = Object.values(storeApi().paths as Record<string, object>).flatMap((methods) =>
      Object.values(methods).flatMap(({ responses }: any) => Object.keys(responses)),
    )
    expect([...new Set(answered)].filter((status) => !said.has(status))).toEqual([])
  })

  test('a page of the documentation: HTML, CSS and scripts, compressed', async () => {
    const size = async (path: string) => Number((await ask(path, { 'accept-encoding': 'br' }, 'HEAD')).headers.get('content-length'))
    const css = Object.keys(manifest.files).filter((path) => /^\/_astro\/.*\.css$/.test(path))
    const { text } = await ask('/docs/getting-started/quick-start')
    const scripts = [...text.matchAll(/<script[^>]*src="([^"]+)"/g)].map(([, src]) => src!)
    const sum = async (paths: string[]) => (await Promise.all(paths.map(size))).reduce((a, b) => a + b, 0)
    expect(await sum(css)).toBeLessThanOrEqual(12 * 1024)
    expect(await sum(scripts)).toBeLessThanOrEqual(3 * 1024)
    const heavy = []
    for (const path of pages.filter((page) => /^\/(docs|help|blog)\//.test(page))) if ((await size(path)) > 14 * 1024) heavy.push(path)
    expect(heavy).toEqual([])
  })
})

test('every page describes itself as data, and names a picture to be shared with', async () => {
  for (const path of pages) {
    const [, data] = /<script type="application\/ld\+json">(.+?)<\/script>/.exec((await ask(path)).text) ?? []
    expect([JSON.parse(data!)].flat()[0]['@context'], path).toBe('https://schema.org')
    const [, url] = /<meta property="og:image" content="([^"]+)"/.exec((await ask(path)).text) ?? []
    const { status, headers } = await ask(url!.replace(base, ''), {}, 'HEAD')
    expect([url!.startsWith(`${base}/previews/`), status, headers.get('content-type')]).toEqual([true, 200, 'image/png'])
  }
})
