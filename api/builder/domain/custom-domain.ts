/** Rules of custom domains (document 7, Custom domain): which names may be one, and which DNS records a name needs. */
import { isIP, isIPv6 } from 'node:net'
import { parse } from 'tldts'
import { hostname } from '../../values/hostname.ts'

/** `_stoa.` stands before it in the record that proves whose it is, and a name of DNS has 253 characters. */
const LENGTH_MAX = 247
/** What people write who mean a host: each is named, since a URL parser would take it away in silence. */
const MISTAKES: readonly [RegExp, string][] = [
  [/:\/\//, 'has a protocol: give the host alone, such as shop.example'],
  [/[/\\?#]/, 'has a path: give the host alone, such as shop.example'],
  [/@/, 'is a mail address, or has a user in it: give the host alone, such as shop.example'],
  [/:/, 'has a port: a domain is served on the ports of the web'],
  [/\*/, 'has a wildcard: connect one host'],
  [/[\s\p{Cc}\p{Cf}]/u, 'has a space or an invisible character in it'],
  [/_/, 'has an underscore, which host names have not'],
  [/^\.|\.\.|\.$/, 'begins or ends with a dot, or has two in a row'],
]
/** Names that lead to no public host (RFC 6761, 6762, 7686, 8375, 9476, and what networks use inside). */
const LOCAL = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'lan',
  'home',
  'corp',
  'private',
  'invalid',
  'onion',
  'alt',
  'arpa',
]

const rulesOf = (domain: string) => parse(domain, { allowPrivateDomains: true, extractHostname: false })
/** Whether a host is another one, or below it. */
const isWithin = (host: string, parent: string) => host === parent || host.endsWith(`.${parent}`)

/** The hosts that the server itself has: `parent` is that of the stores' own ones, `others` are the API's and the content site's. */
interface OwnHosts {
  parent: string
  others: readonly string[]
}

/** The domain that a text means, as DNS has it (lowercase, punycode), or what is wrong with it. */
export function customDomain(text: string, { parent, others }: OwnHosts): { domain: string } | { mistake: string } {
  if (isIP(text.replace(/^\[(.*)\]$/, '$1'))) return { mistake: 'is an IP address: a domain is a name' }
  const mistake = MISTAKES.find(([pattern]) => pattern.test(text))?.[1]
  if (mistake) return { mistake }
  if (LOCAL.includes(text.toLowerCase().split('.').at(-1)!)) return { mistake: 'is a name of a local network, or one that DNS never has' }
  // Full stops of other scripts are dots, too.
  if (!/[.。．｡]/u.test(text)) return { mistake: 'needs at least two labels, such as shop.example' }
  const domain = hostname(text)
  if (domain === null) return { mistake: 'is no host name: labels of letters, digits and hyphens, at most 63 characters each' }
  if (domain.length > LENGTH_MAX) return { mistake: `is too long: at most ${LENGTH_MAX} characters as DNS writes it` }
  if (LOCAL.includes(domain.split('.').at(-1)!)) return { mistake: 'is a name of a local network, or one that DNS never has' }
  if (isWithin(domain, parent)) return { mistake: `belongs to ${parent}, below which every store has a host already` }
  if (others.includes(domain)) return { mistake: 'is an address of this server itself' }
  if (rulesOf(domain).domain === null) return { mistake: `is a public suffix, below which anybody registers names: put yours before it` }
  return { domain }
}

export interface AddressRecord {
  type: 'A' | 'AAAA' | 'CNAME'
  /** As providers ask for it: `@` for the registrable domain itself, else what stands before it. */
  name: string
  value: string
}

/** The record that leads a domain to the store: `ip` is the server's address, `host` the store's own host. */
export function recordFor(domain: string, { ip, host }: { ip: string; host: string }): AddressRecord {
  const { subdomain } = rulesOf(domain)
  if (subdomain) return { type: 'CNAME', name: subdomain, value: host }
  return { type: isIPv6(ip) ? 'AAAA' : 'A', name: '@', value: ip }
}
