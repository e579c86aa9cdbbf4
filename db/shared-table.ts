/** A table in a file that the processes of a machine share: they count rate limits in one, and tell in one who waits to write. */
import { closeSync, constants, existsSync, fstatSync, fsyncSync, linkSync, openSync, readSync, rmSync, writeSync } from 'node:fs'

/** `st_blocks` counts these, whatever the file system's own blocks are. */
const BLOCK_BYTES = 512

/** Writes all of a table to the disk, so that no page of it is left to be allocated once the disk is full. Throws when that can't be done. */
function writeOut(file: number, table: Uint8Array) {
  for (let at = 0; at < table.length;) at += writeSync(file, table, at, table.length - at, at)
  fsyncSync(file)
}

/** Makes the file, whole from the moment at which it has its name; another process may have been faster. */
function makeTable(path: string, bytes: number) {
  const own = `${path}.new-${crypto.randomUUID()}`
  try {
    const file = openSync(own, 'wx', 0o600)
    try {
      writeOut(file, new Uint8Array(bytes))
    } finally {
      closeSync(file)
    }
    linkSync(own, path)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    rmSync(own, { force: true })
  }
}

/** Fills the holes of a file that is there, as it was made by an earlier release or copied without them. */
function fillHoles(path: string, bytes: number) {
  const file = openSync(path, constants.O_RDWR)
  try {
    const { size, blocks } = fstatSync(file)
    if (size >= bytes && blocks * BLOCK_BYTES >= bytes) return
    const table = new Uint8Array(bytes)
    readSync(file, table, 0, bytes, 0)
    writeOut(file, table)
  } finally {
    closeSync(file)
  }
}

/**
 * A table of so many cells of 64 bits in the file at `path`, made when missing: all processes that map it count together. Each page of it has its place on
 * the disk, for a page that has none when the disk is full ends the process by SIGBUS. Throws when it can't be written.
 */
export function sharedTable(path: string, cells: number): BigInt64Array {
  const bytes = cells * BigInt64Array.BYTES_PER_ELEMENT
  if (!existsSync(path)) makeTable(path, bytes)
  fillHoles(path, bytes)
  const { buffer, byteOffset } = Bun.mmap(path, { shared: true })
  return new BigInt64Array(buffer, byteOffset, cells)
}
