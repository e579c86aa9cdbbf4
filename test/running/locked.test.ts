/** What waits for a write lock that another process holds: over real connections, with a real second process. */
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { FileConnection } from '../../db/connection.ts'
import { Busy } from '../../db/errors.ts'
import { databaseName, fileOf } from '../../db/open.ts'
import { fileTransactions, Writer } from '../../db/writer.ts'
import { testApp, type TestApp, type TestStore } from '../harness.ts'

let app: TestApp
let shop: TestStore
let server: ReturnType<typeof Bun.serve>
const holders = new Set<Bun.Subprocess>()
beforeAll(async () => {
  app = await testApp()
  shop = await app.newStore()
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => app.app.fetch(request) })
})
afterEach(() => holders.forEach((holder) => holder.kill()))
afterAll(async () => {
  await server.stop(true)
  await app.close()
})

const path = () => fileOf(app.location, databaseName(shop.store.id, 'live'))!

/** Holds the lock; returns how to let go of it. */
async function hold(): Promise<() => Promise<unknown>> {
  const child = Bun.spawn([process.execPath, join(import.meta.dirname, 'lock-child.ts'), path()], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  holders.add(child)
  await child.stdout.getReader().read()
  return () => (child.stdin.end(), child.exited)
}

const post = (name: string) => {
  const body = JSON.stringify({ name })
  const head = `POST /api/v1/brands HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer ${shop.keys.admin}\r\n`
  return `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}
/** Sends a request, and hangs up once the server works on it. */
async function sendAndLeave(name: string) {
  const socket = connect(server.port!, '127.0.0.1')
  socket.write(post(name))
  while (!server.pendingRequests) await Bun.sleep(5)
  const closed = new Promise((done) => socket.once('close', done))
  socket.destroy()
  await closed
  while (server.pendingRequests) await Bun.sleep(5)
}
const brands = async () => (await shop.call('GET', '/brands')).body.data.map(({ name }: { name: string }) => name)

describe('with the write lock held by another process', () => {
  test('writes that have waited for their time are refused together, not one after the other, and have not run', async () => {
    const connection = new FileConnection(path())
    const writer = new Writer(
      fileTransactions(
        () => connection,
        () => {},
      ),
      500,
    )
    const release = await hold()
    const started = performance.now()
    const refusedAfter: number[] = []
    let ran = 0
    const writes = Array.from({ length: 20 }, () =>
      writer
        .write(async () => void ran++)
        .catch((error: unknown) => {
          expect(error).toBeInstanceOf(Busy)
          refusedAfter.push(performance.now() - started)
        }),
    )
    await Promise.all(writes)
    expect([refusedAfter.length, ran]).toEqual([20, 0])
    // One after the other, the last would wait for twenty times as long as the first.
    expect(refusedAfter.at(-1)! / refusedAfter[0]!).toBeLessThan(4)
    // One that comes later has all of its own time.
    const late = writer.write(async () => ++ran)
    await release()
    expect(await late).toBe(1)
    connection.close()
  })

  test('what is asked for in time is done once the lock is free', async () => {
    const release = await hold()
    const done = Promise.all(['first', 'second', 'third'].map((name) => shop.call('POST', '/brands', { name })))
    await Bun.sleep(100)
    await release()
    expect((await done).map(({ status }) => status)).toEqual([201, 201, 201])
    expect((await brands()).toSorted()).toEqual(['first', 'second', 'third'])
  })

  test('what a client has asked for that has hung up is not done', async () => {
    const release = await hold()
    const before = await brands()
    const stays = shop.call('POST', '/brands', { name: 'stays' })
    await sendAndLeave('leaves')
    await release()
    expect((await stays).status).toBe(201)
    expect((await brands()).toSorted()).toEqual([...before, 'stays'].toSorted())
  })
})
