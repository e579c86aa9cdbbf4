/** Feedback sessions while their server is killed, at each step of the preview and while comments become tasks: none is ever stuck. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { killableStores } from './killable.ts'

let shop: Awaited<ReturnType<typeof killableStores>>

async function killAndStart() {
  await shop.server.kill()
  await shop.server.start()
}

beforeAll(async () => {
  // Its project is not there yet: the first session makes it.
  shop = await killableStores({ count: 1, products: 2 })
})
afterAll(() => shop?.close())

const call = async (method: string, path = '') => {
  const headers = { authorization: `Bearer ${shop.stores[0]!.keys.admin}`, connection: 'close' }
  const response = await fetch(`${shop.server.url}/api/v1/feedback-sessions${path}`, { method, headers })
  return { status: response.status, body: (await response.json()) as any }
}
/** Waits until a session is where it should be, looking as often as that goes. */
async function until(id: string, isThere: (session: any) => boolean) {
  for (const deadline = Date.now() + 50_000; Date.now() < deadline; await Bun.sleep(1)) {
    const { body } = await call('GET', `/${id}`)
    if (isThere(body)) return body
  }
  throw new Error('it never came to that')
}
const isUp = ({ status }: any) => status !== 'created'
const visit = (deploymentUrl: string) =>
  fetch(`${shop.server.url}/`, { headers: { host: new URL(deploymentUrl).host, connection: 'close' } }).then(({ status }) => status)

test.each([
  ['waits', 0],
  ['is built', 1],
  ['is looked at', 2],
])(
  'a server that is killed while the preview %s goes on with it at its next start',
  async (_, done) => {
    const { body } = await call('POST')
    await until(body.id, (now) => now.progress.done >= done || isUp(now))
    await killAndStart()
    const now = await until(body.id, isUp)
    expect(now, now.errorMessage).toMatchObject({ status: 'in_progress', errorMessage: null })
    expect(await visit(now.deploymentUrl)).toBe(200)
    expect((await call('POST', `/${body.id}/finalize`)).status).toBe(200)
    expect(await visit(now.deploymentUrl)).toBe(410)
  },
  60_000,
)

test('a server that is killed right after a session was canceled or finalized leaves nothing of it open', async () => {
  const { body } = await call('POST')
  await until(body.id, (now) => now.progress.done >= 1)
  expect((await call('POST', `/${body.id}/cancel`)).status).toBe(200)
  await killAndStart()
  const next = (await call('POST')).body
  const up = await until(next.id, isUp)
  expect(up.status).toBe('in_progress')
  await call('POST', `/${next.id}/finalize`)
  await killAndStart()
  expect(await visit(up.deploymentUrl)).toBe(410)
  // Of the one that was canceled nothing is left to look at.
  await Bun.sleep(1_000)
  expect(readdirSync(join(shop.folder, 'builds')).filter((name) => name.startsWith('dpl_')).length).toBeLessThanOrEqual(1)
  expect((await call('POST')).status).toBe(201)
  const [{ id }] = (await call('GET', '?limit=1')).body.data
  await until(id, isUp)
  await call('POST', `/${id}/finalize`)
}, 60_000)

test('a server that is killed while comments become tasks makes the rest of them, each once', async () => {
  const { body } = await call('POST')
  await until(body.id, isUp)
  const review = new URL(body.feedbackUrl).pathname
  // As many as one address may send in a minute.
  for (let n = 0; n < 19; n++) {
    const comment = { content: `Wish ${n}`, pagePath: '/' }
    const headers = { 'content-type': 'application/json', connection: 'close' }
    expect((await fetch(`${shop.server.url}${review}/comments`, { method: 'POST', headers, body: JSON.stringify(comment) })).status).toBe(
      201,
    )
  }
  expect((await fetch(`${shop.server.url}${review}/submit`, { method: 'POST', headers: { connection: 'close' } })).status).toBe(200)
  expect((await call('POST', `/${body.id}/process`)).body.status).toBe('processing')
  await killAndStart()
  await until(body.id, ({ status }) => status === 'in_review')
  const { data } = (await call('GET', `/${body.id}/comments`)).body
  expect(data.map(({ taskInstruction }: any) => taskInstruction)).toEqual(
    Array.from({ length: 19 }, (_, n) => `On the home page, for the page as a whole: Wish ${n}.`),
  )
}, 60_000)
