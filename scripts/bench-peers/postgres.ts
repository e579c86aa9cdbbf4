/** PostgreSQL of the Debian packages, in a data folder of its own, on 127.0.0.1 alone and behind a password that only this folder knows. */
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { environment } from '../bench/servers.ts'
import { finish, freePort, serve, type Running } from './processes.ts'

const INSTALLED = '/usr/lib/postgresql'
/** The user that the Debian packages make: as root nothing of PostgreSQL runs. */
const USER = 'postgres'
const ROLE = 'bench'
const DATABASE = 'medusa'
const PASSWORD_FILE = 'password'
const MAX_MS = 120_000

/** A server and how its database is reached. */
export interface Postgres extends Running {
  url: string
}

/** The folder with the programs of the newest version. Throws when there is none. */
function binaries(): string {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED).filter((name) => existsSync(join(INSTALLED, name, 'bin/initdb'))) : []
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0]
  if (!newest) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  return join(INSTALLED, newest, 'bin')
}

/** What the installed server says of its version. */
export function postgresVersion(): string {
  const said = Bun.spawnSync([join(binaries(), 'postgres'), '--version']).stdout.toString()
  return /\d+(\.\d+)*/.exec(said)![0]
}

/** Whom it runs as; undefined where the bench itself is not run by root. */
function user(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (which: string) => Number(Bun.spawnSync(['id', which, USER]).stdout.toString().trim() || NaN)
  const [uid, gid] = [id('-u'), id('-g')]
  if (!uid || !gid) throw new Error(`there is no user ${USER}, as which PostgreSQL could run: apt-get install postgresql`)
  return { uid, gid }
}

const dataIn = (path: string) => join(path, 'postgres')
const passwordIn = (path: string) => readFileSync(join(path, PASSWORD_FILE), 'utf8')

const program = (path: string, name: string, args: readonly string[], env: Record<string, string> = {}) => ({
  command: [join(binaries(), name), ...args],
  cwd: '/',
  env: environment({ LC_ALL: 'C', ...env }),
  log: join(path, `${name}.log`),
  maxMs: MAX_MS,
})

/** Makes the data folder, below `path`. */
export async function makePostgres(path: string) {
  const data = dataIn(path)
  const [owner, password] = [user(), randomBytes(24).toString('base64url')]
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(join(path, PASSWORD_FILE), password, { mode: 0o600 })
  const toRead = join(data, 'password')
  writeFileSync(toRead, password, { mode: 0o600 })
  if (owner) for (const own of [data, toRead]) chownSync(own, owner.uid, owner.gid)
  const args = ['-D', join(data, 'data'), '-U', ROLE, '-A', 'scram-sha-256', `--pwfile=${toRead}`, '-E', 'UTF8', '--locale=C']
  await finish({ ...program(path, 'initdb', args), user: owner })
  rmSync(toRead)
}

/** Starts the server on the data folder below `path`; its settings are those that it comes with. */
export async function startPostgres(path: string): Promise<Postgres> {
  const port = freePort()
  const args = ['-D', join(dataIn(path), 'data'), '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
  // SIGINT has it close its connections and end in order, SIGQUIT at once.
  const server = { ...program(path, 'postgres', args), user: user(), signals: ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const }
  const ready = [join(binaries(), 'pg_isready'), '-q', '-h', '127.0.0.1', '-p', String(port)]
  const running = await serve(server, async () => Bun.spawnSync(ready).exitCode === 0)
  return { ...running, url: `postgres://${ROLE}:${passwordIn(path)}@127.0.0.1:${port}/${DATABASE}` }
}

const client = (path: string, { url }: Postgres, name: string, args: readonly string[]) => {
  const connection = { PGHOST: '127.0.0.1', PGPORT: new URL(url).port, PGUSER: ROLE, PGPASSWORD: passwordIn(path) }
  return finish(program(path, name, args, connection))
}

/** Makes the empty database. */
export const makeDatabase = (path: string, postgres: Postgres) => client(path, postgres, 'createdb', [DATABASE])

/** Has the planner know what is in the tables, as it would in a store that has run for a while. */
export const analyze = (path: string, postgres: Postgres) => client(path, postgres, 'vacuumdb', ['--analyze', '--quiet', DATABASE])
