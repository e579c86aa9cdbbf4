/** `npm start`: databases up to date, a demo store when there is none, the store API and the content site, until told to stop. */
import { serveApi, type Api } from '../api/main.ts'
import { readConfig, type Config } from '../api/config.ts'
import { onShutdown } from '../api/http/shutdown.ts'
import { openRegistry } from '../db/control/open.ts'
import type { Registry } from '../db/control/registry.ts'
import { makeDataDir } from '../db/data-dir.ts'
import { migrateAll } from '../db/migrate-all.ts'
import { version } from '../package.json'
import { serveSite, type Site } from '../site/server.ts'
import { makeDemoStore } from './demo.ts'
import { startWorkers } from './workers.ts'

/** What has to be done before the first request. A store whose database is broken keeps no other one from being served. */
async function prepare(registry: Registry) {
  for (const { database, error } of (await migrateAll(registry)).failures) {
    console.error(
      `${database} is not usable: ${error}. Its store is not served; restore it with: npm run -s stoa -- store restore ID --from FILE`,
    )
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

async function start() {
  let api: Api | undefined
  let site: Site | undefined
  onShutdown(() => Promise.all([api?.stop(), site?.stop()]))
  const config = readConfig(process.env)
  api = await startApi(config)
  try {
    site = serveSite(config, api.url)
  } catch (error) {
    await api.stop()
    throw error
  }
  console.log(`Stoa ${version}\nStore API     ${api.url}/api/v1\nContent site  ${site.url}`)
}

start().catch((error) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
