/** Real server processes over one data folder, and a store to buy from. */
import { rmSync } from 'node:fs'
import { folderFor } from '../folder.ts'
import { openRegistry } from '../../db/control/open.ts'
import { databaseName, openDatabase, type Handle, type Location } from '../../db/open.ts'

export interface Server {
  url: string
  pid: number
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number>
}
export interface Reply {
  status: number
  body: any
}
export interface Shop {
  key: string
  /** Starts one more server process on the same data. */
  start(env?: Record<string, string>): Promise<Server>
  call(server: Server, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** The store's database, opened beside the servers, for the invariants. */
  inside<T>(look: (store: Handle) => Promise<T>): Promise<T>
  close(): Promise<void>
}

async function startServer(env: Record<string, string>): Promise<Server> {
  // A clean environment: the test runner sets variables (BASE_URL) that mean something else to the server.
  const { PATH, DATABASE_URL, DATABASE_ADMIN_URL, DATABASE_AUTH_TOKEN } = process.env
  const child = Bun.spawn([process.execPath, 'api/main.ts'], {
    env: { PATH, DATABASE_URL, DATABASE_ADMIN_URL, DATABASE_AUTH_TOKEN, ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let out = ''
  for await (const chunk of child.stdout) {
    out += new TextDecoder().decode(chunk)
    const url = /http:\/\/[^\s/]+/.exec(out)?.[0]
    if (url) {
      return {
        url,
        pid: child.pid,
        async stop(signal = 'SIGTERM') {
          child.kill(signal)
          return child.exited
        },
      }
    }
  }
  throw new Error(`the server ended before it listened: ${out}`)
}

/** A new store in a data folder of its own (or on the libSQL server that `DATABASE_URL` names). */
export async function openShop(): Promise<Shop> {
  const folder = folderFor('storm')
  const location: Location = process.env.DATABASE_URL
    ? { url: process.env.DATABASE_URL, adminUrl: process.env.DATABASE_ADMIN_URL, authToken: process.env.DATABASE_AUTH_TOKEN }
    : { url: `file:${folder}/{name}.db` }
  const { registry, close } = await openRegistry(location)
  const store = await registry.createStore({
    name: 'Storm',
    slug: `storm-${Bun.randomUUIDv7().slice(-12)}`,
    plan: 'growth',
    currency: 'usd',
    locale: 'en-US',
    aiBuilt: false,
  })
  const { secret: key } = await registry.createKey({ storeId: store.id, name: 'admin', environment: 'live', scopes: null })
  const servers: Server[] = []
  return {
    key,
    async start(env = {}) {
      const server = await startServer({ ...env, DATA_DIR: folder, API_PORT: '0', RATE_LIMIT: '0', LOG: 'warn' })
      servers.push(server)
      return server
    },
    async call(server, method, path, body, headers = {}) {
      const response = await fetch(`${server.url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        body: body === undefined ? undefined : JSON.stringify(body),
      })
      return { status: response.status, body: await response.json().catch(() => null) }
    },
    async inside(look) {
      const handle = await openDatabase(location, databaseName(store.id, 'live'), 'store')
      try {
        return await look(handle)
      } finally {
        handle.close()
      }
    },
    async close() {
      await Promise.all(servers.map((server) => server.stop('SIGKILL')))
      close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Where everything in the storms is sent. */
export const ADDRESS = { line1: 'Main Street 1', city: 'Gdynia', postalCode: '81-001', country: 'PL' }

/** How many answers there are of each status. */
export function tally(replies: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
