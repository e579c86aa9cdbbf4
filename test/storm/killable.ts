/** Servers in processes of their own, which tests kill. */
import { rmSync } from 'node:fs'
import type { Services } from '../../api/outside/services.ts'
import { readConfig } from '../../api/server/config.ts'
import { servicesFor } from '../../api/services.ts'
import { openRegistry } from '../../db/control/open.ts'
import { makeDataDir } from '../../db/data-dir.ts'
import { newStore, type CreatedStore } from '../../scripts/new-store.ts'
import { seedStore } from '../../scripts/seed.ts'
import { folderFor } from '../folder.ts'

/** A server in a process of its own, over a data folder, that a test kills and starts again at the same port. */
interface Killable {
  /** Where it listens. */
  url: string
  start(): Promise<void>
  /** SIGKILL: it gets no chance to put anything right. */
  kill(): Promise<void>
}

/** Stores with a storefront, `shop-0` and so on, in a data folder of their own, with a server over it that can be killed. */
interface KillableStores {
  folder: string
  stores: CreatedStore[]
  server: Killable
  close(): Promise<void>
}

/** `prepare` is called for each store before the server starts. */
export async function killableStores(
  { count, products }: { count: number; products: number },
  prepare: (services: Services, storeId: string) => Promise<void> = async () => {},
): Promise<KillableStores> {
  const folder = folderFor('killable')
  makeDataDir(folder)
  const config = readConfig({ DATA_DIR: folder })
  const { registry, close } = await openRegistry(config.database)
  const services = await servicesFor(config, { registry, baseUrl: 'http://127.0.0.1', port: 1 })
  const stores: CreatedStore[] = []
  for (let n = 0; n < count; n++) {
    const about = { name: `Shop ${n}`, slug: `shop-${n}`, plan: 'growth', currency: 'usd', locale: 'en-US', aiBuilt: true } as const
    stores.push(await newStore(registry, about, (live) => seedStore(live, { products, customers: 1, orders: 0 })))
    await prepare(services, stores[n]!.id)
  }
  close()
  const server = killable(folder)
  await server.start()
  return {
    folder,
    stores,
    server,
    async close() {
      await server.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function killable(folder: string): Killable {
  let child: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | undefined
  const server: Killable = {
    url: '',
    start() {
      const { PATH } = process.env
      const port = server.url ? new URL(server.url).port : '0'
      child = Bun.spawn([process.execPath, 'api/main.ts'], {
        env: { PATH, DATA_DIR: folder, API_PORT: port, RATE_LIMIT: '0', LOG: 'warn' },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'inherit',
      })
      const { stdout } = child
      // Read to its end: a server whose output nobody takes ends when it writes a warning.
      return new Promise((resolve, reject) => {
        void (async () => {
          let out = ''
          for await (const chunk of stdout) {
            out += new TextDecoder().decode(chunk)
            server.url = /http:\/\/[^\s/]+/.exec(out)?.[0] ?? server.url
            if (out.includes('Store API')) resolve()
          }
          reject(new Error(`the server ended before it listened: ${out}`))
        })()
      })
    },
    async kill() {
      child?.kill('SIGKILL')
      await child?.exited
    },
  }
  return server
}
