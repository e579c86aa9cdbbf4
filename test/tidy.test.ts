import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The rooms of `api/`, `db/store/` and `test/`. */
const ROOMS = ['store', 'catalog', 'checkout', 'orders', 'marketing', 'content', 'events', 'builder']
/** Folders of `api/` from the lowest: each imports those before it, and none after it. What is in no folder puts them together. */
const LAYERS = [
  'values',
  'outside',
  'printing',
  'server',
  'http',
  'hosting',
  'openapi',
  'jobs',
  'store',
  'catalog',
  'carriers',
  'marketing',
  'content',
  'events',
  'pricing',
  'orders',
  'checkout',
  'builder',
  'mcp',
]
/** Rules beside the values (`api/values/`): they import values and each other, and nothing that reads or waits. */
const RULES = [
  'api/pricing/price.ts',
  'api/pricing/discounts.ts',
  'api/pricing/lines.ts',
  'api/http/etag.ts',
  'api/server/rate-limit.ts',
  'api/orders/workstations/assignment.ts',
  'api/carriers/labels/layout.ts',
  'api/printing/marks.ts',
  'api/carriers/labels/parcel.ts',
  'api/marketing/loyalty/tier.ts',
  'api/marketing/loyalty/earning.ts',
  'api/marketing/loyalty/redeeming.ts',
  'api/content/media/handle.ts',
]
/** What stands at the top of the project. */
const TOP = [
  ...['.ci', '.git', '.gitignore', '.prettierignore', 'README.md', 'api', 'astro.config.mjs', 'content', 'db', 'package-lock.json'],
  ...['package.json', 'redocly.yaml', 'scripts', 'site', 'test', 'tsconfig.json', 'vitest.config.ts'],
]
/** Files of one folder; one that has more is about several things. */
const FILES_MAX = 18
/** Lines of a function; a table or a schema may be as long as it is. */
const LINES_MAX = 60

const files = ['api', 'db', 'scripts', 'site']
  .flatMap((top) => readdirSync(top, { recursive: true, encoding: 'utf8' }).map((path) => join(top, path)))
  .filter((path) => /\.(ts|mjs)$/.test(path) && !path.includes('node_modules') && !path.startsWith('scripts/sdk/package/'))
const text = new Map(files.map((path) => [path, readFileSync(path, 'utf8')]))

const targets = (path: string, imports: RegExp) =>
  [...text.get(path)!.matchAll(imports)].map(([, target]) => relative('.', resolve(dirname(path), target!)))
