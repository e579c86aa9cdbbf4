/** What is done for custom domains now and then: those that were verified, or asked for, are looked at once a day; claims that nobody verifies end. */
import type { Services } from '../../outside/services.ts'
import { checkDomain } from './check.ts'
import { noteCheck, removeEnded, lookedAtUpTo } from './claims.ts'

const DAY_MS = 86_400_000
/** Domains of one round, and how many at once: where no DNS server answers, a round takes 50 s. There are 144 rounds a day. */
const ROUND_MAX = 100
const AT_ONCE = 10

/** Looks at the domains whose last look is a day ago. What nobody answers says nothing of a domain. */
export async function lookAfterDomains(
  services: Pick<Services, 'registry' | 'resolver' | 'storefronts' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const { registry, clock } = services
  const now = clock.now()
  await removeEnded(registry, now.toISOString())
  const due = await lookedAtUpTo(registry, new Date(now.getTime() - DAY_MS).toISOString(), ROUND_MAX)
  for (let first = 0; first < due.length && !signal.aborted; first += AT_ONCE)
    await Promise.all(
      due.slice(first, first + AT_ONCE).map(async (row) => {
        const { status } = await checkDomain(services, row)
        await noteCheck(registry, row, status === 'Unknown Error' ? null : status, clock.now().toISOString())
      }),
    )
}
