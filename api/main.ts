/** The store API as a server. Beside the scripts, this is the only reader of the environment. */
import { dirname, join, resolve } from 'node:path'
import type { Server } from 'bun'
import { CONTROL, openRegistry } from '../db/control/open.ts'
import type { Registry } from '../db/control/registry.ts'
import { makeDataDir } from '../db/data-dir.ts'
import { handlesFor, processLimits } from '../db/descriptors.ts'
import { Handles } from '../db/handles.ts'
import { fileOf } from '../db/open.ts'
import { settle } from '../db/settle.ts'
import { sharedTable } from '../db/shared-table.ts'
import { shareTurns } from '../db/turns.ts'
import { version } from '../package.json'
import { createApp, type App, type AppOptions } from './app.ts'
import type { Visitors } from './http/surroundings.ts'
import { contentUrlOf, printed, readConfig, urlOf, type Config } from './server/config.ts'
import { Clients } from './server/client-address.ts'
import { close, listen, requireHost, type Serve } from './server/listen.ts'
import { createLog, type Log } from './server/log.ts'
import { watchLoop } from './server/loop-delay.ts'
import { Metrics } from './server/metrics.ts'
import { GUESSES_RATE, RELAYED_RATE, SHOPPERS_RATE, SUBMISSIONS_RATE, TABLE_CELLS, ownTable, RateLimiter } from './server/rate-limit.ts'
import { ALIVE_MS, scrapeAll, type FromWorker } from './server/scrape.ts'
import { onShutdown } from './server/shutdown.ts'
import { pathOf } from './http/url.ts'
import { jobKinds } from './job-kinds.ts'
import { Runner } from './jobs/runner.ts'
import { mailFolder } from './outside/mail.ts'
import { watchStores } from './builder/publishing/refresh.ts'
import { maintain } from './maintenance-rounds.ts'
import { servicesFor } from './services.ts'

/** How often a client without a key may call (document 3, Public routes): 60 a minute. */
const VISITORS_RATE = { perSecond: 1, burst: 60 }
/** Requests that run when the server is told to stop have this long to end. */
const DRAIN_MAX_MS = 30_000

export interface Api {
  port: number
  /** Public, without a slash at the end. */
  url: string
  /** The URL of its own host and port. */
  listensOn: string
  /** Refuses new requests, lets those that run end, closes the databases. */
  stop(): Promise<void>
}

interface ServeOptions {
  /** Other processes listen on the same port. */
  reusePort?: boolean
  scrape?: AppOptions['scrape']
  /** Runs before the first request is answered; until then `/readyz` is 503. */
  prepare?: (registry: Registry) => Promise<void>
  drainMaxMs?: number
  /** The most bytes that remembered answers may take; see `AppOptions`. */
  rememberedBytes?: number
}

const unavailable = (error: string) => () =>
  Response.json({ ok: false, error }, { status: 503, headers: { 'retry-after': '1', 'cache-control': 'no-store', connection: 'close' } })

/** The folders that data are kept in. */
function foldersOf({ dataDir, database }: Config): string[] {
  const control = fileOf(database, CONTROL)
  return [...new Set([resolve(dataDir), ...(control ? [dirname(resolve(control))] : [])])]
}

/** Where the rate limits are counted: in a file for all workers, or, where that can't be written, in each of them. */
function tableIn(dataDir: string, name: string, log: Log): BigInt64Array {
  try {
    return sharedTable(join(dataDir, name), TABLE_CELLS)
  } catch (error) {
    log.write('warn', `each process counts its own ${name}: their file can not be written`, { error: String(error) })
    return ownTable()
  }
}

/** Has the processes of this machine write by turns; where their table can't be written, each tries again and again. */
function offerTurns({ database }: Config, log: Log) {
  const control = fileOf(database, CONTROL)
  try {
    if (control) shareTurns(control)
  } catch (error) {
    log.write('warn', 'processes can not tell each other that they wait to write: their table can not be written', { error: String(error) })
  }
}

/** The rate limit of clients without a key, each known by the address of its connection. */
function visitorsOf(config: Config, log: Log, server: Server<undefined>): Visitors {
  const clients = new Clients(config.trustProxy)
  const peerOf = (request: Request) => server.requestIP(request)?.address ?? ''
  return {
    limiter: new RateLimiter(VISITORS_RATE, tableIn(config.dataDir, 'visitor-limits', log)),
    // Who has no limit for keys wants none for shoppers, either.
    shoppers: config.rate && new RateLimiter(SHOPPERS_RATE, tableIn(config.dataDir, 'shopper-limits', log)),
    guesses: new RateLimiter(GUESSES_RATE, tableIn(config.dataDir, 'guess-limits', log)),
    submissions: new RateLimiter(SUBMISSIONS_RATE, tableIn(config.dataDir, 'submission-limits', log)),
    relayed: new RateLimiter(RELAYED_RATE, tableIn(config.dataDir, 'relay-limits', log)),
    clientOf: (request) => clients.nameOf(peerOf(request), request.headers.get('x-forwarded-for')),
    isForwarded: (request) => clients.isForwarded(peerOf(request), request.headers.get('x-forwarded-for')),
  }
}