/** The files of the project that a file imports, types left out. */
const importsOf = (path: string) => targets(path, /^import (?!type )(?:[^'"]*? from )?['"](\.[^'"]+)['"]/gm)
/** All that it names in imports, types too. */
const namedBy = (path: string) => targets(path, /^(?:import|export) (?:[^'"]*? from )?['"](\.[^'"]+)['"]/gm)
const isRule = (path: string) => path.startsWith('api/values/') || RULES.includes(path)
/** The folder of `api/` that a file is in; undefined at its top. */
const folderOf = (path: string) => /^api\/([^/]+)\/.+/.exec(path)?.[1]

/** What may import: the files above, pages and tests. */
const importing = new Map([
  ...text,
  ...['site', 'test']
    .flatMap((top) => readdirSync(top, { recursive: true, encoding: 'utf8' }).map((path) => join(top, path)))
    .filter((path) => /\.(ts|astro)$/.test(path))
    .map((path) => [path, readFileSync(path, 'utf8')] as const),
  ...['astro.config.mjs', 'vitest.config.ts'].map((path) => [path, readFileSync(path, 'utf8')] as const),
])
/** Packages of which commands are run, not modules imported; and the adapter for the pages of the site that are made on demand. */
const COMMANDS = ['bun', 'typescript', 'prettier', '@redocly/cli', 'afdocs', '@astrojs/node']

const namesIt = (name: string) => (content: string) => [`'${name}'`, `'${name}/`, `"${name}"`].some((quoted) => content.includes(quoted))

/** Functions of a file that are too long, by their first lines. Prettier closes each where its first line is indented to. */
function longFunctions(path: string): string[] {
  const lines = text.get(path)!.split('\n')
  return lines.flatMap((line, start) => {
    const [, indent, head] = /^(\s*)(.*)\{$/.exec(line) ?? []
    if (head === undefined || !/=> $|\)(: .+)? $/.test(head)) return []
    if (/^(if|for|while|switch|catch|\} else if|\} catch)\b/.test(head)) return []
    const length = lines.slice(start + 1).findIndex((end) => end.startsWith(`${indent}}`)) + 2
    return length > LINES_MAX ? [`${path}:${start + 1}: ${length} lines`] : []
  })
}

describe('the project is tidy', () => {
  test.each(files)('%s is one thing, says what it is, and holds no notes to its authors', (path) => {
    const content = text.get(path)!
    if (path.endsWith('.ts')) expect(content.startsWith('/**') || content.startsWith('#!') || path.includes('drizzle.')).toBe(true)
    expect(content).not.toMatch(/\b(TODO|FIXME|XXX|HACK)\b/)
  })

  test('no function is longer than one can take in at once', () => {
    expect(files.flatMap(longFunctions)).toEqual([])
  })

  test('all is formatted as Prettier does it: npm run format', () => {
    // By content: what has not changed since the last run is not formatted again.
    const check = ['--check', '--cache', '--cache-strategy=content', '.']
    const { exitCode, stderr } = Bun.spawnSync([process.execPath, 'node_modules/.bin/prettier', ...check])
    expect(exitCode, stderr.toString()).toBe(0)
  }, 180_000)

  test('the top level has what belongs there, and nothing that was left behind', () => {
    const ignored = readFileSync('.gitignore', 'utf8')
      .split('\n')
      .map((line) => line.replace(/^\/|\/$/g, ''))
    expect(readdirSync('.').filter((name) => !TOP.includes(name) && !ignored.includes(name))).toEqual([])
  })

  test('there are no barrels, and nothing called utils, helpers or managers', () => {
    expect(files.filter((path) => /(^|\/)(index|utils?|helpers?|manager|service)\.ts$/.test(path))).toEqual([])
  })

  test('db imports of api what plans there are, and nothing else; rules import rules alone', () => {
    const db = files.filter((path) => path.startsWith('db/'))
    expect(db.flatMap(namedBy).filter((target) => target.startsWith('api/') && target !== 'api/values/plans.ts')).toEqual([])
    for (const rule of files.filter(isRule))
      expect([rule, importsOf(rule).filter((target) => !isRule(target) && !target.startsWith('db/migrations'))]).toEqual([rule, []])
  })

  test('folders of the API import one way, types included', () => {
    const arrows = files.flatMap((path) =>
      namedBy(path).map((target) => ({ arrow: `${path} -> ${target}`, from: folderOf(path), to: folderOf(target) })),
    )
    const layers = new Set(files.map(folderOf).filter((folder) => folder !== undefined))
    expect([...layers].filter((layer) => !LAYERS.includes(layer))).toEqual([])
    expect(
      arrows
        .filter(({ from, to }) => from !== undefined && to !== undefined && LAYERS.indexOf(to) > LAYERS.indexOf(from))
        .map(({ arrow }) => arrow),
    ).toEqual([])
  })

  test('files of routes are imported by the list of resources alone', () => {
    const routes = files.filter((path) => path.startsWith('api/') && path !== 'api/http/route.ts' && /\bresource\(/.test(text.get(path)!))
    expect(routes.length).toBeGreaterThan(30)
    expect(
      files
        .filter((path) => path.startsWith('api/') && path !== 'api/resources.ts')
        .flatMap((path) => namedBy(path).map((target) => [path, target] as const))
        .filter(([path, target]) => routes.includes(target) && !(path === 'api/app.ts' && target === 'api/openapi/describe.ts')),
    ).toEqual([])
  })

  test('no folder is about several things', () => {
    const counts = Map.groupBy(
      files.filter((path) => path.startsWith('api/')),
      dirname,
    )
    expect([...counts].filter(([, inside]) => inside.length > FILES_MAX).map(([folder, inside]) => `${folder}: ${inside.length}`)).toEqual(
      [],
    )
  })

  test('what is outside is one object of at most twelve members', () => {
    const [, members] = /^export interface Services \{\n([\s\S]+?)^\}/m.exec(text.get('api/outside/services.ts')!)!
    expect(members!.match(/^ {2}\w+: /gm)!.length).toBeLessThanOrEqual(12)
    expect(files.filter((path) => /^export const \w+ = \([^)]*\)[^=]*=>\s*resource\(/m.test(text.get(path)!))).toEqual([])
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
        (name) =>
          ![
            'search',
            'payments',
            'visitors',
            'blog',
            'pages',
            'translations',
            'bundles',
            'workstations',
            'loyalty',
            'newsletters',
            'addons',
          ].includes(name),
      )
    expect(tables.filter((name) => !ROOMS.includes(name))).toEqual([])
  })

  test('the environment is read in one place', () => {
    expect(files.filter((path) => path.startsWith('api/') && path !== 'api/main.ts' && /process\.env/.test(text.get(path)!))).toEqual([])
  })

  test('what a request sends is read, and its JSON parsed, by the limits that all entrances share', () => {
    const outside = files.filter((path) => /^(api|site)\//.test(path) && !path.startsWith('api/http/input/'))
    // Whoever reads the bytes of a request has its text parsed by `input/json.ts`, which counts how deep it nests.
    const isAlone = (path: string) =>
      /\b(request|req)\.(json|text|formData|arrayBuffer|bytes|blob)\(/.test(text.get(path)!) ||
      (/\bread(Bytes|Text)\b.* from '.*\/http\/input\//.test(text.get(path)!) && /JSON\.parse|\.json\(\)/.test(text.get(path)!))
    expect(outside.filter(isAlone)).toEqual([])
    expect(outside.filter((path) => /\breadBytes\b/.test(text.get(path)!)).length).toBeGreaterThan(2)
  })

  test('nothing that waits for a network, or sleeps, stands inside a write', () => {
    for (const path of files.filter((file) => file.startsWith('api/'))) {
      for (const [block] of text.get(path)!.matchAll(/write\(async \(tx\) => \{[\s\S]*?\n  {2,4}\}\)/g))
        expect(block).not.toMatch(/\bfetch\(|Bun\.sleep|setTimeout|stripe\./)
    }
  })

  test('what is exported is imported somewhere', () => {
    const used = new Set<string>()
    for (const [path, content] of importing) {
      const at = (target: string) => relative('.', resolve(dirname(path), target))
      for (const [, names, target] of content.matchAll(/(?:import|export)\s+(?:type\s+)?(?:\w+\s*,\s*)?\{([^}]*)\}\s*from\s*'(\.[^']+)'/g))
        for (const name of names!.split(','))
          used.add(
            `${at(target!)} ${
              name
                .trim()
                .replace(/^type /, '')
                .split(' as ')[0]
            }`,
          )
      // Taken as a whole.
      for (const [, target] of content.matchAll(/(?:import (?:type )?\* as \w+ from |\bimport\()'(\.[^']+)'/g)) used.add(at(target!))
    }
    // What the package shows to those who install it, and to what is made for it; what Astro looks for.
    const isFace = (path: string) => ['scripts/sdk/src/main.ts', 'scripts/sdk/src/operation.ts', 'site/middleware.ts'].includes(path)
    const exported = /^export (?:(?:async|abstract|declare) )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm
    expect(
      [...importing]
        .filter(([path]) => !path.endsWith('.astro') && !path.startsWith('site/storefront/src/pages/') && !isFace(path))
        .flatMap(([path, content]) => [...content.matchAll(exported)].map(([, name]) => ({ path, name })))
        .filter(({ path, name }) => !used.has(path) && !used.has(`${path} ${name}`))
        .map(({ path, name }) => `${path}: ${name}`),
    ).toEqual([])
  })

  test('every package is imported, or run as a command', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
    const names = Object.keys({ ...dependencies, ...devDependencies })
    const texts = [...importing.values(), readFileSync('tsconfig.json', 'utf8')]
    const isUsed = (name: string) =>
      COMMANDS.includes(name) || (name.startsWith('@types/') ? names.includes(name.slice('@types/'.length)) : texts.some(namesIt(name)))
    expect(names.filter((name) => !isUsed(name))).toEqual([])
  })
})
