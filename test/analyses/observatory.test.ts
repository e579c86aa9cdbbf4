import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Markup } from '../../site/analyses/reading/markup.ts'
import { isHtml } from '../../site/analyses/reading/visit.ts'
import { gradeSecurity } from '../../site/analyses/scan/security/grade.ts'
import { headerOf } from '../../api/outside/exchange.ts'

interface Case {
  id: string
  note: string
  url: string
  headers: [string, string][]
  body: string
  cookiesBefore?: string[]
  route: string[] | null
  cors?: [string, string][]
  score: number
  grade: string
  modifiers: Record<string, number>
  fails: string[]
}
/** What Mozilla's scanner made of these sites, served on loopback (`version` of `scanner`). */
const { cases, preloaded } = JSON.parse(readFileSync(new URL('observatory.json', import.meta.url), 'utf8')) as {
  cases: Case[]
  preloaded: string[]
}
const ORIGIN = 'https://stranger.invalid'

function graded({ url, headers, body, cookiesBefore = [], route, cors }: Case) {
  const type = headerOf({ headers }, 'content-type')
  const markup = new Markup()
  if (isHtml(type)) markup.write(body)
  markup.end()
  return gradeSecurity({
    url: new URL(url),
    headers,
    cookies: [
      { url, lines: cookiesBefore },
      { url, lines: headers.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value) },
    ],
    isHtml: isHtml(type),
    metas: markup.metas,
    scripts: markup.scripts,
    base: markup.base,
    httpRoute: route,
    cors: cors ? { origin: ORIGIN, headers: cors.map(([name, value]) => [name, value.replace('{origin}', ORIGIN)] as const) } : null,
    isPreloaded: (host) => preloaded.some((name) => host === name || host.endsWith(`.${name}`)),
  })
}

/** Where that scanner has a defect of its own: it never finds what its own table calls universal access, compares types
 * letter by letter, and keeps Secure cookies that came over http, which browsers refuse. */
const DEFECTS = [
  'cookies-http-only-session',
  'cors-echo-credentials',
  'sri-content-type-case',
  'sri-content-type-space',
  'sri-content-type-none',
  'sri-not-parseable',
  'status-https-dead-end',
]

describe('the score of a site is that of Mozilla’s Observatory', () => {
  test.each(cases.filter(({ id }) => !DEFECTS.includes(id)))('$id: $note', (one) => {
    const { score, grade, checks } = graded(one)
    const modifiers = Object.fromEntries(checks.filter(({ modifier }) => modifier).map(({ id, modifier }) => [id, modifier]))
    expect([modifiers, score, grade]).toEqual([one.modifiers, one.score, one.grade])
    expect(
      checks
        .filter(({ pass }) => !pass)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(one.fails.toSorted())
  })
})
