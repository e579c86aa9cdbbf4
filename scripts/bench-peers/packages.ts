/** Installs the packages of a peer from the npm registry, and copies what it runs from here. */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { catalog } from './catalog.ts'
import { prepared } from './folder.ts'
import { finish } from './processes.ts'
import type { Packages } from './versions.ts'

const FILES = new URL('files/', import.meta.url).pathname
/** Compiling better-sqlite3 takes most of it. */
const INSTALL_MAX_MS = 20 * 60_000

const programAt = (name: string): string => {
  const path = Bun.which(name)
  if (!path) throw new Error(`${name} is not installed`)
  return path
}

/** Node, which the peers run on. */
export const node = () => programAt('node')

/** The environment for npm: what an outer `npm run` says of this project is not for the folder of a peer. */
function npmEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_') || name === 'npm_config_registry')
  const system = dirname(dirname(node()))
  // The headers that came with Node, where they did: fetching them takes more than the registry.
  const headers: Record<string, string> = existsSync(join(system, 'include/node/node.h'))
    ? { npm_config_nodedir: system, npm_config_build_from_source: 'true' }
    : {}
  return { ...(Object.fromEntries(kept) as Record<string, string>), NODE_ENV: 'development', ...headers }
}

/** Copies what a peer runs from here into its folder, each file under its own name or another, and the catalog beside it. */
export function copyFiles(path: string, files: Record<string, string>) {
  for (const [name, as] of Object.entries(files)) copyFileSync(join(FILES, name), join(path, as))
  writeFileSync(join(path, 'catalog.json'), JSON.stringify(catalog))
}

/** What the data of a peer is made of: when any of it changes, it is made anew. */
export const ingredients = (files: Record<string, string>) =>
  Bun.hash(
    Object.keys(files)
      .map((name) => readFileSync(join(FILES, name), 'utf8'))
      .join() + JSON.stringify(catalog),
  ).toString()

/** The folder of a peer with its packages, installed unless they are. `scripts` names the packages whose own scripts are run. */
export function installed(folder: string, name: string, packages: Packages, scripts: readonly string[]): Promise<string> {
  const about = {
    private: true,
    dependencies: packages.install,
    overrides: packages.hold,
    allowScripts: Object.fromEntries(scripts.map((script) => [script, true])),
  }
  const version = Bun.spawnSync([node(), '--version']).stdout.toString().trim()
  return prepared(folder, name, { ...about, node: version }, async (path) => {
    writeFileSync(join(path, 'package.json'), JSON.stringify(about, null, 2))
    await finish({
      command: [programAt('npm'), 'install', '--no-audit', '--no-fund', ...(scripts.length ? [] : ['--ignore-scripts'])],
      cwd: path,
      env: npmEnvironment(),
      log: join(path, 'install.log'),
      maxMs: INSTALL_MAX_MS,
    })
  })
}

/** The version of a package that is installed there. */
export const versionIn = (path: string, name: string): string =>
  (JSON.parse(readFileSync(join(path, 'node_modules', name, 'package.json'), 'utf8')) as { version: string }).version
