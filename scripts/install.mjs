/**
 * Installs what package-lock.json asks for when it is not there; `--dev`: what only developers need, too. Runs before anything is
 * installed, under Node or Bun, and takes milliseconds when nothing is missing.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const withDev = process.argv.includes('--dev')
const read = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** Whether node_modules holds what the lock file says. npm keeps a list of what it installed, Bun does not. */
function isInstalled() {
  const wanted = read('package-lock.json').packages
  const mayMiss = (path) => wanted[path].optional || (wanted[path].dev && !withDev)
  if (existsSync('node_modules/.package-lock.json')) {
    const present = read('node_modules/.package-lock.json').packages
    return Object.entries(wanted).every(
      ([path, { version, link }]) => path === '' || link || (present[path] ? present[path].version === version : mayMiss(path)),
    )
  }
  const direct = Object.keys({ ...wanted[''].dependencies, ...wanted[''].devDependencies }).map((name) => `node_modules/${name}`)
  return direct.every((path) =>
    existsSync(`${path}/package.json`) ? read(`${path}/package.json`).version === wanted[path].version : mayMiss(path),
  )
}

/** Whether there is a program of this name to be run. */
const isThere = (name) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, process.platform === 'win32' ? `${name}.exe` : name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

const run = (command, ...args) => spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], shell: process.platform === 'win32' })

if (!isInstalled()) {
  console.error('installing dependencies')
  let result = run('npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error', ...(withDev ? ['--include=dev'] : []))
  if (result.error?.code === 'ENOENT') {
    // package-lock.json is the one lock file of this project; a bun.lock would be preferred to it.
    rmSync('bun.lock', { force: true })
    result = run('bun', 'install', '--no-save')
  }
  if (result.status !== 0) {
    console.error('the dependencies could not be installed: is the package registry reachable?')
    process.exit(1)
  }
}

if (!isThere('bun')) {
  console.error(
    'Bun is missing, though it is a dependency: run npm rebuild bun; npm has to run its install script and take optional packages',
  )
  process.exit(1)
}
