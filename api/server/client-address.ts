/**
 * Whose requests count together where there is no key: one IPv4 address, or one IPv6 network of 64 bits, since whoever has one has all
 * addresses in it.
 */
import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** One form of an address: IPv4 written as IPv6 as itself, without a zone, or a port as some proxies add it. What is none stays. */
function plain(text: string): string {
  const bare = text
    .replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .split('%', 1)[0]!
  return isIP(bare) ? ipaddr.process(bare).toString() : bare
}

/** The network of 64 bits that an IPv6 address is in. */
const networkOf = (address: string) =>
  `${(ipaddr.parse(address) as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`

/** Whether the name of a client is that of this machine. */
export const isLoopback = (client: string) => client.startsWith('127.') || client === networkOf('::1')

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

  #isOurs(address: string): boolean {
    return this.#trusted.check(address, familyOf(address))
  }

  /** The last address in `X-Forwarded-For` that no proxy of ours has, counted from ours on. What stands before it, anybody may have written. */
  #clientOf(peer: string, forwardedFor: string | null): string {
    let client = plain(peer)
    for (const hop of (forwardedFor ?? '').split(',').toReversed()) {
      if (!this.#isOurs(client)) break
      const address = plain(hop.trim())
      if (!isIP(address)) break
      client = address
    }
    return client
  }

  /** The client behind a connection from `peer`. */
  nameOf(peer: string, forwardedFor: string | null): string {
    const client = this.#clientOf(peer, forwardedFor)
    return isIP(client) === 6 ? networkOf(client) : client
  }

  /** Whether a proxy of ours has told which client is behind a connection; one of our own is none. */
  isForwarded(peer: string, forwardedFor: string | null): boolean {
    const client = this.#clientOf(peer, forwardedFor)
    return client !== plain(peer) && !this.#isOurs(client)
  }
}