/** A process whose databases are open: the app that answers, and the work in the background. */
interface Opened {
  app: App
  log: Log
  /** Ends the background; resolves when what runs there has ended. */
  rest(): Promise<unknown>
  /** Closes the databases. */
  close(): Promise<void>
}

async function open(config: Config, server: Server<undefined>, url: string, options: ServeOptions): Promise<Opened> {
  makeDataDir(config.dataDir)
  const { registry, close: closeRegistry } = await openRegistry(config.database)
  const log = createLog(config.log)
  offerTurns(config, log)
  await options.prepare?.(registry)
  const handles = new Handles(config.database, handlesFor(processLimits()))
  const metrics = new Metrics()
  const services = await servicesFor(config, {
    registry,
    metrics,
    baseUrl: url,
    port: server.port!,
    listensOn: urlOf(null, config.host, server.port!),
  })
  const runner = new Runner({ ...services, handles, kinds: jobKinds(services), log, metrics })
  handles.onNews = (storeId, environment) => runner.wake(storeId, environment)
  const app = createApp({
    services,
    rememberedBytes: options.rememberedBytes,
    handles,
    log,
    limiter: config.rate && new RateLimiter(config.rate, tableIn(config.dataDir, 'rate-limits', log)),
    visitors: visitorsOf(config, log, server),
    metrics: config.metrics,
    counts: metrics,
    scrape: options.scrape,
    folders: foldersOf(config),
    version,
    contentUrl: contentUrlOf(config),
  })
  const endWatch = watchStores({ services, handles, log })
  const endRounds = maintain({ services, handles, runner, mailFolder: mailFolder(config.dataDir), log })
  const endLoop = config.metrics ? watchLoop(metrics) : () => {}
  runner.start()
  return {
    app,
    log,
    rest: () => Promise.all([endLoop(), endRounds(), endWatch(), runner.stop()]),
    async close() {
      log.flush()
      await registry.use.write()
      handles.close()
      closeRegistry()
      if (!options.reusePort) await settle(config.database)
    },
  }
}

/** Listens on `HOST` and `API_PORT`, opens the databases, and answers. Throws with one clear line when it can't. */
export async function serveApi(config: Config, options: ServeOptions = {}): Promise<Api> {
  const { reusePort, drainMaxMs = DRAIN_MAX_MS } = options
  await requireHost(config.host)
  let serve: Serve = unavailable('starting')
  const server = listen('API_PORT', { host: config.host, port: config.apiPort, reusePort }, (request) => serve(request))
  try {
    const url = urlOf(config.baseUrl, config.host, server.port!)
    const opened = await open(config, server, url, options)
    serve = (request) => opened.app.quick(request) ?? opened.app.fetch(request)
    return {
      port: server.port!,
      url,
      listensOn: urlOf(null, config.host, server.port!),
      async stop() {
        const drained = Promise.all([opened.app.drain(), opened.rest()])
        // The port stays open while requests run, so that a load balancer can read `/readyz`; what else comes is sent elsewhere.
        const refuse = unavailable('draining')
        serve = (request) => (/^\/(healthz|readyz|metrics)$/.test(pathOf(request.url)) ? opened.app.fetch(request) : refuse())
        const cutOff = await close(server, drainMaxMs, drained)
        if (cutOff) opened.log.write('warn', `requests cut off after ${drainMaxMs / 1_000} s`, { requests: cutOff })
        await opened.close()
      },
    }
  } catch (error) {
    await server.stop(true)
    throw error
  }
}

/** Runs the API as a process of its own: by hand, or as one of several workers, which end with the process that began them. */
async function run() {
  const isWorker = process.send !== undefined
  let api: Api | undefined
  const stop = onShutdown(async () => {
    await api?.stop()
  })
  process.on('disconnect', stop)
  api = await serveApi(readConfig(process.env), isWorker ? { reusePort: true, scrape: scrapeAll } : {})
  if (!isWorker) console.log(`Store API  ${printed(api.url, api.listensOn, '/api/v1')}`)
  else {
    process.send!({ port: api.port } satisfies FromWorker)
    setInterval(() => process.connected && process.send!({ alive: true } satisfies FromWorker), ALIVE_MS).unref()
  }
}

if (import.meta.main) {
  run().catch((error) => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  })
}
