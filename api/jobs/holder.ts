/** Holders of leases: one start of a process each. One that has ended on this machine holds nothing any more, so nobody waits for it. */
import { readFileSync, readlinkSync } from 'node:fs'

/** This start of the process: another one may have the same number, on another machine, in another container or later. */
const nonce = crypto.randomUUID()

/**
 * Where process numbers mean the same: a machine since it was started, and a namespace of it (each container has one). Null where
 * the system tells neither: there nobody knows who has ended, and leases run out.
 */
const place = ((): string | null => {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return null
  }
})()

/** A token for a lease of this process. */
export const holderToken = (secret: string) => `${place ?? 'unknown'} ${process.pid} ${nonce} ${secret}`

/** Whether the process that a token is of has certainly ended. */
export function isGone(token: string): boolean {
  const [itsPlace, pid, itsNonce] = token.split(' ')
  if (place === null || itsPlace !== place || !pid || itsNonce === nonce) return false
  if (Number(pid) === process.pid) return true
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as { code?: string }).code === 'ESRCH'
  }
}
