/** How often a client address may search, in any second. */
import type { Quota } from '../../api/server/window-limit.ts'

export const SEARCHES: Quota = { requests: 20, windowSeconds: 1 }
