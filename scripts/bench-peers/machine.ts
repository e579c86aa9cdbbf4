/** What a run was measured on, and of which code: figures mean nothing without. */
import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { node } from './packages.ts'

const ROOT = new URL('../..', import.meta.url).pathname
/** What Stoa's answers are made of. */
const CODE = ['api', 'db', 'package.json', 'package-lock.json']
/** From here on other programs take a part of the machine that can be seen in the figures. */
const LOAD_MAX = 1.5

export interface Machine {
  cpus: number
  model: string
  memoryGb: number
  os: string
}

const said = (...command: string[]) => Bun.spawnSync(command, { cwd: ROOT }).stdout.toString().trim()

const distribution = () => {
  try {
    return /^PRETTY_NAME="(.+)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

/** The machine. */
export const machine = (): Machine => ({
  cpus: cpus().length,
  model: cpus()[0]?.model ?? 'unknown',
  memoryGb: Math.round(totalmem() / 1024 ** 3),
  os: [distribution(), `${type()} ${release()}`].filter(Boolean).join(', '),
})

/** The commit that is measured; null outside a clone. */
export const commit = (): string | null => said('git', 'rev-parse', 'HEAD') || null

/** The version of Stoa, of Node and of Bun. */
export const ownVersions = () => ({
  stoa: (JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as { version: string }).version,
  node: said(node(), '--version').replace(/^v/, ''),
  bun: Bun.version,
})

/** What makes a run no more than a first look: a busy machine before it began, and code that is in no commit. */
export function doubts(): string[] {
  const load = loadavg()[0]!
  return [
    ...(load > LOAD_MAX
      ? [`Preliminary: the load average was ${load.toFixed(1)} before the run, so other programs took a part of the machine.`]
      : []),
    ...(said('git', 'status', '--porcelain', '--', ...CODE) ? ["Preliminary: Stoa's code had changes that are in no commit."] : []),
  ]
}
