/** The part of `stoa doctor` that looks at databases: those that the registry knows, and what else lies beside them. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../api/server/config.ts'
import { unfinished } from '../db/control/history.ts'
import { CONTROL, openRegistry } from '../db/control/open.ts'
import type { Registry } from '../db/control/registry.ts'
import { obstacle } from '../db/data-dir.ts'
import { isRestoring } from '../db/installation-restore.ts'
import { leftIn } from '../db/leftovers.ts'
import { survey, type Failure } from '../db/migrate-all.ts'
import { databaseName, fileOf } from '../db/open.ts'
import { storesOnDisk, strangers } from '../db/remains.ts'
import { Unusable } from '../db/unusable.ts'
import { checkFiles } from './check-files.ts'

type Finding = { ok: boolean; message: string }

const bad = (message: string): Finding => ({ ok: false, message })

/** Looks at all databases; `tell` hears how far it is. */
export async function examineDatabases({ database, dataDir }: Config, tell: (text: string) => void): Promise<Finding> {
  const control = fileOf(database, CONTROL)
  if (control && !existsSync(control) && !storesOnDisk(database).length) {
    const folder = dirname(control)
    // Of the data folder the disk's check tells.
    const code = folder === dataDir ? null : obstacle(folder)
    return code
      ? bad(`${folder} can't be written (${code}): set DATABASE_URL to files in a folder that this user may write`)
      : { ok: true, message: 'none yet: npm start makes them' }
  }
  try {
    const { registry, close } = await openRegistry(database)
    return await inRegistry(registry, dataDir, tell).finally(close)
  } catch (error) {
    return bad((error as Error).message)
  }
}

async function inRegistry(registry: Registry, dataDir: string, tell: (text: string) => void): Promise<Finding> {
  const { behind, current, failures } = await survey(registry)
  const known = new Set(failures.map((failure) => failure.database))
  const { damaged, unknown } = await damage(registry, known, tell)
  const all = [...failures, ...damaged]
  if (all.length) return bad(`${all.length} can't be used, such as ${all[0]!.database}: ${all[0]!.error}`)
  if (behind) return bad(`${behind} have an older schema: run stoa migrate`)
  const [stranger, ...more] = await strangers(registry)
  if (stranger)
    return bad(
      `files of ${more.length + 1} stores that the registry does not know, such as store-${stranger}: restore it (stoa store restore ${stranger} --from FILE), or remove it (stoa store delete ${stranger} --yes)`,
    )
  if (isRestoring(dataDir)) return bad('a restore was cut off, or runs now: when none runs, stoa migrate does it to its end')
  const left = [...leftIn(dataDir), ...(await unfinished(registry.control.read)).filter(({ phase }) => phase === 'removing')]
  if (left.length) return bad(`${left.length} commands were cut off and left something behind: run stoa migrate, which removes it`)
  const note = unknown.length ? `; ${unknown.length} too large to be looked through, such as ${unknown[0]}` : ''
  return { ok: true, message: `${current} open, all with the current schema${note}` }
}

/** What SQLite finds wrong with the files that can be opened. */
async function damage(registry: Registry, failed: Set<string>, tell: (text: string) => void) {
  const names = [CONTROL]
  for (const { id } of await registry.listStores()) names.push(databaseName(id, 'live'), databaseName(id, 'sandbox'))
  const found = { damaged: [] as Failure[], unknown: [] as string[] }
  if (fileOf(registry.location, CONTROL) === null) return found
  const looked = names.filter((name) => !failed.has(name))
  const checks = await checkFiles(
    looked.map((name) => fileOf(registry.location, name)!),
    (done) => tell(`databases ${done} of ${looked.length}`),
  )
  checks.forEach((check, i) => {
    const name = looked[i]!
    if (check.isUnknown) found.unknown.push(name)
    if (check.damage)
      found.damaged.push({ database: name, error: new Unusable('damaged', name, `it is damaged (${check.damage})`).message })
  })
  return found
}
