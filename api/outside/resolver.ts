/** Domain names, looked up in DNS. */
import { lookup, Resolver as System } from 'node:dns/promises'
import { askDns, type DnsAnswer, type RecordType } from './dns.ts'

/** A look-up that takes longer than this is given up. */
const LOOKUP_MS = 5_000

export interface Resolver {
  /** The TXT records under a name, none where there are none; throws when nobody has answered in time. */
  txt(name: string): Promise<string[]>
  /** All IP addresses of a name, none where there are none or nobody has answered in time. */
  addresses(name: string): Promise<string[]>
  /** What DNS itself knows of a name, which may be that there is no such name; throws when no server answers within 5 s. */
  ask(name: string, type: RecordType): Promise<DnsAnswer>
}

/** What there is no such name or record for. */
const NOTHING = ['ENOTFOUND', 'ENODATA']

/** Asks servers, each `address[:port]`; without them as the system does, which knows the names in its own files, too. */
export function resolverAt(servers: readonly string[]): Resolver {
  async function ask<T>(question: (resolver: System) => Promise<T[]>): Promise<T[]> {
    const resolver = new System({ timeout: 2_000, tries: 3 })
    if (servers.length) resolver.setServers(servers)
    const timer = setTimeout(() => resolver.cancel(), LOOKUP_MS)
    try {
      return await question(resolver)
    } catch (error) {
      if (NOTHING.includes((error as { code?: string }).code ?? '')) return []
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    txt: async (name) => (await ask((resolver) => resolver.resolveTxt(name))).map((parts) => parts.join('')),
    async addresses(name) {
      if (!servers.length) return (await lookup(name, { all: true }).catch(() => [])).map(({ address }) => address)
      const both = await Promise.allSettled([ask((resolver) => resolver.resolve4(name)), ask((resolver) => resolver.resolve6(name))])
      // One half alone could hide what is private in the other.
      return both.every(({ status }) => status === 'fulfilled')
        ? both.flatMap((half) => (half as PromiseFulfilledResult<string[]>).value)
        : []
    },
    ask: (name, type) => askDns(servers.length ? servers : new System().getServers(), name, type),
  }
}
