/** All of Stoa in one: databases up to date, a demo store when there is none, the store API and the content site. */
import { serveApi, type Api } from '../api/main.ts'
import { printed, readConfig, type Config } from '../api/config.ts'
import { requireHost } from '../api/http/listen.ts'
import { openRegistry } from '../db/control/open.ts'
import type { Registry } from '../db/control/registry.ts'
import { makeDataDir } from '../db/data-dir.ts'
import { migrateAll } from '../db/migrate-all.ts'
import { version } from '../package.json'
import { serveSite } from '../site/server.ts'
import { build, isBuilt } from './build.ts'
import { makeDemoStore } from './demo.ts'
import { startWorkers } from './workers.ts'

/** Something that ends in order when it is asked to. */
export interface Running {
  stop(): Promise<unknown>
}

/** What has to be done before the first request. A store whose database is broken keeps no other one from being served. */
async function prepare(registry: Registry) {
  for (const { database, error } of (await migrateAll(registry)).failures) {
    console.error(`${database} is not usable, its store is not served: ${error}`)
  }
  if ((await registry.listStores()).length) return
  const { id, slug, keys } = await makeDemoStore(registry)
  console.log(
    [
      `Demo store  ${slug} (${id}). Its keys, shown this once:`,
      ...Object.entries(keys).map(([name, key]) => `  ${name.padEnd(10)}  ${key}`),
    ].join('\n'),
  )
}

async function startApi(config: Config): Promise<Api> {
  if (config.workers === 1) return serveApi(config, { prepare })
  makeDataDir(config.dataDir)
  const { registry, close } = await openRegistry(config.database)
  await prepare(registry).finally(close)
  return startWorkers(config)
}

/** Starts all of it and prints where it is. What has to be stopped is added to `running`. Throws with one clear line when it can't. */
export async function serve(running: Running[]) {
  const config = readConfig(process.env)
  await requireHost(config.host)
  if (!isBuilt()) {
    console.error('building the content site')
    await build()
  }
  const api = await startApi(config)
  running.push(api)
  try {
    const site = serveSite(config, api.url)
    running.push(site)
    console.log(
      [
        `Stoa ${version}`,
        `Store API     ${printed(api.url, api.listensOn, '/api/v1')}`,
        `Content site  ${printed(site.url, site.listensOn)}`,
      ].join('\n'),
    )
  } catch (error) {
    await api.stop()
    throw error
  }
}
