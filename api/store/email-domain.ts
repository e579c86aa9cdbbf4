/** Proof that a store may send mail for a domain: a TXT record that only the domain's owner can publish (document 3, email-domain). */
import { Resolver } from 'node:dns/promises'

/** A look-up that takes longer than this is given up. */
const LOOKUP_MS = 5_000

/** The record that proves the ownership of a domain with this store's token. */
export const proofOf = (domain: string, token: string) => ({
  type: 'TXT' as const,
  name: `_stoa.${domain}`,
  value: `stoa-verification=${token}`,
})

/**
 * Whether DNS shows a record; null when the resolvers failed or did not answer in time, so that nobody can tell. `servers` are
 * `address[:port]`; without them the system's are asked.
 */
export async function isPublished(record: { name: string; value: string }, servers: readonly string[] = []): Promise<boolean | null> {
  const resolver = new Resolver({ timeout: 2_000, tries: 3 })
  if (servers.length) resolver.setServers(servers)
  const timer = setTimeout(() => resolver.cancel(), LOOKUP_MS)
  try {
    const found = await resolver.resolveTxt(record.name)
    return found.some((parts) => parts.join('') === record.value)
  } catch (error) {
    return ['ENOTFOUND', 'ENODATA'].includes((error as { code?: string }).code ?? '') ? false : null
  } finally {
    clearTimeout(timer)
  }
}
