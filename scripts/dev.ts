/**
 * `npm run dev`: the store API, started again at each change, and the content site by Astro's development server, which shows an edit
 * at once. What stands in front of a built site (forms, the content API, problems) is there under `npm start`.
 */
import { readConfig } from '../api/server/config.ts'

const ROOT = new URL('..', import.meta.url).pathname
const { host, sitePort } = readConfig(process.env)

const start = (...command: string[]) =>
  Bun.spawn([process.execPath, ...command], {
    cwd: ROOT,
    stdio: ['inherit', 'inherit', 'inherit'],
    env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
  })

const children = [
  start('--watch', 'api/main.ts'),
  start('--bun', 'node_modules/astro/bin/astro.mjs', 'dev', '--host', host, '--port', String(sitePort)),
]
const stop = () => children.forEach((child) => child.kill())
process.on('SIGINT', stop)
process.on('SIGTERM', stop)
// One without the other is no use: the first that ends takes the other with it.
await Promise.race(children.map(({ exited }) => exited))
stop()
await Promise.all(children.map(({ exited }) => exited))
