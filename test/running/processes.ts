/** Servers and commands as real processes, each with a data folder of its own, on ports that are free. */
import { spawn, type ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openRegistry } from '../../db/control/open.ts'
import { makeDataDir } from '../../db/data-dir.ts'
import { openStore } from '../../db/open.ts'
import { newStore, type CreatedStore } from '../../scripts/new-store.ts'
import { seedStore, type Amounts } from '../../scripts/seed.ts'
import { folderFor } from '../folder.ts'

export const ROOT = resolve(import.meta.dirname, '../..')
const BUN = process.execPath
/** A process that was told nothing of how to end does so at the end of its test file. */
const running = new Set<ChildProcess>()
const folders: string[] = []

export type Env = Record<string, string>

/** An empty folder, removed at the end of the test file. */
export function folder(): string {
  const path = folderFor('run')
  folders.push(path)
  return path
}

/** Ends what still runs and removes the folders. */
export async function cleanUp() {
  await Promise.all(
    [...running].map(
      (child) =>
        new Promise<void>((done) => {
          child.once('exit', () => done())
          child.kill('SIGKILL')
        }),
    ),
  )
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true })
}

/** Nothing of the tests' own configuration reaches the process. */
const environment = (env: Env): Env => ({
  PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
  HOME: process.env.HOME ?? '/',
  TMPDIR: tmpdir(),
  API_PORT: '0',
  SITE_PORT: '0',
  LOG: 'silent',
  ...env,
})

interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export class Running {
  stdout = ''
  stderr = ''
  readonly ended: Promise<Ended>

  constructor(readonly child: ChildProcess) {
    running.add(child)
    child.stdout!.on('data', (data) => (this.stdout += data))
    child.stderr!.on('data', (data) => (this.stderr += data))
    this.ended = new Promise((done) =>
      child.on('close', (code) => {
        running.delete(child)
        done({ code, stdout: this.stdout, stderr: this.stderr })
      }),
    )
  }

  /** Waits until the output has what `pattern` finds, and gives it. Throws when the process ends before that. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (const deadline = Date.now() + 30_000; ;) {
      const found = pattern.exec(this.stdout)
      if (found) return found
      if (this.child.exitCode !== null || this.child.signalCode !== null || Date.now() > deadline)
        throw new Error(`it did not say ${pattern}:\n${this.stdout}\n${this.stderr}`)
      await Bun.sleep(10)
    }
  }
}

/** Starts a command in the project's folder. */
export function run(command: string[], env: Env = {}): Running {
  return new Running(spawn(command[0]!, command.slice(1), { cwd: ROOT, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] }))
}

/** Runs the command line to its end. */
export const stoa = (dataDir: string, ...args: string[]): Promise<Ended> =>
  run([BUN, 'scripts/stoa.ts', ...args], { DATA_DIR: dataDir }).ended

/** Runs the command line with `--json` and gives its document; throws unless it ended well. */
export async function stoaJson(dataDir: string, ...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await stoa(dataDir, ...args, '--json')
  if (code !== 0) throw new Error(`stoa ${args.join(' ')}: ${code}\n${stderr}`)
  return JSON.parse(stdout)
}

const locationIn = (dataDir: string) => ({ url: `file:${dataDir}/{name}.db` })

/** Makes a store in this process: what `stoa store create --json` makes and prints, in a tenth of the time. */
export async function createStore(dataDir: string, name: string, slug?: string): Promise<CreatedStore> {
  makeDataDir(dataDir)
  const { registry, close } = await openRegistry(locationIn(dataDir))
  try {
    return await newStore(registry, { name, slug, plan: 'starter', currency: 'usd', locale: 'en-US', aiBuilt: false })
  } finally {
    close()
  }
}

/** Adds to a store of files in this process what `stoa seed` adds. */
export async function seedInto(dataDir: string, storeId: string, amounts: Amounts) {
  const store = await openStore(locationIn(dataDir), storeId, 'live')
  try {
    await seedStore(store, amounts)
  } finally {
    store.close()
  }
}

export interface StartedApi {
  running: Running
  api: string
}
export interface Started extends StartedApi {
  site: string
}

/** Starts Stoa as `npm start` does (or with another command) and waits until it has printed its URLs. */
export async function startStoa(env: Env, command = [BUN, 'scripts/start.ts']): Promise<Started> {
  const started = run(command, env)
  const [, api, site] = await started.says(/Store API +(\S+)\/api\/v1\nContent site +(\S+)\n/)
  return { running: started, api: api!, site: site! }
}

/** Starts Stoa over a store that is there: nothing dresses a demo shop meanwhile, which takes both processors for half a minute. */
export async function startShop(env: Env = {}, command?: string[]): Promise<Started & Pick<CreatedStore, 'keys'>> {
  const dataDir = folder()
  const { keys } = await createStore(dataDir, 'Shop')
  return { ...(await startStoa({ DATA_DIR: dataDir, ...env }, command)), keys }
}

/** Starts the API alone, without the content site and the demo store: half the work. */
export async function startApi(env: Env): Promise<StartedApi> {
  const running = run([BUN, 'api/main.ts'], env)
  const [api] = await running.says(/http:\/\/[^\s/]+/)
  return { running, api }
}

/** The demo store's keys that a first start printed. */
export function keysOf(stdout: string): Record<'admin' | 'storefront' | 'staging', string> {
  return Object.fromEntries(
    [...stdout.matchAll(/^ +(admin|storefront|staging) +(sk-\w\S+)$/gm)].map(([, name, key]) => [name, key]),
  ) as never
}

/** Calls the API of a running server. */
export async function call(api: string, key: string, method: string, path: string, body?: unknown): Promise<{ status: number; body: any }> {
  const response = await fetch(`${api}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

/** The processes that `pid` has started, in the order of their numbers. */
export async function childrenOf(pid: number): Promise<{ pid: number; command: string }[]> {
  const { stdout } = await new Running(spawn('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { stdio: ['ignore', 'pipe', 'pipe'] }))
    .ended
  return stdout
    .split('\n')
    .map((line) => /^ *(\d+) (.*)$/.exec(line))
    .flatMap((found) => (found ? [{ pid: Number(found[1]), command: found[2]! }] : []))
}

/** The process that `pid` started; null when there is none. */
export const childOf = async (pid: number): Promise<number | null> => (await childrenOf(pid))[0]?.pid ?? null
