/** Which IP addresses belong to the public internet, and which to this machine, its network, or nobody. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Global unicast (RFC 4291, 2.4): the only IPv6 addresses that are given out. */
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an address is one of the public internet. ::ffff:127.0.0.1 is judged as the 127.0.0.1 that the system connects to; all other
 * forms that carry an IPv4 address (::/96, 6to4, NAT64, Teredo) lead through a gateway, and are not public.
 */
export function isPublic(address: string): boolean {
  const family = isIP(address)
  if (!family || address.includes('%')) return false
  // In hexadecimal: `ipaddr.js` takes ::8.8.8.8, which is an address of its own, for ::ffff:8.8.8.8.
  const ip = ipaddr.process(family === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address)
  return ip.range() === 'unicast' && (ip instanceof ipaddr.IPv4 || ip.match(GLOBAL))
}
