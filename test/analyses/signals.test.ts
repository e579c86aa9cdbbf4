import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Markup } from '../../site/analyses/reading/markup.ts'
import { CRAWLERS, CURRENCY, PLATFORMS, PLUGINS } from '../../site/analyses/scan/data.ts'
import { CHECK_IDS } from '../../site/analyses/scan/security/grade.ts'
import { CONFIDENCE_LEAST, PLACES, recognise, tracesOf, type Traces } from '../../site/analyses/scan/signals.ts'
import { platformOf } from '../../site/analyses/scan/made-with.ts'
import { readContent } from '../../site/lib/content.ts'
import { ROOT } from '../site/site.ts'

const FOLDER = `${ROOT}/test/analyses/fixtures`

/** A raw answer of a shop: status line, headers, an empty line, the page. */
function tracesIn(file: string): Traces {
  const text = readFileSync(`${FOLDER}/${file}`, 'utf8')
  const at = text.indexOf('\n\n')
  const headers = text
    .slice(0, at)
    .split('\n')
    .slice(1)
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const)
  const markup = new Markup()
  markup.write(text.slice(at + 2))
  const cookies = headers.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value)
  return tracesOf(markup.end(), { url: new URL('https://shop.example/'), headers, cookies })
}

const pages = (kind: string) => readdirSync(`${FOLDER}/${kind}`).map((file) => `${kind}/${file}`)
const ENTRIES = [...PLATFORMS.map((entry) => ({ kind: 'platforms', ...entry })), ...PLUGINS.map((entry) => ({ kind: 'plugins', ...entry }))]
/** What is told of a page, by `kind/id`. */
const toldOf = (traces: Traces) =>
  ENTRIES.filter(({ signals }) => recognise(traces, signals).confidence >= CONFIDENCE_LEAST).map(({ kind, id }) => `${kind}/${id}`)

describe('each fixture is found for what it is, and for nothing else', () => {
  test.each([...pages('platforms'), ...pages('plugins')])('%s', (file) => {
    expect(toldOf(tracesIn(file))).toEqual([file.replace('.http', '')])
  })

  test.each(pages('shops'))('%s, made by hand, is nothing that is known', (file) => {
    expect(toldOf(tracesIn(file))).toEqual([])
  })

  test('there is one for every entry, and there are as many entries as were promised', () => {
    for (const [kind, entries] of Object.entries({ platforms: PLATFORMS, plugins: PLUGINS })) {
      const named = entries.map(({ id }) => id)
      expect(
        pages(kind)
          .map((file) => basename(file, '.http'))
          .toSorted(),
      ).toEqual(named.toSorted())
      expect(new Set(named).size).toBe(named.length)
    }
    expect(pages('shops').length).toBeGreaterThanOrEqual(20)
    expect(PLATFORMS.length).toBeGreaterThanOrEqual(30)
    expect(PLUGINS.length).toBeGreaterThanOrEqual(60)
    expect(CRAWLERS.length).toBeGreaterThanOrEqual(25)
  })

  test('one signal that anybody could have is not enough for a platform', () => {
    for (const { id, signals } of ENTRIES) expect([id, signals.length > 0]).toEqual([id, true])
    // A page that names all platforms in its text and links to them.
    const names = PLATFORMS.map(({ name, website }) => `<p>${name} <a href="${website}">${website}</a></p>`).join('')
    const markup = new Markup()
    markup.write(`<html><head><title>Shopify, WooCommerce, Magento</title></head><body>${names}</body></html>`)
    const traces = tracesOf(markup.end(), { url: new URL('https://blog.example/'), headers: [], cookies: [] })
    expect(platformOf(traces)).toBeNull()
  })
})

describe('the data is in order', () => {
  test.each(ENTRIES)('$kind/$id: its signals', ({ signals }) => {
    for (const signal of signals) {
      expect(PLACES).toContain(signal.in)
      expect([1, 0.5, 0.25]).toContain(signal.weight)
      // A space may be what tells a name from a longer one.
      expect(signal.match.trim().length).toBeGreaterThanOrEqual(signal.match.length - 1)
      expect(signal.match.length).toBeGreaterThanOrEqual(4)
    }
    expect(new Set(signals.map((signal) => JSON.stringify([signal.in, signal.match]))).size).toBe(signals.length)
  })

  test('platforms say who runs them, and what of their headers a merchant can not change', () => {
    for (const { hosting, locked, website } of PLATFORMS) {
      expect(['saas', 'self-hosted']).toContain(hosting)
      expect(locked.filter((id) => !CHECK_IDS.includes(id))).toEqual([])
      if (hosting === 'self-hosted') expect(locked).toEqual([])
      expect(new URL(website).protocol).toBe('https:')
    }
  })

  // By the day of the newest release, so that what is released stays as it was tested.
  const released = readContent(ROOT).pages.filter(({ kind }) => kind === 'changelog')[0]!.date

  test.each(PLUGINS)('$id: its price has a source of the last twelve months, or there is none', ({ pricing, category }) => {
    const { model, monthlyMin, monthlyMax, asOf, sourceUrl } = pricing
    expect(['free', 'freemium', 'flat', 'tiered', 'usage', 'quote']).toContain(model)
    expect(category).toMatch(/^[a-z-]+$/)
    if (monthlyMin === null) return expect([monthlyMax, asOf, sourceUrl]).toEqual([null, null, null])
    expect(monthlyMin).toBeGreaterThanOrEqual(0)
    expect(monthlyMax).toBeGreaterThanOrEqual(monthlyMin)
    expect(new URL(sourceUrl!).protocol).toBe('https:')
    expect(asOf).toMatch(/^\d{4}-\d\d-\d\d$/)
    const [year, ...rest] = released.split('-')
    expect(asOf! > [Number(year) - 1, ...rest].join('-')).toBe(true)
    expect(asOf! <= released).toBe(true)
  })

  test('prices are in one currency; crawlers have an operator that says what they are for', () => {
    expect(CURRENCY).toBe('USD')
    for (const { operator, purpose, sourceUrl, userAgent } of CRAWLERS) {
      expect(operator).toBeTruthy()
      expect(['training', 'search', 'assistant']).toContain(purpose)
      expect(new URL(sourceUrl).protocol).toBe('https:')
      expect(userAgent).toMatch(/^[A-Za-z][\w.-]+$/)
    }
    expect(new Set(CRAWLERS.map(({ userAgent }) => userAgent.toLowerCase())).size).toBe(CRAWLERS.length)
    for (const purpose of ['training', 'search', 'assistant'])
      expect(CRAWLERS.filter((crawler) => crawler.purpose === purpose).length).toBeGreaterThanOrEqual(4)
  })
})
