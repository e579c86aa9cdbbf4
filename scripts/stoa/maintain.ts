/** `stoa migrate` and `stoa doctor`: the databases' schema, and whether everything that Stoa needs is there. */
import { join } from 'node:path'
import type { Command } from 'commander'
import { KEY_FILE } from '../../api/server/key-file.ts'
import { resumeRestore } from '../../db/installation-restore.ts'
import { migrateAll } from '../../db/migrate-all.ts'
import { clearAway } from '../../db/remains.ts'
import { examine } from '../doctor.ts'
import { print, progress, withRegistry } from './context.ts'

async function migrate(_: object, command: Command) {
  const result = await withRegistry(
    async (registry, { dataDir, s3 }) => {
      await resumeRestore(registry, { dataDir, s3, secretFile: join(dataDir, KEY_FILE) })
      await clearAway(registry, { dataDir, s3 })
      return migrateAll(registry)
    },
    { makes: true },
  )
  for (const { database, error } of result.failures) console.error(`${database}: ${error}`)
  print(command, result, `${result.migrated} migrated, ${result.current} current, ${result.failed} failed`)
  if (result.failed) process.exitCode = 1
}

async function doctor(_: object, command: Command) {
  const checks = await progress((tell) => examine(process.env, tell))
  const ok = checks.every((check) => check.ok)
  print(
    command,
    { ok, checks },
    checks.map((check) => `${check.ok ? 'ok    ' : 'BROKEN'}  ${check.name.padEnd(13)}  ${check.message}`),
  )
  if (!ok) process.exitCode = 1
}

/** Adds `migrate` and `doctor` to the command line. */
export function maintenanceCommands(program: Command) {
  program.command('migrate').description('bring every database to the current schema').action(migrate)
  program.command('doctor').description('check configuration, databases, disk, Chromium and mail').action(doctor)
}
