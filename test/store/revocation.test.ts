/** How long a process may take a key that another one has revoked: the registry's changes are noticed, not awaited. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noticedWithinMs } from '../../db/control/notice.ts'
import { Registry } from '../../db/control/registry.ts'
import { createDatabase, openDatabase, removeDatabase, type Handle, type Location } from '../../db/open.ts'
import { testApp, type TestApp } from '../harness.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

const newKey = (registry: Registry, storeId: string) => registry.createKey({ storeId, name: 'k', environment: 'live', scopes: null })

describe('a key that another process revokes', () => {
  test('is refused as soon as a process has to know of it, though it has just been used', async () => {
    const shop = await app.newStore()
    const { row, secret } = await newKey(app.registry, shop.store.id)
    const me = async () => (await app.send('GET', '/me', undefined, { key: secret })).status
    expect([await me(), await me()]).toEqual([200, 200])
    await app.elsewhere((registry) => registry.revokeKey(row.id))
    expect([await me(), await me()]).toEqual([401, 401])
  })

  test('by the same process is refused at once', async () => {
    const shop = await app.newStore()
    const { row, secret } = await newKey(app.registry, shop.store.id)
    expect(await app.registry.session(secret)).not.toBeNull()
    // A look for changes that begins before the revocation is done must not hide it.
    await Promise.all([app.registry.revokeKey(row.id), app.registry.session(secret), app.registry.listStores()])
    expect(await app.registry.session(secret)).toBeNull()
  })
})

/** Stands between the registry and its libSQL server, and holds one answer back. */
function slowNetwork(url: string) {
  const { port } = new URL(url.replace('{name}', 'x'))
  let held: { about: string; asked: PromiseWithResolvers<void>; free: PromiseWithResolvers<void> } | null = null
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { host, pathname, search } = new URL(request.url)
      const body = await request.text()
      const answer = await fetch(`http://${host.split(':')[0]}:${port}${pathname}${search}`, {
        method: request.method,
        headers: request.headers,
        body: body || undefined,
      })
      const content = await answer.arrayBuffer()
      if (held && body.includes(held.about)) {
        const { asked, free } = held
        held = null
        asked.resolve()
        await free.promise
      }
      return new Response(content, { status: answer.status, headers: { 'content-type': answer.headers.get('content-type') ?? '' } })
    },
  })
  return {
    url: url.replace(`:${port}`, `:${server.port}`),
    /** Holds the next answer to a statement about this; resolves when the server has given it. */
    hold(about: string) {
      held = { about, asked: Promise.withResolvers(), free: Promise.withResolvers() }
      const { asked, free } = held
      return { asked: asked.promise, release: () => free.resolve() }
    },
    stop: () => server.stop(true),
  }
}

// Registered on a server alone: what can't be shown on files is not skipped there, it is no test of theirs.
if (process.env.DATABASE_URL)
  describe('on a libSQL server', () => {
    test('a key that is revoked while its look-up is under way is not remembered', async () => {
      const location: Location = { url: process.env.DATABASE_URL!, adminUrl: process.env.DATABASE_ADMIN_URL }
      const name = `control-${Bun.randomUUIDv7()}`
      await createDatabase(location, name, 'control')
      const network = slowNetwork(location.url)
      const handles: Handle[] = []
      const registryAt = async (at: Location) => {
        const handle = await openDatabase(at, name, 'control')
        handles.push(handle)
        return new Registry(handle, at)
      }
      const [slow, other] = [await registryAt({ ...location, url: network.url }), await registryAt(location)]
      try {
        const store = await other.createStore({ name: 'S', slug: 's', plan: 'growth', currency: 'usd', locale: 'en-US', aiBuilt: false })
        const { row, secret } = await newKey(other, store.id)
        const answer = network.hold('inner join')
        const underWay = slow.session(secret)
        await answer.asked
        await other.revokeKey(row.id)
        // Somebody else's request notices that the registry has changed.
        await Bun.sleep(noticedWithinMs(location))
        expect(await slow.session('sk-unknown')).toBeNull()
        answer.release()
        // The answer was true when the server gave it.
        expect(await underWay).not.toBeNull()
        expect(await slow.session(secret)).toBeNull()
        await other.deleteStore(store.id)
      } finally {
        for (const handle of handles) handle.close()
        await network.stop()
        await removeDatabase(location, name)
      }
    })
  })
