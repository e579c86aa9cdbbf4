/** The folder of mails that were written instead of sent: the newest are kept, and none for ever. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A mail is there to be looked at for this long. */
const MAIL_KEPT_MS = 30 * 86_400_000
/** As many are kept; of more the oldest go first. */
export const MAILS_KEPT = 10_000
/** Files that are looked at at once. */
const BATCH = 100

/** How old each file is; one that is gone meanwhile has no age. */
async function written(folder: string, names: readonly string[]): Promise<{ path: string; at: number }[]> {
  const found: { path: string; at: number }[] = []
  for (let i = 0; i < names.length; i += BATCH) {
    const paths = names.slice(i, i + BATCH).map((name) => join(folder, name))
    const stats = await Promise.all(paths.map((path) => stat(path).catch(() => null)))
    for (const [k, one] of stats.entries()) if (one?.isFile()) found.push({ path: paths[k]!, at: one.mtimeMs })
  }
  return found
}

/** Removes what is too old or too much; how many files that were. `isThorough` looks at ages, too, when there are not too many. */
export async function pruneMails(folder: string, now: Date, isThorough: boolean): Promise<number> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /\.eml(\.part)?$/.test(name))
  if (!isThorough && names.length <= MAILS_KEPT) return 0
  const files = (await written(folder, names)).toSorted((a, b) => b.at - a.at)
  const gone = files.filter(({ at }, i) => i >= MAILS_KEPT || at < now.getTime() - MAIL_KEPT_MS)
  for (const { path } of gone) await rm(path, { force: true })
  return gone.length
}
