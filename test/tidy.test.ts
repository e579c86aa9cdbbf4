import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The rooms of `api/`, `db/store/` and `test/`. */
const ROOMS = ['store', 'catalog', 'checkout', 'orders', 'marketing', 'content', 'events', 'builder']
/** Files that are pure rules: they import nothing but each other. */
const RULES = [
  'api/plans.ts',
  'api/checkout/price.ts',
  'api/checkout/discounts.ts',
  'api/checkout/lines.ts',
  'api/time.ts',
  'api/locales.ts',
  'api/hostname.ts',
  'api/email.ts',
  'api/http/etag.ts',
  'api/http/rate-limit.ts',
  'api/orders/assignment.ts',
  'api/orders/carriers/layout.ts',
  'api/orders/carriers/parcel.ts',
  'api/marketing/points/tier.ts',
  'api/marketing/points/earning.ts',
  'api/marketing/points/redeeming.ts',
  'api/content/handle.ts',
  'api/public-address.ts',
]
const LINES_MAX = 250

const files = ['api', 'db', 'scripts', 'site']
  .flatMap((top) => readdirSync(top, { recursive: true, encoding: 'utf8' }).map((path) => join(top, path)))
  .filter((path) => /\.(ts|mjs)$/.test(path) && !path.includes('node_modules'))
const text = new Map(files.map((path) => [path, readFileSync(path, 'utf8')]))

/** The files of the project that a file imports, types left out. */
function importsOf(path: string): string[] {
  return [...text.get(path)!.matchAll(/^import (?!type )(?:[^'"]*? from )?['"](\.[^'"]+)['"]/gm)].map(([, target]) =>
    relative('.', resolve(dirname(path), target!)),
  )
}

describe('the project is tidy', () => {
  test.each(files)('%s is one thing, says what it is, and holds no notes to its authors', (path) => {
    const content = text.get(path)!
    expect(content.split('\n').length).toBeLessThanOrEqual(LINES_MAX)
    if (path.endsWith('.ts')) expect(content.startsWith('/**') || content.startsWith('#!') || path.includes('drizzle.')).toBe(true)
    expect(content).not.toMatch(/\b(TODO|FIXME|XXX|HACK)\b/)
  })

  test('all is formatted as Prettier does it: npm run format', () => {
    const { exitCode, stderr } = Bun.spawnSync([process.execPath, 'node_modules/.bin/prettier', '--check', '.'])
    expect(exitCode, stderr.toString()).toBe(0)
  }, 60_000)

  test('there are no barrels, and nothing called utils, helpers or managers', () => {
    expect(files.filter((path) => /(^|\/)(index|utils?|helpers?|manager|service)\.ts$/.test(path))).toEqual([])
  })

  test('db imports no api; pure rules import rules alone', () => {
    expect(
      files
        .filter((path) => path.startsWith('db/'))
        .flatMap(importsOf)
        .filter((target) => target.startsWith('api/') && !RULES.includes(target) && !/^api\/(slug|money)\.ts$/.test(target)),
    ).toEqual([])
    for (const rule of RULES) expect(importsOf(rule).filter((target) => !RULES.includes(target) && target !== 'api/money.ts')).toEqual([])
  })

  test('http imports no resource', () => {
    expect(
      files
        .filter((path) => path.startsWith('api/http/'))
        .flatMap((path) => importsOf(path).map((target) => `${path} -> ${target}`))
        .filter((arrow) => ROOMS.some((room) => arrow.includes(`-> api/${room}/`))),
    ).toEqual([])
  })

  test('imports run in no circle', () => {
    const done = new Set<string>()
    const visit = (path: string, above: string[]): string[] | null => {
      if (above.includes(path)) return [...above.slice(above.indexOf(path)), path]
      if (done.has(path) || !text.has(path)) return null
      for (const target of importsOf(path)) {
        const circle = visit(target, [...above, path])
        if (circle) return circle
      }
      done.add(path)
      return null
    }
    expect(files.map((path) => visit(path, [])).filter(Boolean)).toEqual([])
  })

  test('every room of the tables is a room of the API', () => {
    const tables = readdirSync('db/store')
      .map((file) => file.replace('.ts', ''))
      .filter(
        (name) => !['search', 'payments', 'translations', 'bundles', 'workstations', 'loyalty', 'newsletters', 'addons'].includes(name),
      )
    expect(tables.filter((name) => !ROOMS.includes(name))).toEqual([])
  })

  test('the environment is read in one place', () => {
    expect(files.filter((path) => path.startsWith('api/') && path !== 'api/main.ts' && /process\.env/.test(text.get(path)!))).toEqual([])
  })

  test('nothing that waits for a network, or sleeps, stands inside a write', () => {
    for (const path of files.filter((file) => file.startsWith('api/'))) {
      for (const [block] of text.get(path)!.matchAll(/write\(async \(tx\) => \{[\s\S]*?\n  {2,4}\}\)/g))
        expect(block).not.toMatch(/\bfetch\(|Bun\.sleep|setTimeout|stripe\./)
    }
  })
})
