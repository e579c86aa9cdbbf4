/** Who holds a lease: a process of a machine. One that has ended on this machine holds nothing any more, so that nobody waits for it. */
import { hostname } from 'node:os'

/** Another process may get the number of one that has ended: this tells them apart. */
const nonce = crypto.randomUUID().slice(0, 8)
const machine = hostname().replaceAll(' ', '')

/** A token for a lease of this process. */
export const holderToken = (secret: string) => `${machine} ${process.pid} ${nonce} ${secret}`

/** Whether the process that a token is of has certainly ended. */
export function isGone(token: string): boolean {
  const [host, pid, itsNonce] = token.split(' ')
  if (host !== machine || !pid || itsNonce === nonce) return false
  if (Number(pid) === process.pid) return true
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as { code?: string }).code === 'ESRCH'
  }
}
