/** What the site keeps in memory of its pages, under hostile spellings: over a build that is made here. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Prepared } from '../../api/hosting/prepared.ts'
import { Shelf } from '../../api/hosting/shelf.ts'
import { Answers } from '../../site/lib/answers.ts'
import type { Manifest } from '../../site/lib/manifest.ts'
import { folderFor } from '../folder.ts'

const [MB, PAGES, SHELF_MB] = [1_000_000, 60, 10]
const folder = folderFor('site-kept')
const base = 'http://127.0.0.1:4000'
const paths = Array.from({ length: PAGES }, (_, at) => `/docs/p${at}`)
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'page'), 'x'.repeat(MB))
const entry = (type: string) => ({ file: 'page', type, etags: { identity: '"e"' }, immutable: false })
const manifest = {
  base,
  storeApi: 'http://127.0.0.1:3000',
  scripts: [],
  files: Object.fromEntries(
    paths.flatMap((path) => [
      [path, entry('text/html; charset=utf-8')],
      [`${path}.md`, entry('text/markdown; charset=utf-8')],
    ]),
  ),
  pages: Object.fromEntries(paths.map((path) => [path, { html: path, markdown: `${path}.md`, title: 'Page' }])),
} as unknown as Manifest
afterAll(() => rmSync(folder, { recursive: true }))

/** A shelf that remembers, weakly, all answers that it has given. */
class Watched extends Shelf {
  readonly given = new Set<WeakRef<Prepared>>()
  override take(key: string, make: () => Prepared) {
    return super.take(key, () => {
      const made = make()
      this.given.add(new WeakRef(made))
      return made
    })
  }

  /** How many are in memory still. */
  async alive(): Promise<number> {
    for (let i = 0; i < 5; i++) {
      // What a weak reference has been read from stays until the turn is over.
      await Bun.sleep(1)
      Bun.gc(true)
    }
    return [...this.given].filter((answer) => answer.deref()).length
  }
}
const opened = () => {
  const shelf = new Watched(SHELF_MB * MB)
  const answers = new Answers(manifest, folder, { base, storeApi: manifest.storeApi, version: 'test', shelf })
  return { shelf, answers }
}
const FORMS = ['text/html', 'text/markdown', 'text/plain']

test('paths that the server finds by itself keep no page that was let go of', async () => {
  const { shelf, answers } = opened()
  const routes = answers.routes()
  for (const accept of FORMS)
    for (const [path, answer] of routes) expect(answer(new Request(base + path, { headers: { accept } })).status).toBe(200)
  expect(shelf.given.size).toBeGreaterThan(3 * PAGES)
  expect(shelf.bytes).toBeLessThanOrEqual(SHELF_MB * MB)
  expect(await shelf.alive()).toBeLessThanOrEqual(SHELF_MB)
  expect(routes.length).toBe(2 * PAGES)
})

test('thousands of spellings of hosts, paths, queries and headers are one page', async () => {
  const { shelf, answers } = opened()
  const routes = new Map(answers.routes())
  const [path] = paths as [string]
  for (let n = 0; n < 5_000; n++) {
    const host = ['127.0.0.1', '127.0.0.1.', 'LocalHost', 'evil.example', `h${n}.example`][n % 5]
    const spelt = [...path.slice(1)]
      .map((letter, at) => ((n >> at) & 1 && letter !== '/' ? `%${letter.charCodeAt(0).toString(16)}` : letter))
      .join('')
    const headers = { accept: `text/html, x/${'y'.repeat(n)}`, 'accept-encoding': `identity, x-${n}` }
    const asked = new Request(`http://${host}:${1_000 + n}/${spelt}?${n}`, { headers })
    expect(answers.answer(asked).status).toBe(200)
    expect(routes.get(path)!(new Request(`http://${host}:${1_000 + n}${path}?${n}`, { headers })).status).toBe(200)
  }
  expect(shelf.given.size).toBe(1)
  expect(shelf.bytes).toBeLessThan(1.01 * MB)
})

test('what it keeps is what is asked for again', async () => {
  const { shelf, answers } = opened()
  const [, route] = answers.routes()[0]!
  for (let i = 0; i < 100; i++) route(new Request(base + paths[0]!))
  expect(shelf.given.size).toBe(1)
  // One whose header is longer than any browser's is answered as well, and not remembered by it.
  const odd = { headers: { accept: `text/markdown, x/${'y'.repeat(8_000)}` } }
  expect(route(new Request(base + paths[0]!, odd)).headers.get('content-type')).toContain('text/markdown')
  expect(route(new Request(base + paths[0]!)).headers.get('content-type')).toContain('text/html')
})
