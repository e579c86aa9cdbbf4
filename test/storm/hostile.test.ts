/**
 * Hostile requests of every kind that once stopped a server, with valid ones beside them: `STORM_SECONDS` of them (6 unless told
 * otherwise, 180 for a long look), after which nothing is held that was not held before.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { newToken } from '../../api/store/links/link-token.ts'
import { call, cleanUp, folder, keysOf, startStoa } from '../running/processes.ts'

afterAll(cleanUp)

const STORM_MS = 1_000 * Number(process.env.STORM_SECONDS ?? 6)
const AT_ONCE = 24
/** What a process may have more of than before, beside what it keeps as a cache: a leak of one request in a hundred shows. */
const MORE_DESCRIPTORS = 20
const MORE_MB = 80

test('a storm of hostile requests leaves memory, descriptors and what runs as they were, and valid ones are answered', async () => {
  const { running, api, site } = await startStoa({ DATA_DIR: folder(), METRICS: '1', TRUST_PROXY: '127.0.0.1', RATE_LIMIT: '0' })
  const { admin, storefront } = keysOf(running.stdout)
  const { pid } = running.child
  const storeId = (await call(api, admin, 'GET', '/me')).body.store.id as string
  const [product] = (await call(api, storefront, 'GET', '/products?inStock=true&limit=1')).body.data
  const variantId = product.variants.find((variant: any) => variant.stock.available > 5).id as string
  let client = 0
  const address = () => {
    client++
    return `10.${(client >> 16) & 255}.${(client >> 8) & 255}.${client & 255}`
  }
  const found: string[] = []
  const expectOf = async (what: string, answer: Promise<Response>, statuses: number[]) => {
    const response = await answer.catch(() => null)
    await response?.arrayBuffer().catch(() => null)
    // Whoever is still sending when the connection ends may miss its answer.
    if (response && !statuses.includes(response.status)) found.push(`${what}: ${response.status}`)
  }
  const json = { 'content-type': 'application/json' }
  const keyed = { ...json, authorization: `Bearer ${admin}` }

  /** Sends a head and pieces over a raw socket until the server ends it. */
  const pieces = (head: string, piece: Buffer, count: number) =>
    new Promise<void>((done) => {
      const socket = connect(Number(new URL(api).port), '127.0.0.1')
      const timer = setTimeout(() => (found.push('a body in pieces hung'), socket.destroy()), 20_000)
      socket.on('error', () => {})
      socket.on('data', (data) => /^HTTP\/1\.1 5(?!03)/.test(String(data)) && found.push(`a body in pieces: ${String(data).slice(0, 40)}`))
      socket.on('close', () => (clearTimeout(timer), done()))
      socket.write(head)
      let sent = 0
      const next = () => {
        if (socket.destroyed || sent++ >= count) return
        socket.write(`${piece.byteLength.toString(16)}\r\n`)
        socket.write(piece)
        socket.write('\r\n')
        setImmediate(next)
      }
      next()
    })
  const kilobytes = Buffer.alloc(20_480, 0x20)
  const HOSTS = ['a', 'abc', '', '!', 'localhost']

  const kinds: ((n: number) => Promise<unknown>)[] = [
    (n) =>
      pieces(
        `POST /api/v1/team/invitations/accept HTTP/1.1\r\nHost: ${HOSTS[n % 5]}\r\nX-Forwarded-For: ${address()}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
        kilobytes,
        80,
      ),
    (n) =>
      pieces(
        `POST /api/v1/media HTTP/1.1\r\nHost: ${HOSTS[n % 5]}\r\nAuthorization: Bearer ${admin}\r\nContent-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked\r\n\r\n`,
        Buffer.alloc(1_048_576, 0x20),
        22,
      ),
    () =>
      expectOf(
        'a forged token',
        fetch(`${api}/api/v1/subscribers/unsubscribe/${newToken({ storeId, environment: 'live' })}`, {
          method: 'POST',
          headers: { 'idempotency-key': crypto.randomUUID(), 'x-forwarded-for': address() },
        }),
        [200],
      ),
    () =>
      expectOf(
        'a guess from one address',
        fetch(`${api}/api/v1/subscribers/confirm/x`, { headers: { 'x-forwarded-for': '9.9.9.9' } }),
        [404, 429],
      ),
    () =>
      expectOf(
        'an orgId of 80 KB',
        fetch(`${api}/api/v1/addons/carrier_b`, {
          method: 'PUT',
          headers: keyed,
          body: JSON.stringify({ environment: 'test', token: 't', orgId: `${'.'.repeat(80_000)} ` }),
        }),
        [400],
      ),
    () => expectOf('slashes', fetch(`${site}/docs${'/'.repeat(12_000)}x`), [414]),
    () => expectOf('slashes below the limit', fetch(`${site}${'/'.repeat(1_900)}x`), [308, 404]),
    () => expectOf('slashes to the API', fetch(`${api}/api/v1${'/x'.repeat(6_000)}`), [414]),
    () =>
      expectOf(
        'lists that are too long',
        fetch(`${api}/api/v1/products`, { method: 'POST', headers: keyed, body: `{"name":"x","variants":[${'{},'.repeat(100_000)}{}]}` }),
        [400],
      ),
    (n) =>
      new Promise<void>((done) => {
        const socket = connect(Number(new URL(api).port), '127.0.0.1')
        socket.on('error', () => {})
        socket.on('close', () => done())
        socket.once('data', (data) => {
          if (!/^HTTP\/1\.[01] 404/.test(String(data))) found.push(`a path behind an odd host: ${String(data).slice(0, 60)}`)
          socket.destroy()
        })
        socket.setTimeout(15_000, () => (found.push('an odd host hung'), socket.destroy()))
        socket.write(`GET /api/v1/aaaa/api/v1/me HTTP/1.${n % 2}\r\n${n % 2 ? 'Host: \r\n' : ''}Authorization: Bearer ${admin}\r\n\r\n`)
      }),
    // Hung up in the middle of a body.
    () =>
      new Promise<void>((done) => {
        const socket = connect(Number(new URL(api).port), '127.0.0.1', () => {
          socket.write(
            `POST /api/v1/carts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${storefront}\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{"a":"`,
          )
          setTimeout(() => socket.destroy(), 5)
        })
        socket.on('error', () => {})
        socket.on('close', () => done())
      }),
  ]
  let valid = 0
  const buy = async () => {
    const asked = await fetch(`${api}/api/v1/carts`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${storefront}` },
      body: JSON.stringify({ items: [{ variantId }] }),
    })
    const body = (await asked.json()) as any
    if (asked.status !== 201) return found.push(`a cart: ${asked.status}`)
    const cart = await call(api, storefront, 'GET', `/carts/${body.id}`)
    if (cart.status !== 200) found.push(`the cart: ${cart.status}`)
    valid++
  }

  async function blow(forMs: number) {
    const until = Date.now() + forMs
    let n = 0
    const one = async () => {
      while (Date.now() < until) {
        const at = n++
        await (at % 3 === 0 ? buy() : kinds[at % kinds.length]!(at))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, one))
    return n
  }
  const memoryMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
  const descriptors = () => readdirSync(`/proc/${pid}/fd`).length
  const inFlight = async () => Number(/^stoa_in_flight (\d+)/m.exec(await (await fetch(`${api}/metrics`)).text())![1])
  /** The process once nothing is in flight; what JavaScript has let go is given back some time later. */
  async function settled(mostMb = Infinity) {
    for (const deadline = Date.now() + 10_000; Date.now() < deadline; await Bun.sleep(50)) if ((await inFlight()) <= 1) break
    await Bun.sleep(2_000)
    for (const deadline = Date.now() + 20_000; Date.now() < deadline && memoryMb() > mostMb; await Bun.sleep(100));
    return { inFlight: await inFlight(), descriptors: descriptors(), memoryMb: memoryMb() }
  }

  await blow(STORM_MS / 2)
  const before = await settled()
  const requests = await blow(STORM_MS)
  const after = await settled(before.memoryMb + MORE_MB)
  console.log(`${requests} requests in ${STORM_MS / 1_000} s, ${valid} valid ones`, before, after)
  expect(found.slice(0, 20)).toEqual([])
  expect(valid).toBeGreaterThan(20)
  expect(after.inFlight).toBeLessThanOrEqual(1)
  expect(after.descriptors - before.descriptors).toBeLessThanOrEqual(MORE_DESCRIPTORS)
  expect(after.memoryMb - before.memoryMb).toBeLessThanOrEqual(MORE_MB)
  const ended = Date.now()
  running.child.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
  expect(Date.now() - ended).toBeLessThan(10_000)
}, 600_000)
