/**
 * What holds a Chromium that shows strangers' pages: a user of its own where the server is root, and Chromium's own sandbox, which no root
 * can have. With neither it is not begun, unless whoever runs the server answers for it (`CHROMIUM_NO_SANDBOX`).
 */
import { spawnSync } from 'node:child_process'
import { freeUser } from '../../../api/outside/cage/cage.ts'

export interface Hold {
  /** Whom it runs as; null: as the server does. */
  user: number | null
  hasSandbox: boolean
}

const PROBE_MAX_MS = 2_000

/** Whether a user may make the namespaces that the sandbox is made of. */
const hasNamespaces = (user: number) =>
  spawnSync('unshare', ['--user', '--map-root-user', '--pid', '--net', '--fork', 'true'], {
    ...{ uid: user, gid: user, stdio: 'ignore', env: { PATH: process.env.PATH }, cwd: '/', timeout: PROBE_MAX_MS },
  }).status === 0

/** Whether there is something to hold it by, or it need not be held. */
export const isHeld = (isTrusted: boolean) => isTrusted || process.getuid?.() !== 0 || freeUser() !== null

/** What a Chromium is held by that is begun now; null: nothing, and it is not to be begun. */
export function holdOf(isTrusted: boolean): Hold | null {
  if (process.getuid?.() !== 0) return { user: null, hasSandbox: !isTrusted }
  const user = freeUser()
  if (user === null) return isTrusted ? { user, hasSandbox: false } : null
  return { user, hasSandbox: !isTrusted && hasNamespaces(user) }
}

/** The same in words, for whoever runs the server. */
export function wordsOf(hold: Hold | null): string {
  if (!hold)
    return 'not used, for strangers’ pages would run as root: run Stoa as another user, or set CHROMIUM_NO_SANDBOX=1 to answer for them'
  const user = hold.user === null ? 'as the user of the server' : 'as a user of its own'
  if (hold.hasSandbox) return `${user}, in its sandbox`
  return `${user}, without its sandbox: ${hold.user === null ? 'CHROMIUM_NO_SANDBOX is set, and a page that breaks out of it can do what the server can' : 'users get no namespaces here, or CHROMIUM_NO_SANDBOX is set'}`
}
