import { afterAll, beforeAll, expect, test } from 'vitest'
import { publicPosts } from '../../api/outside/post-public.ts'
import { readPages } from '../../site/lib/content.ts'
import { carriersDouble, type CarriersDouble } from '../doubles/carriers.ts'
import { testApp, type TestApp } from '../harness.ts'
import { hostPicture } from './picture.ts'
import { runPage, runs } from './run.ts'
import { variablesOf } from './store.ts'

let app: TestApp
let carriers: CarriersDouble
let server: Bun.Server<undefined>
let hosted: Awaited<ReturnType<typeof hostPicture>>
/** The page about webhooks has a program that listens there. */
const postPublic = publicPosts({ allow: ['127.0.0.1:8787'], lookup: async () => [] })
beforeAll(async () => {
  carriers = carriersDouble()
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => app.app.fetch(request) })
  hosted = await hostPicture()
  app = await testApp({
    background: true,
    baseUrl: server.url.origin,
    fetchPublic: hosted.fetchPublic,
    postPublic,
    carriers: carriers.urls,
  })
})
afterAll(async () => {
  await server.stop(true)
  await hosted.close()
  await app.close()
  carriers.close()
})

const { pages } = readPages(new URL('../..', import.meta.url).pathname)

test.each(pages.filter(runs).map((page) => [page.file, page] as const))(
  'what %s shows is what happens',
  async (file, { code }) => {
    expect(
      await runPage(code, {
        ...(await variablesOf(app, server.url.origin)),
        CARRIER_A_PASSWORD: carriers.known.password,
        CARRIER_B_TOKEN: carriers.known.token,
      }),
      // Two pages with as many problems would otherwise be told as one, with the problems of the first.
      file,
    ).toEqual([])
  },
  60_000,
)
