/**
 * Restore of a store from its backup, also while servers run: the rows of the open databases are replaced in one transaction
 * each. Replacing the files would leave a server that has them open writing into files that nobody reads any more.
 */
import { rmSync } from 'node:fs'
import { and, eq, lte, or } from 'drizzle-orm'
import { PARTS, unpack, type Manifest } from './archive.ts'
import { temporaryFolder } from './backup.ts'
import type { Registry } from './control/registry.ts'
import { FileConnection } from './connection.ts'
import type { Db } from './driver.ts'
import { Busy, isLocked } from './errors.ts'
import { adoptMedia } from './media-files.ts'
import { migrations } from './migrate.ts'
import { createDatabase, databaseName, fileOf, openDatabase } from './open.ts'
import { newsletters } from './store/newsletters.ts'
import { jobs } from './store/store.ts'

/** How long to wait for a moment in which no server writes. */
const LOCK_WAIT_MS = 60_000

/**
 * Makes the store what it was when `file` was written. A store that the registry does not know comes back with its id, slug and
 * keys; one that it knows keeps its keys and plan, so that a revoked key stays revoked.
 */
export async function restoreStore(registry: Registry, storeId: string, file: string, dataDir: string): Promise<Manifest> {
  if (!fileOf(registry.location, storeId)) throw new Error('restore of a store on a libSQL server is done there: this command copies files')
  const folder = temporaryFolder(dataDir)
  try {
    const manifest = await unpack(file, folder)
    await requireFitting(registry, storeId, file, manifest)
    for (const part of PARTS) {
      // An older backup is brought to the current schema before its rows are taken over.
      const backup = await openDatabase({ url: `file:${folder}/{name}.db` }, part, 'store')
      await backup.write((tx) => parkMail(tx, new Date().toISOString()))
      backup.close()
      await createDatabase(registry.location, databaseName(storeId, part), 'store')
      ;(await openDatabase(registry.location, databaseName(storeId, part), 'store')).close()
    }
    adoptMedia(folder, dataDir, storeId)
    await replaceAll(PARTS.map((part) => ({ path: fileOf(registry.location, databaseName(storeId, part))!, from: `${folder}/${part}.db` })))
    if (await registry.store(storeId)) await registry.updateStore(storeId, { name: manifest.store.name })
    else await registry.adoptStore(manifest.store, manifest.keys)
    return manifest
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What a newsletter says that was under way, or has had its time, when the store was restored. */
const PARKED = 'the store was restored from a backup: who has got it since then is not known; retry it to send it to the others'

/** Newsletters that may have gone out since the backup wait for a person; nobody holds the jobs of the backup. */
async function parkMail(tx: Db, now: string) {
  const parked = await tx
    .update(newsletters)
    .set({ status: 'failed', failedAt: now, errorMessage: PARKED, updatedAt: now })
    .where(or(eq(newsletters.status, 'sending'), and(eq(newsletters.status, 'scheduled'), lte(newsletters.scheduledAt, now))))
    .returning({ id: newsletters.id })
  for (const { id } of parked) await tx.delete(jobs).where(eq(jobs.subject, id))
  await tx.update(jobs).set({ leaseToken: null, leaseUntil: null })
}

async function requireFitting(registry: Registry, storeId: string, file: string, { store, schemaVersion }: Manifest) {
  if (store.id !== storeId) throw new Error(`${file} is a backup of the store ${store.id} (${store.slug}), not of ${storeId}`)
  if (schemaVersion > migrations('store').length)
    throw new Error(
      `${file} has schema version ${schemaVersion}, this program knows ${migrations('store').length}: it was written by a newer release`,
    )
  const other = await registry.storeBySlug(store.slug)
  if (other && other.id !== storeId) throw new Error(`the slug ${store.slug} of the backup belongs to the store ${other.id} now`)
}

/** Replaces the rows of several databases; nothing is committed before all are ready. */
async function replaceAll(databases: { path: string; from: string }[]) {
  const open: FileConnection[] = []
  try {
    for (const { path, from } of databases) {
      const connection = new FileConnection(path)
      open.push(connection)
      // Rows of one table come before those that they refer to; the backup was whole, and so will this be.
      connection.exec('PRAGMA foreign_keys=OFF')
      connection.run('ATTACH ? AS backup', [from])
      await begin(connection)
      replaceRows(connection)
    }
    for (const connection of open) connection.exec('COMMIT')
  } finally {
    for (const connection of open) connection.close()
  }
}

async function begin(connection: FileConnection) {
  for (const deadline = performance.now() + LOCK_WAIT_MS; ;) {
    try {
      return connection.exec('BEGIN IMMEDIATE')
    } catch (error) {
      if (!isLocked(error)) throw error
      if (performance.now() > deadline) throw new Busy(1, 'the store is being written to without a pause: try again')
      await Bun.sleep(1)
    }
  }
}

/**
 * Replaces all rows by those of the attached backup. Triggers stand aside meanwhile (they would write what the backup has
 * already), and the full-text index is built anew from its content.
 */
function replaceRows(connection: FileConnection) {
  const names = (text: string) => connection.rows(text, []) as [string, string][]
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
  const triggers = names("SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'")
  for (const [name] of triggers) connection.exec(`DROP TRIGGER main.${quoted(name)}`)
  for (const [table] of names(
    "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
  )) {
    const columns = names(`SELECT name, type FROM pragma_table_info('${table.replaceAll("'", "''")}')`)
      .map(([name]) => quoted(name))
      .join(', ')
    connection.exec(
      `DELETE FROM main.${quoted(table)}; INSERT INTO main.${quoted(table)} (${columns}) SELECT ${columns} FROM backup.${quoted(table)}`,
    )
  }
  for (const [table] of names("SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'")) {
    connection.exec(`INSERT INTO main.${quoted(table)} (${quoted(table)}) VALUES ('rebuild')`)
  }
  for (const [, text] of triggers) connection.exec(text)
}
