/** A process that serves the API as `npm start` does, until it is ready, and tells which packages it has loaded by then. */
import { serveApi } from '../../api/main.ts'
import { readConfig } from '../../api/server/config.ts'
import '../../scripts/serve.ts'

const api = await serveApi(readConfig(process.env))
if ((await fetch(`${api.listensOn}/readyz`)).status !== 200) throw new Error('the API is not ready')
const packages = Object.keys(require.cache).flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [])
console.log(JSON.stringify([...new Set(packages)].sort()))
await api.stop()
process.exit(0)
