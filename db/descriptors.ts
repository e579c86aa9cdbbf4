/** How many stores may be open at once: what the process's limit of file descriptors allows. */
import { readFileSync } from 'node:fs'

/** Open stores that a process keeps at most. */
const HANDLES_MAX = 1_000
/** A reading and a writing connection, each with file, log and shared memory, and some that wait to be collected. */
const DESCRIPTORS_PER_HANDLE = 8

/** The text of `/proc/self/limits`, or null where there is none. */
export function processLimits(): string | null {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return null
  }
}

/** Open stores for these limits: three quarters of the descriptors go to databases, the rest to connections of clients. */
export function handlesFor(limits: string | null): number {
  const descriptors = Number(/^Max open files\s+(\d+)/m.exec(limits ?? '')?.[1] ?? Infinity)
  return Math.max(4, Math.min(HANDLES_MAX, Math.floor((descriptors * 0.75) / DESCRIPTORS_PER_HANDLE)))
}
