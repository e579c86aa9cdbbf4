import { connect } from 'node:net'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import {
  call,
  childOf,
  childrenOf,
  cleanUp,
  createStore,
  folder,
  keysOf,
  run,
  type Running,
  type Started,
  startShop,
  startStoa,
} from './processes.ts'

afterAll(cleanUp)

const BUN = process.execPath

/** A request whose body is sent in two halves: it runs until the second one. */
function slowRequest(api: string, key: string) {
  const { hostname, port } = new URL(api)
  const body = JSON.stringify({ name: 'Slow kettle', price: 12.5 })
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (data) => (answer += data))
  const closed = new Promise<string>((done) => socket.on('close', () => done(answer)).on('error', () => done(answer)))
  socket.write(
    `POST /api/v1/products HTTP/1.1\r\nHost: stoa\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  )
  return {
    hangUp: () => socket.destroy(),
    finish: () => socket.write(body.slice(10)),
    answered: async () => {
      while (!/\r\n\r\n\{.*\}/s.test(answer)) await Bun.sleep(5)
      return answer
    },
    closed,
  }
}

const until = async (isSo: () => Promise<boolean>) => {
  for (const deadline = Date.now() + 20_000; !(await isSo()); await Bun.sleep(20))
    if (Date.now() > deadline) throw new Error('it did not come to that')
}
const answers = (url: string) =>
  fetch(url).then(
    (response) => response.status,
    () => null,
  )

describe('npm start', () => {
  test('the first one makes a demo store and prints its keys once; the second one answers with what is there', async () => {
    const env = { DATA_DIR: folder() }
    const first = await startStoa(env)
    const keys = keysOf(first.running.stdout)
    const { body } = await call(first.api, keys.admin, 'GET', '/me')
    expect(body.store).toMatchObject({ slug: 'demo', plan: 'growth', currency: 'usd', locale: 'en-US', aiBuilt: true })
    expect((await call(first.api, keys.staging, 'GET', '/me')).body.key.environment).toBe('sandbox')
    expect((await call(first.api, keys.storefront, 'GET', '/me')).body.key.scopes).toEqual([
      'storefront:read',
      'storefront:write',
      'cart:write',
      'order:lookup',
    ])
    first.running.child.kill('SIGTERM')
    expect((await first.running.ended).code).toBe(0)

    const second = await startStoa(env)
    expect((await call(second.api, keys.admin, 'GET', '/me')).status).toBe(200)
    expect(second.running.stdout).not.toContain('sk-')
    second.running.child.kill('SIGINT')
    expect((await second.running.ended).code).toBe(0)
  })

  test.each(['1', '2'])('a public URL is printed with where the server listens when that is elsewhere (WORKERS=%s)', async (workers) => {
    const env = { DATA_DIR: folder(), WORKERS: workers, BASE_URL: 'https://shop.example', CONTENT_BASE_URL: 'https://stoa.example' }
    const running = run([BUN, 'scripts/start.ts'], env)
    const [, api, site] = await running.says(
      /^Store API +https:\/\/shop\.example\/api\/v1  \(listening on (http:\S+)\)\nContent site +https:\/\/stoa\.example  \(listening on (http:\S+)\)\n/m,
    )
    for (const url of [api, site]) expect(await answers(`${url}/healthz`)).toBe(200)
  })

  test('both servers tell their health, and the content site what Stoa is', async () => {
    const { api, site } = await startShop({ METRICS: '1' })
    const { version } = await Bun.file('package.json').json()
    for (const url of [api, site]) expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ ok: true, version })
    expect(await answers(`${api}/readyz`)).toBe(200)
    expect(await (await fetch(`${api}/metrics`)).text()).toContain('process_resident_memory_bytes')
    const home = await fetch(site)
    expect(home.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await home.text()).toContain(`${api}/api/v1/docs`)
    expect((await fetch(site, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${site}/nope`)).status).toBe(404)
    const refused = await fetch(site, { method: 'POST' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  // npm gets the signal and hands it on; a supervisor that knows the server's own process sends it there.
  test.each(['npm', 'the server'])('SIGTERM to %s lets a running request end, and ends with 0', async (whom) => {
    const { running, api, keys } = await startShop({}, ['npm', 'start'])
    const { admin } = keys
    const slow = slowRequest(api, admin)
    await Bun.sleep(200)
    process.kill(whom === 'npm' ? running.child.pid! : (await childOf(running.child.pid!))!, 'SIGTERM')
    await until(async () => (await answers(`${api}/readyz`)) === 503)
    expect((await call(api, admin, 'GET', '/me')).status).toBe(503)
    slow.finish()
    expect(await slow.answered()).toMatch(/^HTTP\/1.1 201 /)
    expect((await running.ended).code).toBe(0)
    expect(await answers(`${api}/readyz`)).toBeNull()
  })

  test('SIGTERM before it serves ends it with 0, from almost the first moment on', async () => {
    const dataDir = folder()
    await createStore(dataDir, 'Kettles')
    // Whether a process has said what to do on SIGTERM: the 15th bit of the signals that it catches.
    const heeds = ({ child }: Running) =>
      (Number.parseInt(/^SigCgt:\s+[0-9a-f]*([0-9a-f]{8})$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]!, 16) & 0x4000) !==
      0
    const start = async () => {
      const began = performance.now()
      const running = run([BUN, 'scripts/start.ts'], { DATA_DIR: dataDir })
      while (!heeds(running)) await Bun.sleep(1)
      return { running, began, heedsAfterMs: performance.now() - began }
    }
    const { running } = await start()
    running.child.kill('SIGTERM')
    expect(await running.ended).toEqual({ code: 0, stdout: '', stderr: '' })

    const second = await start()
    await second.running.says(/Content site/)
    expect(second.heedsAfterMs).toBeLessThan((performance.now() - second.began) / 2)
    second.running.child.kill('SIGTERM')
    expect((await second.running.ended).code).toBe(0)
  })

  test('a second signal ends it at once', async () => {
    const { running, api, keys } = await startShop()
    slowRequest(api, keys.admin)
    await Bun.sleep(100)
    running.child.kill('SIGINT')
    await Bun.sleep(100)
    // Ctrl-C reaches the server from the terminal and from npm: that is one signal.
    running.child.kill('SIGINT')
    await Bun.sleep(700)
    expect(running.child.exitCode).toBeNull()
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(1)
  })

  test('what stops the start is said in one line, with exit 1', async () => {
    const dataDir = folder()
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    try {
      const lines = async (env: Record<string, string>) => {
        const { code, stderr } = await run([BUN, 'scripts/start.ts'], { DATA_DIR: dataDir, ...env }).ended
        expect(code).toBe(1)
        return stderr.split('\n').slice(0, -1)
      }
      const port = String(taken.port)
      expect(await lines({ WORKERS: 'many' })).toEqual([expect.stringMatching(/^WORKERS is "many": expected /)])
      const busy: Record<string, string>[] = [{ API_PORT: port }, { SITE_PORT: port }, { API_PORT: port, WORKERS: '2' }]
      for (const env of busy) expect(await lines(env)).toEqual([expect.stringMatching(new RegExp(`^(API|SITE)_PORT ${port} is in use`))])
      expect(await lines({ HOST: '256.1.1.1' })).toEqual([expect.stringMatching(/^HOST is "256.1.1.1": expected /)])
      const resolved = /^HOST nosuch\.invalid does not resolve \(\w+\): set HOST to an address of this machine/
      for (const WORKERS of ['1', '2']) expect(await lines({ HOST: 'nosuch.invalid', WORKERS })).toEqual([expect.stringMatching(resolved)])
      writeFileSync(`${dataDir}/file`, '')
      expect(await lines({ DATA_DIR: `${dataDir}/file/below` })).toEqual([expect.stringMatching(/^DATA_DIR .* can't be written/)])
    } finally {
      await taken.stop(true)
    }
  })

  test('a store whose database is broken keeps no other one from being served', async () => {
    const dataDir = folder()
    const good = await createStore(dataDir, 'Good')
    const bad = await createStore(dataDir, 'Bad')
    writeFileSync(`${dataDir}/store-${bad.id}.db`, 'not a database, '.repeat(1_000))
    const { running, api } = await startStoa({ DATA_DIR: dataDir })
    expect(running.stderr).toContain(`store-${bad.id} is not usable, its store is not served: file is not a database; restore it: `)
    expect((await call(api, good.keys.admin, 'GET', '/products')).status).toBe(200)
    expect((await call(api, bad.keys.admin, 'GET', '/products')).status).toBe(503)
    expect((await call(api, bad.keys.staging, 'GET', '/products')).status).toBe(200)
  })
})

describe('WORKERS=2', () => {
  /** The processes that answer on the port. */
  const workersOf = async ({ running }: Started) =>
    (await childrenOf(running.child.pid!)).filter(({ command }) => command.includes('api/main.ts')).map(({ pid }) => pid)

  /** How many sockets listen on the port of a URL. */
  const listenersOn = (url: string) => {
    const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
    return readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .filter((line) => line.includes(`:${port} 00000000:0000 0A `)).length
  }

  test('two processes share the port; one that dies is started again; SIGTERM ends all with 0', async () => {
    const started = await startShop({ WORKERS: '2' })
    const { admin } = started.keys
    const first = await workersOf(started)
    expect(first).toHaveLength(2)
    for (const pid of first) {
      process.kill(pid, 'SIGKILL')
      await until(async () => listenersOn(started.api) === 1)
      await until(async () => listenersOn(started.api) === 2)
    }
    expect((await workersOf(started)).filter((pid) => first.includes(pid))).toEqual([])
    expect((await call(started.api, admin, 'POST', '/products', { name: 'Kettle', price: 1 })).status).toBe(201)
    started.running.child.kill('SIGTERM')
    expect((await started.running.ended).code).toBe(0)
    expect(await answers(`${started.api}/readyz`)).toBeNull()
  })

  test('a key has one rate limit, whichever process answers, and whatever connection asks', async () => {
    const started = await startShop({ WORKERS: '2', RATE_LIMIT: '0.001:100' })
    const { admin, storefront } = started.keys
    // A connection stays with its worker: a new one for each request reaches both.
    const ask = async (key: string) =>
      (await fetch(`${started.api}/api/v1/me`, { headers: { authorization: `Bearer ${key}`, connection: 'close' } })).status
    const ofMany = async (count: number, key: string) =>
      (await Promise.all(Array.from({ length: count }, () => ask(key)))).filter((status) => status === 200).length
    expect(await ofMany(150, admin)).toBe(100)
    const [worker] = await workersOf(started)
    process.kill(worker!, 'SIGKILL')
    await until(async () => listenersOn(started.api) === 1)
    await until(async () => listenersOn(started.api) === 2)
    expect(await ofMany(50, admin)).toBe(0)
    expect(await ofMany(150, storefront)).toBe(100)
  })

  test('a scrape of one worker tells what all have counted, also what one had that has died', async () => {
    const started = await startShop({ WORKERS: '2', METRICS: '1', RATE_LIMIT: '0' })
    const { admin } = started.keys
    // A connection stays with its worker: a new one for each request reaches both.
    const get = async (path: string) => {
      const headers = { authorization: `Bearer ${admin}`, connection: 'close' }
      return (await fetch(`${started.api}${path}`, { headers, signal: AbortSignal.timeout(3_000) })).text()
    }
    const value = (text: string, line: RegExp) => Number(line.exec(text)?.[1])
    const counted = (text: string) => value(text, /^stoa_request_seconds_count\{method="GET",route="\/me",status="200"\} (\d+)$/m)
    for (let i = 1; i <= 30; i++) {
      await get('/api/v1/me')
      const text = await get('/metrics')
      expect(counted(text)).toBe(i)
      expect(value(text, /^stoa_request_seconds_bucket\{method="GET",route="\/me",status="200",le="\+Inf"\} (\d+)$/m)).toBe(i)
    }
    // Each has the store open, and each counts: of 30 connections none of them gets all.
    expect(value(await get('/metrics'), /^stoa_open_stores (\d+)$/m)).toBe(2)

    const [stuck, dead] = await workersOf(started)
    process.kill(stuck!, 'SIGSTOP')
    try {
      // What the stuck one is sent waits there; what the other one gets is answered in time, with what the stuck one had counted.
      const texts = await Promise.allSettled(Array.from({ length: 20 }, () => get('/metrics')))
      const answered = texts.flatMap((text) => (text.status === 'fulfilled' ? [text.value] : []))
      expect(answered.length).toBeGreaterThan(0)
      expect(new Set(answered.map(counted))).toEqual(new Set([30]))
    } finally {
      process.kill(stuck!, 'SIGCONT')
    }
    process.kill(dead!, 'SIGKILL')
    await until(async () => listenersOn(started.api) === 1)
    await until(async () => listenersOn(started.api) === 2)
    // A worker that has just begun to listen answers 503 until its databases are open; a try that is given up may have been counted.
    let tries = 0
    await until(async () => (tries++, (await get('/api/v1/me')).includes('"store"')))
    await until(async () => counted(await get('/metrics')) >= 31)
    expect(counted(await get('/metrics'))).toBeLessThanOrEqual(30 + tries)
  })

  test('workers whose parent is gone let go of the port', async () => {
    const started = await startShop({ WORKERS: '2' })
    started.running.child.kill('SIGKILL')
    await until(async () => (await answers(`${started.api}/readyz`)) === null)
  })
})

describe('a request that does not end', () => {
  const lines = (stdout: string) => stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  const cutShort = { level: 'info', message: 'request', route: '/products', status: 408 }

  test('because its client has hung up is no failure of the server', async () => {
    const { running, api, keys } = await startShop({ LOG: 'info' })
    const slow = slowRequest(api, keys.admin)
    await Bun.sleep(200)
    slow.hangUp()
    await running.says(/"message":"request"/)
    expect(lines(running.stdout)).toEqual([expect.objectContaining(cutShort)])
  })

  test('is cut off when the server has waited for it long enough, and that is told in one line', async () => {
    const dataDir = folder()
    const { keys } = await createStore(dataDir, 'Slow')
    const serving = `const api = await (await import('./api/main.ts')).serveApi(
      (await import('./api/server/config.ts')).readConfig(process.env), { drainMaxMs: 500 })
      process.on('SIGTERM', () => api.stop().then(() => process.exit(0)))
      console.log('Store API ' + api.url)`
    const running = run([BUN, '-e', serving], { DATA_DIR: dataDir, LOG: 'info' })
    const [, api] = await running.says(/Store API (\S+)\n/)
    const slow = slowRequest(api!, keys.admin)
    await Bun.sleep(1_000)
    running.child.kill('SIGTERM')
    expect(await slow.closed).toBe('')
    const { code, stdout } = await running.ended
    expect([code, lines(stdout)]).toEqual([
      0,
      [
        expect.objectContaining(cutShort),
        { time: expect.any(String), level: 'warn', message: 'requests cut off after 0.5 s', requests: 1 },
      ],
    ])
  })
})

test('the API runs on its own, too', async () => {
  const dataDir = folder()
  mkdirSync(dataDir, { recursive: true })
  const { keys } = await createStore(dataDir, 'Alone')
  const server = run([BUN, 'api/main.ts'], { DATA_DIR: dataDir })
  const [, api] = await server.says(/Store API +(\S+)\/api\/v1\n/)
  expect((await call(api!, keys.admin, 'GET', '/me')).status).toBe(200)
  server.child.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)
})
