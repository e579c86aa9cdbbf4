/** Domain names, looked up in DNS. */
import { Resolver as System } from 'node:dns/promises'

/** A look-up that takes longer than this is given up. */
const LOOKUP_MS = 5_000

export interface Resolver {
  /** The TXT records under a name, none where there are none; throws when nobody has answered in time. */
  txt(name: string): Promise<string[]>
}

/** Asks servers, each `address[:port]`; the system's when there are none. */
export const resolverAt = (servers: readonly string[]): Resolver => ({
  async txt(name) {
    const resolver = new System({ timeout: 2_000, tries: 3 })
    if (servers.length) resolver.setServers(servers)
    const timer = setTimeout(() => resolver.cancel(), LOOKUP_MS)
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(''))
    } catch (error) {
      if (['ENOTFOUND', 'ENODATA'].includes((error as { code?: string }).code ?? '')) return []
      throw error
    } finally {
      clearTimeout(timer)
    }
  },
})
