/**
 * Which places of the network may be asked for what a stranger named: hosts of the public internet alone, on the ports of the web. A name
 * is judged by what it is called and by all addresses that it has; whoever connects does so to an address that was judged.
 */
import { isIP } from 'node:net'
import { isPublic } from '../values/public-address.ts'
import { never, notNow } from './not-fetched.ts'

export interface PlacesNeeds {
  /** `host:port` pairs that may be asked although they are private or on another port, in lower case. */
  allow: readonly string[]
  /** All addresses of a name, none where there is none. */
  lookup: (name: string) => Promise<readonly string[]>
  /** Hosts of this installation, in lower case: asked by itself, it would wait for itself. */
  own?: readonly string[]
}

export interface Places {
  /** Why a URL is never asked, whatever its name resolves to and whatever listens there; null where it may be. */
  refusal(url: URL): string | null
  /** The addresses to connect to, IPv4 first. Throws `NotFetched`; one that is not public, among all that a name has, spoils the name. */
  addressesOf(url: URL): Promise<readonly string[]>
}

const NOT_PUBLIC = 'it leads to an address that is not public'
const PORTS = [80, 443]
/** Names that are nobody's in the public DNS (RFC 6761, 6762, 7686, 8375; ICANN's `.internal`), or lead to clouds' metadata. */
const PRIVATE_NAMES = ['localhost', 'local', 'internal', 'test', 'invalid', 'example', 'onion', 'home.arpa']
/** Metadata services of clouds that have addresses in public ranges. */
const METADATA = ['168.63.129.16']

const portOf = ({ protocol, port }: URL) => Number(port || (protocol === 'https:' ? 443 : 80))
/** The host without the brackets of an IPv6 address, and without the dot of the root. */
export function hostOf({ hostname }: URL): string {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  let end = bare.length
  while (bare[end - 1] === '.') end--
  return bare.slice(0, end)
}
const isPrivateName = (host: string) => PRIVATE_NAMES.some((name) => host === name || host.endsWith(`.${name}`))
const mayBeAsked = (address: string) => isPublic(address) && !METADATA.includes(address)

export function publicPlaces({ allow, lookup, own = [] }: PlacesNeeds): Places {
  const isAllowed = (url: URL) => allow.includes(`${url.hostname.toLowerCase()}:${portOf(url)}`)
  const refusal = (url: URL) => {
    if (!/^https?:$/.test(url.protocol)) return 'it does not lead to an http or https address'
    if (url.username || url.password) return 'it may not hold a user or a password'
    if (isAllowed(url)) return null
    const host = hostOf(url)
    // The URL parser has turned every spelling of an IPv4 address (127.1, 0x7f.1, 2130706433) into the usual one.
    if (isIP(host) ? !mayBeAsked(host) : !host.includes('.') || isPrivateName(host)) return NOT_PUBLIC
    if (own.includes(host)) return 'it leads to this very server'
    return PORTS.includes(portOf(url)) ? null : 'its port is neither 80 nor 443'
  }
  return {
    refusal,
    async addressesOf(url) {
      const host = hostOf(url)
      const addresses = isIP(host) ? [host] : await lookup(host).catch(() => [])
      if (!addresses.length) throw notNow('no-host', 'its host does not exist')
      if (!isAllowed(url) && !addresses.every(mayBeAsked)) throw never('refused-here', NOT_PUBLIC)
      // Most machines have IPv4, and many have no IPv6.
      return addresses.toSorted((a, b) => isIP(a) - isIP(b))
    },
  }
}
