import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cleanUp, startShop } from './processes.ts'

let port: number
let strangers = 0
let api: string
let keys: Awaited<ReturnType<typeof startShop>>['keys']
beforeAll(async () => {
  const started = await startShop({ METRICS: '1', TRUST_PROXY: '127.0.0.1' })
  api = started.api
  port = Number(new URL(api).port)
  keys = started.keys
})
afterAll(cleanUp)

/** Sends `head`, then pieces one after the other until they are all sent or the server has had enough; what was answered. */
function rawly(head: string, pieces: number, piece: Buffer, waitMs = 20_000): Promise<string> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    const end = () => {
      clearTimeout(timer)
      socket.destroy()
      done(answer)
    }
    const timer = setTimeout(end, waitMs)
    socket.on('data', (data) => {
      answer += data
      // A GET is answered and the connection stays open.
      if (!pieces) end()
    })
    socket.on('error', () => {})
    socket.on('close', end)
    socket.write(head)
    let sent = 0
    const next = () => {
      if (socket.destroyed || sent++ >= pieces) return
      socket.write(`${piece.byteLength.toString(16)}\r\n`)
      socket.write(piece)
      socket.write(sent === pieces ? '\r\n0\r\n\r\n' : '\r\n')
      setTimeout(next, 1)
    }
    next()
  })
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)
const metric = async (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await (await fetch(`${api}/metrics`)).text())![1])

/** Waits, for a bounded time, until no request runs but the one that asks. */
async function quiet() {
  for (const deadline = Date.now() + 5_000; Date.now() < deadline; await Bun.sleep(20))
    if ((await metric('stoa_in_flight')) <= 1) return true
  return false
}

describe.each(['a', 'abc', 'localhost', ''])('a body that comes in pieces to the host %j and is too large', (host) => {
  // Each stranger has an address of its own, so that none is refused for its number of requests.
  const head = (path: string, more: string) => {
    strangers++
    return `POST /api/v1${path} HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: 10.0.${strangers >> 8}.${strangers & 255}\r\nTransfer-Encoding: chunked\r\n${more}\r\n`
  }

  test('is refused with 413 at once and the connection ends, from many strangers at a time', async () => {
    const before = await metric('process_resident_memory_bytes')
    const started = Date.now()
    const piece = Buffer.alloc(10_240, 0x20)
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => rawly(head('/team/invitations/accept', 'Content-Type: application/json\r\n'), 300, piece)),
    )
    // A client that is still writing when the connection ends may miss the answer; nobody is left hanging.
    expect(Date.now() - started).toBeLessThan(15_000)
    expect(answers.filter((answer) => answer && statusOf(answer) !== 413)).toEqual([])
    expect(answers.filter((answer) => statusOf(answer) === 413).length).toBeGreaterThan(0)
    expect(answers.find(Boolean)!.toLowerCase()).toContain('connection: close')
    expect(await quiet()).toBe(true)
    expect((await metric('process_resident_memory_bytes')) - before).toBeLessThan(150_000_000)
  })

  test('leaves the uploads of every store as they were', async () => {
    const upload = () =>
      rawly(
        head('/media', `Authorization: Bearer ${keys.admin}\r\nContent-Type: multipart/form-data; boundary=x\r\n`),
        110,
        Buffer.alloc(204_800, 0x20),
      )
    const answers = await Promise.all(Array.from({ length: 7 }, upload))
    expect(answers.map(statusOf).filter((status) => status && status !== 413 && status !== 503)).toEqual([])
    expect(await quiet()).toBe(true)
    for (const key of [keys.admin, keys.staging]) {
      const form = new FormData()
      form.set('file', new File([new Uint8Array(1_000)], 'nothing.png'))
      const { status } = await fetch(`${api}/api/v1/media`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: form })
      expect(status).toBe(400)
    }
  })
})

test.each([
  ['HTTP/1.0 without a host', 'HTTP/1.0', ''],
  ['an empty host', 'HTTP/1.1', 'Host: \r\n'],
  ['a host that can be none', 'HTTP/1.1', 'Host: !! /\r\n'],
  ['a host of one letter', 'HTTP/1.1', 'Host: a\r\n'],
  ['a host of three letters', 'HTTP/1.1', 'Host: abc\r\n'],
])('with %s the path is the one that was sent', async (_, version, host) => {
  const get = (path: string) =>
    rawly(`GET ${path} ${version}\r\n${host}Authorization: Bearer ${keys.admin}\r\n\r\n`, 0, Buffer.alloc(0)).then(statusOf)
  expect(await get('/api/v1/me')).toBe(200)
  expect(await get('/api/v1/aaaa/api/v1/me')).toBe(404)
  expect(await get('/x/api/v1/me')).toBe(404)
  expect(await get('//api/v1/me')).toBe(404)
  expect(await get('/api/v1/x/../me')).toBe(200)
  expect(await get('/healthz')).toBe(200)
})
