/** Where tests write: in memory where the system has room for it, since half of making a store is waiting for a disk. */
import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** Containers often have 64 MB there; a run of all tests takes up to half of this. */
const ROOM_MIN_BYTES = 2 ** 30

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ROOM_MIN_BYTES
  } catch {
    return false
  }
}
const place = hasRoom() ? MEMORY : tmpdir()

/** A new folder for what need not be on a disk; who asked for it removes it. */
export const folderFor = (name: string) => mkdtempSync(join(place, `stoa-${name}-`))

/** A new folder on the disk, for tests of what a disk does. */
export const folderOnDisk = (name: string) => mkdtempSync(join(tmpdir(), `stoa-${name}-`))
