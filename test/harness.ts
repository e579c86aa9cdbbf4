/**
 * A store for one test file: real libSQL databases in a folder of its own (or on the libSQL server that `DATABASE_URL` names), the
 * app over them, and keys. Every answer is checked against its schema.
 */
import { folderFor } from './folder.ts'
import { type Clock, realClock } from '../api/values/clock.ts'
import { rmSync } from 'node:fs'
import { createApp, type App } from '../api/app.ts'
import { publicFetch } from '../api/outside/fetch-public.ts'
import { publicPosts } from '../api/outside/post-public.ts'
import { createLog, type Log } from '../api/server/log.ts'
import { GUESSES_RATE, RELAYED_RATE, RateLimiter, SHOPPERS_RATE, SUBMISSIONS_RATE, type Rate } from '../api/server/rate-limit.ts'
import type { Services } from '../api/outside/services.ts'
import { ensureProject } from '../api/builder/project/workspace.ts'
import { jobKinds } from '../api/job-kinds.ts'
import { mailFolder } from '../api/outside/mail.ts'
import { Runner } from '../api/jobs/runner.ts'
import { readConfig } from '../api/server/config.ts'
import type { BucketPlace } from '../db/bucket.ts'
import { Metrics } from '../api/server/metrics.ts'
import { servicesFor } from '../api/services.ts'
import { noticedWithinMs } from '../db/control/notice.ts'
import type { NewStore } from '../db/control/first-settings.ts'
import { Registry, STOREFRONT_SCOPES, type StoreRow } from '../db/control/registry.ts'
import { Handles } from '../db/handles.ts'
import { createDatabase, openDatabase, removeDatabase, type Environment, type Location } from '../db/open.ts'

export interface Answer {
  status: number
  body: any
  headers: Headers
  text: string
}
export interface CallOptions {
  key?: string | null
  headers?: Record<string, string>
  raw?: string | FormData
}
export type Send = (method: string, path: string, body?: unknown, options?: CallOptions) => Promise<Answer>

export interface TestStore {
  store: StoreRow
  /** Secrets: unrestricted, storefront scopes alone, unrestricted on the sandbox. */
  keys: { admin: string; storefront: string; staging: string }
  /** A key with just these scopes. */
  keyWith(...scopes: string[]): Promise<string>
  /** Calls the API with the admin key unless told otherwise; `path` starts behind `/api/v1`. */
  call: Send
}

export interface TestApp {
  app: App
  registry: Registry
  handles: Handles
  location: Location
  /** Does the jobs that are due: `settle()`. */
  jobs: Runner
  /** Where mails are written when no SMTP server is set. */
  mailFolder: string
  /** The outside, as the app and its jobs have it. */
  services: Services
  /** The app's clock: starts at the real time, moves when told. */
  clock: { now: Date; advance(ms: number): void; real(): void }
  newStore(input?: Partial<NewStore>): Promise<TestStore>
  /** The registry as another process has it open; runs `fn`, and waits until this process has to know what that did. */
  elsewhere<T>(fn: (registry: Registry) => Promise<T>): Promise<T>
  send: Send
  close(): Promise<void>
}

/** What a test may replace; what it does not is made as for a server, but that no name of the public internet exists. */
type Replaced = Partial<Pick<Services, 'payments' | 'fetchPublic' | 'postPublic' | 'carriers' | 'secrets'>> & {
  mailers?: Partial<Services['mailers']>
}

interface TestOptions extends Replaced {
  rate?: Rate | null
  /** Counts the requests without a key by the `X-Client` header of each. */
  visitorRate?: Rate
  log?: Log
  clock?: Partial<Clock>
  metrics?: boolean
  /** What remembered answers may take; 0: none are. */
  rememberedBytes?: number
  dnsServers?: string[]
  smtpUrl?: string | null
  s3?: BucketPlace | null
  baseUrl?: string
  /** Where the stores' own hosts are: below `localhost` and this port. */
  port?: number
  /** Does jobs as they become due, as a server does, and not when a test settles them. */
  background?: boolean
}

/** On a libSQL server every test database gets a name of its own, since namespaces outlive the test. */
function testLocation(folder: string): Location {
  const url = process.env.DATABASE_URL
  if (!url) return { url: `file:${folder}/{name}.db` }
  return { url, adminUrl: process.env.DATABASE_ADMIN_URL, authToken: process.env.DATABASE_AUTH_TOKEN }
}

