/** A shop that is published: a server of this process over a data folder of its own, with a store whose storefront was built. */
import { serveApi, type Api } from '../../api/main.ts'
import { ensureProject } from '../../api/builder/project/workspace.ts'
import { readConfig, type Config } from '../../api/server/config.ts'
import { servicesFor } from '../../api/services.ts'
import { openRegistry } from '../../db/control/open.ts'
import type { Registry } from '../../db/control/registry.ts'
import { settings } from '../../db/store/store.ts'
import { newStore, type CreatedStore } from '../../scripts/new-store.ts'
import { seedStore } from '../../scripts/seed.ts'
import { folderFor } from '../folder.ts'

interface Answered {
  status: number
  body: any
  headers: Headers
}

export interface PublishedShop {
  api: Api
  config: Config
  store: CreatedStore
  /** The URL of the store's own host. */
  url: string
  /** Calls the API with the admin key; `path` starts behind `/api/v1`. */
  call(method: string, path: string, body?: unknown, key?: string): Promise<Answered>
  /** Asks the server for a host, whatever DNS knows of it. */
  visit(host: string, path: string, init?: RequestInit): Promise<Response>
  /** Publishes, and waits for the verdict. */
  publish(): Promise<any>
  /** One more store of the same server. */
  another(slug: string, options?: { aiBuilt?: boolean; products?: number }): Promise<CreatedStore>
  /** Does something with the registry, as another process would. */
  registry<T>(work: (registry: Registry) => Promise<T>): Promise<T>
  /** Ends the server and starts it again over the same data. */
  restart(): Promise<void>
  close(): Promise<void>
}

const VERDICTS = ['live', 'domain_pending', 'failed']

interface ShopOptions {
  products?: number
  more?: Partial<typeof settings.$inferInsert>
  env?: Record<string, string>
}

/** Opens a server with a store `shop`, seeded and not yet published. */
export async function openShop({ products = 12, more = {}, env = {} }: ShopOptions = {}): Promise<PublishedShop> {
  const folder = folderFor('shop')
  const config = readConfig({ DATA_DIR: folder, API_PORT: '0', LOG: 'silent', RATE_LIMIT: '0', ...env })
  const make = async (slug: string, { aiBuilt = true, count = products }: { aiBuilt?: boolean; count?: number } = {}) => {
    const { registry, close } = await openRegistry(config.database)
    try {
      const about = { name: `Shop ${slug}`, slug, plan: 'growth', currency: 'usd', locale: 'en-US', aiBuilt } as const
      const store = await newStore(registry, about, async (live) => {
        await live.write(async (tx) => void (await tx.update(settings).set({ contactEmail: 'hello@shop.example', ...more })))
        await seedStore(live, { products: count, customers: 4, orders: 4 })
      })
      if (aiBuilt) await ensureProject(await servicesFor(config, { registry, baseUrl: 'http://127.0.0.1', port: 1 }), store.id)
      return store
    } finally {
      close()
    }
  }
  const { makeDataDir } = await import('../../db/data-dir.ts')
  makeDataDir(folder)
  const store = await make('shop')
  let api = await serveApi(config)
  const call: PublishedShop['call'] = async (method, path, body, key = store.keys.admin) => {
    const response = await fetch(`${api.listensOn}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null }
  }
  const shop: PublishedShop = {
    get api() {
      return api
    },
    config,
    store,
    get url() {
      return `http://shop.localhost:${api.port}`
    },
    call,
    visit: (host, path, init = {}) =>
      fetch(`${api.listensOn}${path}`, { redirect: 'manual', ...init, headers: { ...(init.headers as Record<string, string>), host } }),
    async publish() {
      const { status, body } = await call('POST', '/publish')
      if (status !== 202) throw new Error(`publish answers ${status}: ${JSON.stringify(body)}`)
      for (;;) {
        const { body: now } = await call('GET', `/publish/${body.publishId}`)
        if (VERDICTS.includes(now.status)) return { ...now, trigger: body }
        await Bun.sleep(100)
      }
    },
    another: (slug, options = {}) => make(slug, { aiBuilt: options.aiBuilt, count: options.products ?? 2 }),
    async registry(work) {
      const { registry, close } = await openRegistry(config.database)
      try {
        return await work(registry)
      } finally {
        close()
      }
    },
    async restart() {
      const { port } = api
      await api.stop()
      api = await serveApi({ ...config, apiPort: port })
    },
    close: () => api.stop(),
  }
  return shop
}
