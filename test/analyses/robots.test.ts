import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CRAWLERS } from '../../site/analyses/scan/data.ts'
import { parseRobots } from '../../site/analyses/scan/robots.ts'

interface Case {
  name: string
  robots: string
  userAgent: string
  path: string
  allowed: boolean
}
const cases = JSON.parse(readFileSync(new URL('robots.json', import.meta.url), 'utf8')) as Case[]

describe('robots.txt as RFC 9309 says', () => {
  test.each(cases)('$name', ({ robots, userAgent, path, allowed }) => {
    expect(parseRobots(robots).verdict(userAgent, path).allowed).toBe(allowed)
  })

  test.each(CRAWLERS)('$userAgent can be shut out and let in by its name', ({ userAgent }) => {
    const only = parseRobots(`User-agent: ${userAgent}\nDisallow: /\n\nUser-agent: *\nAllow: /\n`)
    expect(only.verdict(userAgent, '/shoes')).toEqual({ allowed: false, rule: 'Disallow: /' })
    const others = CRAWLERS.filter((crawler) => crawler.userAgent !== userAgent)
    expect(others.filter((crawler) => !only.verdict(crawler.userAgent, '/shoes').allowed)).toEqual([])
    const all = parseRobots(`User-agent: *\nDisallow: /\n\nUser-agent: ${userAgent.toUpperCase()}\nAllow: /\n`)
    expect(all.verdict(userAgent, '/shoes')).toEqual({ allowed: true, rule: 'Allow: /' })
  })

  test('the line that decides is told, sitemaps and the content signal, too', () => {
    const { verdict, sitemaps, contentSignal } = parseRobots(
      'User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /cart\nAllow: /cart/help # not the cart\nSitemap: https://shop.example/a.xml\nsitemap: /b.xml\n',
    )
    expect(verdict('GPTBot', '/cart/help/1')).toEqual({ allowed: true, rule: 'Allow: /cart/help' })
    expect(verdict('GPTBot', '/cart')).toEqual({ allowed: false, rule: 'Disallow: /cart' })
    expect(verdict('GPTBot', '/')).toEqual({ allowed: true, rule: null })
    expect([sitemaps, contentSignal]).toEqual([['https://shop.example/a.xml', '/b.xml'], 'search=yes, ai-train=no'])
  })

  test('half a megabyte of the worst patterns takes no longer than its length', () => {
    const stars = 'Disallow: /' + '*a'.repeat(900) + '$\n'
    const worst = `User-agent: *\n${stars.repeat(Math.floor((512 * 1024) / stars.length))}`
    const agents = Array.from({ length: 40_000 }, (_, i) => `User-agent: a${i}`).join('\n')
    const started = performance.now()
    const robots = parseRobots(worst)
    for (const { userAgent } of CRAWLERS) robots.verdict(userAgent, '/' + 'a'.repeat(2_000) + 'b')
    for (const { userAgent } of CRAWLERS) parseRobots(agents).verdict(userAgent, '/')
    expect(performance.now() - started).toBeLessThan(8_000)
  })
})