export async function testApp(options: TestOptions = {}): Promise<TestApp> {
  const folder = folderFor('test')
  const location = testLocation(folder)
  const controlName = process.env.DATABASE_URL ? `control-${Bun.randomUUIDv7()}` : 'control'
  await createDatabase(location, controlName, 'control')
  const control = await openDatabase(location, controlName, 'control')
  const registry = new Registry(control, location)
  const handles = new Handles(location, 200)
  let held: Date | null = null
  const clock = {
    get now() {
      return held ?? new Date()
    },
    set now(at: Date) {
      held = at
    },
    advance(ms: number) {
      held = new Date(this.now.getTime() + ms)
    },
    real() {
      held = null
    },
  }
  const appClock = { ...realClock, now: () => new Date(clock.now), ...options.clock }
  const log = options.log ?? createLog('warn', process.stderr)
  const config = {
    ...readConfig({ DATA_DIR: folder }),
    smtpUrl: options.smtpUrl ?? null,
    dnsServers: options.dnsServers ?? [],
    s3: options.s3 ?? null,
  }
  const counts = new Metrics()
  const made = await servicesFor(config, {
    registry,
    metrics: counts,
    baseUrl: options.baseUrl ?? 'https://api.shop.example',
    port: options.port ?? 3000,
  })
  const services: Services = {
    ...made,
    clock: appClock,
    payments: options.payments ?? null,
    mailers: { ...made.mailers, ...options.mailers },
    fetchPublic: options.fetchPublic ?? publicFetch({ allow: [], lookup: async () => [] }),
    postPublic: options.postPublic ?? publicPosts({ allow: [], lookup: async () => [] }),
    carriers: options.carriers ?? made.carriers,
    secrets: options.secrets ?? made.secrets,
  }
  const jobs = new Runner({ ...services, handles, kinds: jobKinds(services), log, metrics: counts })
  const app = createApp({
    services,
    handles,
    checkAnswers: true,
    rememberedBytes: options.rememberedBytes,
    version: 'test',
    contentUrl: 'https://stoa.example',
    limiter: options.rate ? new RateLimiter(options.rate) : null,
    visitors: options.visitorRate && {
      limiter: new RateLimiter(options.visitorRate),
      shoppers: new RateLimiter(SHOPPERS_RATE),
      guesses: new RateLimiter(GUESSES_RATE),
      submissions: new RateLimiter(SUBMISSIONS_RATE),
      relayed: new RateLimiter(RELAYED_RATE),
      isForwarded: (request) => request.headers.has('x-client'),
      clientOf: (request) => request.headers.get('x-client') ?? 'one',
    },
    log,
    metrics: options.metrics,
    counts,
    folders: options.metrics ? [folder] : [],
  })
  if (options.background) {
    handles.onNews = (storeId, environment) => jobs.wake(storeId, environment)
    jobs.start()
  }

  const send: Send = async (method, path, body, { key, headers = {}, raw } = {}) => {
    const response = await app.fetch(
      new Request(`http://localhost/api/v1${path}`, {
        method,
        headers: {
          ...(key ? { authorization: `Bearer ${key}` } : {}),
          ...(body !== undefined || typeof raw === 'string' ? { 'content-type': 'application/json' } : {}),
          ...headers,
        },
        body: raw ?? (body === undefined ? undefined : JSON.stringify(body)),
      }),
    )
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, headers: response.headers, text, body: isJson && text ? JSON.parse(text) : null }
  }

  async function newStore(input: Partial<NewStore> = {}): Promise<TestStore> {
    const unique = Bun.randomUUIDv7().slice(-12)
    const store = await registry.createStore({
      name: 'Test store',
      slug: `test-${unique}`,
      plan: 'growth',
      currency: 'usd',
      locale: 'en-US',
      aiBuilt: false,
      ...input,
    })
    if (store.aiBuilt) await ensureProject(services, store.id)
    const key = async (name: string, environment: Environment, scopes: string[] | null) =>
      (await registry.createKey({ storeId: store.id, name, environment, scopes })).secret
    // Together they share a commit: half of the time of a test's store is waiting for the disk.
    const [admin, storefront, staging] = await Promise.all([
      key('admin', 'live', null),
      key('storefront', 'live', STOREFRONT_SCOPES),
      key('staging', 'sandbox', null),
    ])
    const keys = { admin, storefront, staging }
    return {
      store,
      keys,
      keyWith: (...scopes) => key(scopes.join(' '), 'live', scopes),
      call: (method, path, body, callOptions = {}) => send(method, path, body, { key: keys.admin, ...callOptions }),
    }
  }

  async function elsewhere<T>(fn: (registry: Registry) => Promise<T>): Promise<T> {
    const other = await openDatabase(location, controlName, 'control')
    try {
      return await fn(new Registry(other, location))
    } finally {
      other.close()
      await Bun.sleep(noticedWithinMs(location))
    }
  }

  return {
    app,
    elsewhere,
    registry,
    handles,
    jobs,
    location,
    services,
    clock,
    mailFolder: mailFolder(folder),
    newStore,
    send,
    async close() {
      await app.drain()
      await jobs.stop()
      // As the server does: what is noted of keys is written, and nothing more comes after the registry is closed.
      await registry.use.write()
      handles.close()
      // A libSQL server keeps every database open that it was asked for, about five descriptors each.
      if (process.env.DATABASE_URL) for (const { id } of await registry.listStores()) await registry.deleteStore(id)
      control.close()
      if (process.env.DATABASE_URL) await removeDatabase(location, controlName)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
