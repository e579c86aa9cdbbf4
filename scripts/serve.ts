/** All of Stoa in one: databases up to date, a demo store when there is none, the store API and the content site. */
import { join } from 'node:path'
import { projectOf } from '../api/builder/projects.ts'
import { serveApi, type Api } from '../api/main.ts'
import { printed, readConfig, storesDomainOf, type Config } from '../api/server/config.ts'
import { listen, requireHost } from '../api/server/listen.ts'
import { KEY_FILE } from '../api/server/key-file.ts'
import { openRegistry } from '../db/control/open.ts'
import type { Registry } from '../db/control/registry.ts'
import { makeDataDir } from '../db/data-dir.ts'
import { resumeRestore } from '../db/installation-restore.ts'
import { migrateAll } from '../db/migrate-all.ts'
import { clearAway } from '../db/remains.ts'
import { version } from '../package.json'
import { isBuilt } from './built.ts'
import { DEMO, type FirstKeys } from './new-store.ts'
import { startSite } from './site.ts'

/** Something that ends in order when it is asked to. */
export interface Running {
  stop(): Promise<unknown>
}

/**
 * What has to be done before the first request: the keys of the demo store, where one is made. A store whose database is broken keeps no
 * other one from being served.
 */
async function prepare(registry: Registry, { dataDir, s3 }: Config): Promise<FirstKeys | null> {
  await resumeRestore(registry, { dataDir, s3, secretFile: join(dataDir, KEY_FILE) })
  await clearAway(registry, { dataDir, s3 })
  for (const { database, error } of (await migrateAll(registry)).failures) {
    console.error(`${database} is not usable, its store is not served: ${error}`)
  }
  if ((await registry.listStores()).length) return null
  const { makeDemoStore } = await import('./demo.ts')
  const { id, slug, keys } = await makeDemoStore(registry)
  console.log(
    [
      `Demo store  ${slug} (${id}). Its keys, shown this once:`,
      ...Object.entries(keys).map(([name, key]) => `  ${name.padEnd(10)}  ${key}`),
    ].join('\n'),
  )
  return keys
}

interface Started {
  api: Api
  /** The keys of the demo store, when it was made just now. */
  keys: FirstKeys | null
}

async function startApi(config: Config, running: Running[]): Promise<Started> {
  let preparing: Promise<FirstKeys | null> = Promise.resolve(null)
  const first = (registry: Registry) => (preparing = prepare(registry, config)).then(() => {})
  // Whoever asks it to stop meanwhile gets to see the keys of what is being made.
  running.push({ stop: () => preparing.catch(() => {}) })
  const started = async (api: Api) => ({ api, keys: await preparing })
  if (config.workers === 1) return started(await serveApi(config, { prepare: first }))
  makeDataDir(config.dataDir)
  const { registry, close } = await openRegistry(config.database)
  await first(registry).finally(close)
  const { startWorkers } = await import('./workers.ts')
  return started(await startWorkers(config))
}

/** How to buy something from a second terminal: what is exported is what the pages call it. */
const trying = (url: string, { storefront, admin }: FirstKeys) => [
  'Try it in a second terminal:',
  `  export STORE_URL=${url} STOREFRONT_KEY=${storefront} API_KEY=${admin}`,
  '  npm run -s stoa -- buy',
]

/** Refuses ports that are taken, before anything is made. */
async function requirePorts({ host, apiPort, sitePort }: Config) {
  if (apiPort && apiPort === sitePort)
    throw new Error(`API_PORT and SITE_PORT are both ${apiPort}: set one of them to another port, or to 0 for any that is free`)
  for (const [variable, port] of [
    ['API_PORT', apiPort],
    ['SITE_PORT', sitePort],
  ] as const)
    if (port) await listen(variable, { host, port }, () => new Response()).stop(true)
}

/** The demo shop's own host, and whether it is to be dressed and published yet; null where there is no demo store that has a shop. */
async function demoOf(config: Config, api: Api): Promise<{ url: string; isNew: boolean } | null> {
  const { registry, close } = await openRegistry(config.database)
  try {
    const store = await registry.storeBySlug(DEMO)
    if (!store?.aiBuilt) return null
    const scheme = api.url.slice(0, api.url.indexOf(':'))
    return { url: `${scheme}://${DEMO}.${storesDomainOf(config, api.port)}`, isNew: !(await projectOf(registry, store.id))?.liveId }
  } finally {
    close()
  }
}

/** Dresses the demo shop and has it published, in the background; what goes wrong with it keeps nothing else from working. */
function openDemo(config: Config, api: Api, url: string): Running {
  const stopping = new AbortController()
  const working = import('./dress.ts')
    .then(({ openDemoShop }) => openDemoShop(config, api, stopping.signal))
    .then(() => console.log(`Demo shop is open  ${url}`))
    .catch((error) => {
      if (!stopping.signal.aborted) console.error(`the demo shop is not published: ${error instanceof Error ? error.message : error}`)
    })
  return {
    stop() {
      stopping.abort()
      return working
    },
  }
}

/** Starts all of it and prints where it is. What has to be stopped is added to `running`. Throws with one clear line when it can't. */
export async function serve(running: Running[]) {
  const config = readConfig(process.env)
  await requireHost(config.host)
  await requirePorts(config)
  if (!isBuilt()) {
    console.error('building the content site')
    await (await import('./build.ts')).build()
  }
  try {
    const { api, keys } = await startApi(config, running)
    running.push(api)
    // Not at once with the API: that one would begin a tenth of a second later.
    const { site: listening, stop } = startSite(config, api.url)
    running.push({ stop })
    const site = await listening
    const demo = await demoOf(config, api)
    console.log(
      [
        `Stoa ${version}`,
        `Store API     ${printed(api.url, api.listensOn, '/api/v1')}`,
        `Content site  ${printed(site.url, site.listensOn)}`,
        ...(demo ? [`Demo shop     ${demo.url}${demo.isNew ? '  (open in about half a minute)' : ''}`] : []),
        ...(keys ? trying(api.url, keys) : []),
      ].join('\n'),
    )
    if (demo?.isNew) running.push(openDemo(config, api, demo.url))
  } catch (error) {
    await Promise.all(running.map((part) => part.stop()))
    throw error
  }
}
