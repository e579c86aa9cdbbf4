/** Which IP addresses belong to the public internet, and which to this machine, its network, or nobody. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Whether an address is one of the public internet; one in a form that carries another is judged by what it carries. */
export function isPublic(address: string): boolean {
  if (!isIP(address)) return false
  // `process` turns ::ffff:127.0.0.1 into 127.0.0.1; forms that lead through a gateway (6to4, NAT64) are no `unicast`.
  return ipaddr.process(address).range() === 'unicast'
}
