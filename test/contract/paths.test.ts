/** How the API reads paths: whatever they are made of, in time that grows with their length, and none over 2 KB. */
import { afterAll, describe, expect, test } from 'vitest'
import { NearestPaths } from '../../api/http/routing/nearest-paths.ts'
import { Paths } from '../../api/http/routing/paths.ts'
import { absolute, isDecodable, loggable, pathOf, searchOf, targetOf } from '../../api/http/url.ts'
import { testApp } from '../harness.ts'
import { growthOf, HOSTILE } from '../paths.ts'

const app = await testApp()
const { keys } = await app.newStore()
afterAll(() => app.close())

const paths = new Paths()
for (const { path, method } of app.app.routes) paths.add(path.replace(/\{(\w+)\}/g, ':$1'), method)
const nearest = new NearestPaths(app.app.routes.map(({ path }) => path))

/** Everything that reads a path. */
const READERS: Record<string, (path: string) => unknown> = {
  'a URL that has one': (path) => absolute({ url: `http://x${path}` } as Request),
  'a URL without a host': (path) => absolute({ url: path, method: 'GET', headers: new Headers() } as unknown as Request),
  'the path of a URL': (path) => pathOf(`http://api.test${path}?x=/`),
  'the target of a URL': (path) => targetOf(`http://api.test${path}`),
  'the query of a URL': (path) => searchOf(`http://api.test/?x=${path}`),
  escapes: isDecodable,
  'what a log keeps': (path) => loggable(path, 'unknown'),
  'the methods of a path': (path) => paths.methodsOf(path),
  'the nearest paths': (path) => nearest.to(path),
}

describe.each(Object.entries(READERS))('%s', (_, read) => {
  test.each(Object.entries(HOSTILE))('takes ten times as long for ten times as many: %s', (_, made) => {
    expect(growthOf(made, read)).toBeLessThan(20)
  })
})

const status = async (path: string) => (await app.send('GET', path, undefined, { key: keys.admin })).status

test('a path over 2,048 characters is 414, whatever it is made of; the query is no part of it', async () => {
  for (const made of Object.values(HOSTILE))
    expect(await status(`/products${made(2_100).replaceAll('..', 'aa').replace(/\s/g, 'a')}`)).toBe(414)
  const rest = 2_048 - '/api/v1/products/'.length
  expect(await status(`/products/${'a'.repeat(rest)}`)).toBe(404)
  expect(await status(`/products/${'a'.repeat(rest + 1)}`)).toBe(414)
  expect(await status(`/products?nonsense=${'a'.repeat(5_000)}`)).toBe(200)
})

test('a path below that is refused for what it is', async () => {
  for (const made of Object.values(HOSTILE)) expect([400, 404]).toContain(await status(`/products${made(600)}`))
})
