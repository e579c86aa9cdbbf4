/** `stoa backup` and `stoa restore`: the whole installation. */
import { join } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '../../api/server/config.ts'
import { KEY_FILE } from '../../api/server/key-file.ts'
import { makeDataDir } from '../../db/data-dir.ts'
import { backupInstallation } from '../../db/installation-backup.ts'
import { restoreInstallation } from '../../db/installation-restore.ts'
import { checked, print, progress, typedPath, withRegistry } from './context.ts'

const FOLDER = checked((text) => (text.trim() ? null : 'Name a folder.'))

async function backup(options: { to: string }, command: Command) {
  const folder = typedPath(options.to)
  const { installation, failed } = await progress((tell) =>
    withRegistry((registry, { dataDir, s3 }) =>
      backupInstallation(registry, folder, { dataDir, s3, secretFile: join(dataDir, KEY_FILE) }, tell),
    ),
  )
  const { createdAt, stores, secretKey } = installation
  for (const { id, slug, error, kept } of failed)
    console.error(`${slug} (${id}) is not backed up: ${error}; ${kept ? `its backup of ${kept} is kept` : 'there is none of it'}`)
  const bytes = stores.reduce((sum, store) => sum + store.bytes, 0)
  print(
    command,
    {
      folder,
      createdAt,
      stores: stores.map(({ id, slug, createdAt }) => ({ id, slug, createdAt })),
      bytes,
      hasSecretKey: secretKey !== null,
      failed,
    },
    [
      `${stores.length} stores are backed up to ${folder}: ${bytes} bytes`,
      secretKey
        ? 'The key of their secrets is in it: keep the folder where nobody else can read it.'
        : 'There is no secret.key in it: keep SECRET_KEY in another place.',
    ],
  )
  if (failed.length) process.exitCode = 1
}

async function restore(options: { from: string; yes?: boolean }, command: Command) {
  const folder = typedPath(options.from)
  if (!options.yes) command.error(`error: this replaces what the stores have now by what ${folder} has: add --yes`)
  const { database, dataDir, s3 } = readConfig(process.env)
  makeDataDir(dataDir)
  const outcome = await progress((tell) =>
    restoreInstallation(database, { dataDir, s3, secretFile: join(dataDir, KEY_FILE) }, folder, tell),
  )
  for (const { id, slug, error } of outcome.failed) console.error(`${slug} (${id}) is not restored: ${error}`)
  print(command, { folder, ...outcome }, [
    `${outcome.restored.length} stores are as they were at ${outcome.createdAt}`,
    ...(outcome.kept.length ? [`${outcome.kept.length} stores that the backup does not know are left as they are`] : []),
    ...outcome.setAside.map((path) => `what was replaced is kept as ${path}`),
    ...(outcome.hasNewSecret ? ['The key of the secrets is that of the backup now: restart the servers.'] : []),
  ])
  if (outcome.failed.length) process.exitCode = 1
}

/** Adds `backup` and `restore` to the command line. */
export function installationCommands(program: Command) {
  program
    .command('backup')
    .description('write the whole installation to a folder, while it is in use')
    .requiredOption('--to <folder>', 'the folder to write; it holds secrets then', FOLDER)
    .action(backup)
  program
    .command('restore')
    .description('make the installation what it was when a backup was made, also while it is in use')
    .requiredOption('--from <folder>', 'the folder to read', FOLDER)
    .option('--yes', 'I mean it: what the stores have now is replaced')
    .action(restore)
}
