import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPages } from '../../site/lib/content.ts'
import { testApp, type TestApp } from '../harness.ts'
import { runPage, runs } from './run.ts'
import { variablesOf } from './store.ts'

let app: TestApp
let server: Bun.Server<undefined>
beforeAll(async () => {
  app = await testApp({ background: true, baseUrl: () => server.url.origin })
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => app.app.fetch(request) })
})
afterAll(async () => {
  await server.stop(true)
  await app.close()
})

const { pages } = readPages(new URL('../..', import.meta.url).pathname)

test.each(pages.filter(runs).map((page) => [page.file, page] as const))(
  'what %s shows is what happens',
  async (_, { code }) => {
    expect(await runPage(code, await variablesOf(app, server.url.origin))).toEqual([])
  },
  60_000,
)
