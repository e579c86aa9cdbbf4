/**
 * Whose requests count together where there is no key: one IPv4 address, or one IPv6 network of 64 bits, since whoever has one has all
 * addresses in it.
 */
import { BlockList, isIP } from 'node:net'

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
/** An IPv4 address that is written as IPv6, as itself; without a zone. */
const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')

/** The network of 64 bits that an IPv6 address is in. */
function networkOf(address: string): string {
  const [head = '', tail] = address.split('::') as [string, string?]
  const groups = (text: string) => text.split(':').filter(Boolean)
  // An IPv4 address at the end stands for two groups.
  const last = groups(tail ?? '').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
  const first = groups(head).flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
  const all = tail === undefined ? first : [...first, ...Array<string>(8 - first.length - last.length).fill('0'), ...last]
  return `${all
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

export class Clients {
  readonly #trusted = new BlockList()

  /** `trusted`: addresses and ranges of the proxies whose `X-Forwarded-For` is believed. */
  constructor(trusted: readonly string[]) {
    for (const range of trusted) {
      const [address, bits] = range.split('/') as [string, string?]
      if (bits === undefined) this.#trusted.addAddress(plain(address), familyOf(plain(address)))
      else this.#trusted.addSubnet(address, Number(bits), familyOf(address))
    }
  }

  /**
   * The client behind a connection from `peer`: the last address in `X-Forwarded-For` that no proxy of ours has, counted from ours on.
   * What stands before it, anybody may have written.
   */
  nameOf(peer: string, forwardedFor: string | null): string {
    let client = plain(peer)
    for (const hop of (forwardedFor ?? '').split(',').toReversed()) {
      if (!this.#trusted.check(client, familyOf(client))) break
      const address = plain(hop.trim())
      if (!isIP(address)) break
      client = address
    }
    return isIP(client) === 6 ? networkOf(client) : client
  }
}
