/** What the commands of the command line share: the registry, what they print, and how they refuse. */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { readConfig, urlOf, type Config } from '../../api/server/config.ts'
import { servicesFor } from '../../api/services.ts'
import { CONTROL, openRegistry } from '../../db/control/open.ts'
import type { Registry, StoreRow } from '../../db/control/registry.ts'
import { makeDataDir } from '../../db/data-dir.ts'
import { storesOnDisk } from '../../db/remains.ts'
import { fileOf, openStore, type Environment, type Handle } from '../../db/open.ts'

interface RegistryOptions {
  /** The command makes what is not there yet; others refuse a folder that is not there, which was mistyped. */
  makes?: boolean
  /** The command is the way out of a registry that has lost its stores. */
  mends?: boolean
}

/** Runs `work` with the registry of the configured data folder. */
export async function withRegistry<T>(
  work: (registry: Registry, config: Config) => Promise<T>,
  { makes = false, mends = false }: RegistryOptions = {},
): Promise<T> {
  const config = readConfig(process.env)
  if (makes) makeDataDir(config.dataDir)
  else requireInstallation(config)
  const { registry, close } = await openRegistry(config.database, mends)
  try {
    return await work(registry, config)
  } finally {
    close()
  }
}

/** Where the API is when nothing else is said. */
const API_PORT_USUAL = 3000
/** The outside, as a server with the same configuration has it. */
export function servicesOf(registry: Registry, config: Config) {
  const port = config.apiPort || API_PORT_USUAL
  return servicesFor(config, { registry, baseUrl: urlOf(config.baseUrl, config.host, port), port })
}

/** Refuses a data folder in which nothing was ever made. */
function requireInstallation({ database, dataDir }: Config) {
  const control = fileOf(database, CONTROL)
  if (control === null || existsSync(control) || storesOnDisk(database).length) return
  throw new Error(
    `there is nothing in ${dirname(control)} yet: check DATA_DIR (${dataDir}), or make the first store with store create or npm start`,
  )
}

/** The store with this id, or this slug (which is never shaped like an id). Throws when there is none. */
export async function requireStore(registry: Registry, idOrSlug: string): Promise<StoreRow> {
  const store = (await registry.store(idOrSlug.toLowerCase())) ?? (await registry.storeBySlug(idOrSlug))
  if (!store) throw new Error(`there is no store ${idOrSlug}: see store list`)
  return store
}

/** Runs `work` with one of a store's two databases. */
export async function withDatabase<T>(
  registry: Registry,
  storeId: string,
  environment: Environment,
  work: (store: Handle) => Promise<T>,
): Promise<T> {
  const store = await openStore(registry.location, storeId, environment)
  try {
    return await work(store)
  } finally {
    store.close()
  }
}

/** Runs `work` with the live database of a store. */
export const withLive = <T>(registry: Registry, storeId: string, work: (live: Handle) => Promise<T>): Promise<T> =>
  withDatabase(registry, storeId, 'live', work)

/** Prints the outcome: with `--json` as one document, else as lines for people. */
export function print(command: Command, outcome: unknown, lines: string | string[]) {
  console.log(command.optsWithGlobals().json ? JSON.stringify(outcome, null, 2) : [lines].flat().join('\n'))
}

/** Runs `work`, which tells how far it is: on a terminal, in a line that is written over. */
export async function progress<T>(work: (tell: (text: string) => void) => Promise<T>): Promise<T> {
  const { stderr } = process
  if (!stderr.isTTY) return work(() => {})
  try {
    return await work((text) => stderr.write(`\r\x1b[K${text}`))
  } finally {
    stderr.write('\r\x1b[K')
  }
}

/** Rows in columns, each as wide as its widest cell. */
export function table(head: string[], rows: string[][]): string[] {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)))
  return [head, ...rows].map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  )
}

/** A file as whoever typed it means it: npm runs scripts in the project's folder, wherever it was called from. */
export const typedPath = (file: string) => resolve(process.env.npm_lifecycle_event === 'stoa' ? (process.env.INIT_CWD ?? '.') : '.', file)

/** Makes a commander parser from a check that tells what is wrong, or null. */
export const checked =
  <T = string>(wrong: (text: string) => string | null, map: (text: string) => T = (text) => text as T) =>
  (text: string): T => {
    const message = wrong(text)
    if (message) throw new InvalidArgumentError(message)
    return map(text)
  }

/** What a store, or a key, is called. */
export const NAME = checked(
  (text) => (text.trim() && text.length <= 200 ? null : 'A name has 1 to 200 characters.'),
  (text) => text.trim(),
)
