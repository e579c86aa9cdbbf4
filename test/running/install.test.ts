import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { cleanUp, folder, ROOT } from './processes.ts'

afterAll(cleanUp)

let clone: string
const lock = {
  packages: {
    '': { dependencies: { kept: '^1' }, devDependencies: { tool: '^1' } },
    'node_modules/kept': { version: '1.2.3' },
    'node_modules/tool': { version: '1.0.0', dev: true },
    'node_modules/other-platform': { version: '1.0.0', optional: true },
  },
}
const write = (path: string, content: unknown) => {
  mkdirSync(dirname(join(clone, path)), { recursive: true })
  writeFileSync(join(clone, path), typeof content === 'string' ? content : JSON.stringify(content))
}
/** Runs the step with package managers that only write down how they were called. */
function install(managers: string[], ...args: string[]): string {
  const { status } = installing(managers, ...args)
  expect(status).toBe(0)
  return existsSync(`${clone}/calls`) ? readFileSync(`${clone}/calls`, 'utf8').trim() : ''
}

function installing(managers: string[], ...args: string[]) {
  for (const manager of managers) {
    write(`bin/${manager}`, `#!/bin/sh\necho ${manager} "$@" >> ${clone}/calls\n`)
    chmodSync(join(clone, 'bin', manager), 0o755)
  }
  return spawnSync(process.execPath, ['scripts/install.mjs', ...args], { cwd: clone, env: { PATH: `${clone}/bin` }, encoding: 'utf8' })
}

beforeEach(() => {
  clone = folder()
  write('package-lock.json', lock)
  write('bin/bun', '#!/bin/sh\n')
  chmodSync(join(clone, 'bin/bun'), 0o755)
  mkdirSync(join(clone, 'scripts'))
  cpSync(join(ROOT, 'scripts/install.mjs'), join(clone, 'scripts/install.mjs'))
})

describe('the install step', () => {
  test('installs into a fresh clone what the lock file says, with npm, or with Bun where there is no npm', () => {
    expect(install(['npm', 'bun'])).toBe('npm ci --no-audit --no-fund --loglevel=error')
    write('calls', '')
    write('bun.lock', 'stale')
    spawnSync('rm', [join(clone, 'bin/npm')])
    expect(install(['bun'])).toBe('bun install --no-save')
    expect(existsSync(join(clone, 'bun.lock'))).toBe(false)
  })

  test('does nothing when npm has installed all of it', () => {
    const { '': _, 'node_modules/other-platform': __, ...present } = lock.packages
    write('node_modules/.package-lock.json', { packages: present })
    expect(install(['npm'], '--dev')).toBe('')
  })

  test('does nothing when Bun has installed all of it', () => {
    write('node_modules/kept/package.json', { version: '1.2.3' })
    write('node_modules/tool/package.json', { version: '1.0.0' })
    expect(install(['npm'], '--dev')).toBe('')
  })

  test('says so in one line when Bun is missing, or may not be run', () => {
    write('node_modules/.package-lock.json', { packages: { 'node_modules/kept': { version: '1.2.3' } } })
    const said = {
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Bun is missing, though it is a dependency: run npm rebuild bun; .*\n$/),
    }
    chmodSync(join(clone, 'bin/bun'), 0o644)
    expect(installing([])).toMatchObject(said)
    rmSync(join(clone, 'bin/bun'))
    expect(installing([])).toMatchObject(said)
  })

  test('installs again when the lock file has another version', () => {
    write('node_modules/.package-lock.json', {
      packages: { 'node_modules/kept': { version: '1.2.2' }, 'node_modules/tool': { version: '1.0.0' } },
    })
    expect(install(['npm'])).toBe('npm ci --no-audit --no-fund --loglevel=error')
  })

  test("does without developers' packages where only the servers run", () => {
    write('node_modules/.package-lock.json', { packages: { 'node_modules/kept': { version: '1.2.3' } } })
    expect(install(['npm'])).toBe('')
    expect(install(['npm'], '--dev')).toBe('npm ci --no-audit --no-fund --loglevel=error --include=dev')
  })
})
