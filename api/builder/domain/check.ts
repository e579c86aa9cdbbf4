/** Looking at a custom domain in DNS: whether it is the store's, and whether it leads here (document 7, Custom domain). */
import ipaddr from 'ipaddr.js'
import type { DnsAnswer } from '../../outside/dns.ts'
import type { Services } from '../../outside/services.ts'
import { proofOf } from '../../store/email-domain.ts'
import type { DomainRow } from './claims.ts'
import type { AddressRecord } from './custom-domain.ts'

type Looking = Pick<Services, 'resolver' | 'storefronts'>

/** A host without its port. */
export const portless = (host: string) => host.replace(/:\d+$/, '')

/** The records that a domain needs: the one that leads to the store, and the one that proves whose it is. */
export async function recordsFor({ storefronts }: Pick<Services, 'storefronts'>, { domain, slug, token }: DomainRow) {
  const { recordFor } = await import('./custom-domain.ts')
  return {
    record: recordFor(domain, { ip: storefronts.place.ip, host: portless(storefronts.hostOf(slug)) }),
    proof: proofOf(domain, token),
  }
}

export interface Check {
  status: 'Valid Configuration' | 'Invalid Configuration' | 'Domain Not Found' | 'Unknown Error'
  /** In plain language, which record is missing or wrong; null when all are right. */
  reason: string | null
}

/** What DNS says; null where no server has answered. */
interface Found {
  alias: DnsAnswer | null
  addresses: (DnsAnswer | null)[]
  /** Of the record that proves whose the domain is. */
  proof: DnsAnswer | null
}
interface Wanted {
  domain: string
  record: AddressRecord
  proof: { name: string; value: string }
  isVerified: boolean
  /** The store's own host. */
  host: string
  /** The addresses of this server: what `STORES_IP` says, and what the store's own host has. */
  ours: readonly string[]
}

/** Addresses that are shown of a domain that leads elsewhere: what is in DNS is somebody else's. */
const SHOWN_MAX = 3
const plain = (address: string) => ipaddr.process(address).toString()
const put = ({ type, name, value }: { type: string; name: string; value: string }) => `the ${type} record ${name} with the value ${value}`

/**
 * Where a domain leads: here, elsewhere, nowhere, or nobody knows. Here is the store's own host, by however many names, or addresses that
 * are all this server's: one of somebody else's among them would get a part of the visitors, and an AAAA record those with IPv6.
 */
function leadsTo({ alias, addresses }: Found, { host, ours }: Wanted): 'here' | 'elsewhere' | 'nowhere' | 'unknown' {
  const all = [alias, ...addresses]
  if (all.some((answer) => answer?.aliases.includes(host))) return 'here'
  const values = addresses.flatMap((answer) => answer?.values ?? [])
  if (values.some((address) => !ours.includes(plain(address)))) return 'elsewhere'
  if (all.includes(null)) return 'unknown'
  return values.length ? 'here' : alias!.aliases.length ? 'elsewhere' : 'nowhere'
}

/** What follows from what DNS says. */
function judge(found: Found, wanted: Wanted): Check {
  const { domain, record, proof, isVerified } = wanted
  const all = [found.alias, ...found.addresses]
  const knows = (answer: DnsAnswer | null) => answer !== null && answer.aliases.length + answer.values.length > 0
  // There are servers that deny a name when they are asked for a kind that they don't know.
  if (all.some((answer) => answer && !answer.exists) && !all.some(knows))
    return { status: 'Domain Not Found', reason: `DNS knows no ${domain}: register it, then set ${put(record)}` }
  const unknown: Check = { status: 'Unknown Error', reason: `DNS gave no answer about ${domain}: check again later` }
  const wrong = (reason: string): Check => ({ status: 'Invalid Configuration', reason })
  const way = leadsTo(found, wanted)
  if (way === 'unknown') return unknown
  if (way === 'nowhere') return wrong(`${domain} leads nowhere: set ${put(record)}`)
  if (way === 'elsewhere') {
    const foreign = found.addresses.flatMap((answer) => answer?.values ?? []).filter((address) => !wanted.ours.includes(plain(address)))
    const where = foreign.length ? `to ${foreign.slice(0, SHOWN_MAX).join(', ')}` : 'elsewhere'
    return wrong(`${domain} leads ${where}: set ${put(record)}, and remove other records of that name`)
  }
  if (isVerified || found.proof?.values.includes(proof.value)) return { status: 'Valid Configuration', reason: null }
  return found.proof ? wrong(`the domain is not proven to be yours: set ${put({ type: 'TXT', ...proof })}`) : unknown
}

/** Whether the record stands in DNS that proves a domain to be a store's, by a token. */
export async function isShown({ resolver }: Pick<Services, 'resolver'>, domain: string, token: string): Promise<boolean> {
  const { name, type, value } = proofOf(domain, token)
  const answer = await resolver.ask(name, type).catch(() => null)
  return answer?.values.includes(value) ?? false
}

/** Looks at a domain in DNS: all that is asked is asked at once, so it takes 5 s at most. Whose a verified one is is not asked again. */
export async function checkDomain(looking: Looking, row: DomainRow): Promise<Check> {
  const { resolver, storefronts } = looking
  const { record, proof } = await recordsFor(looking, row)
  const host = portless(storefronts.hostOf(row.slug))
  const ask = (...question: Parameters<typeof resolver.ask>) => resolver.ask(...question).catch(() => null)
  const [alias, v4, v6, proven, own4, own6] = await Promise.all([
    ask(row.domain, 'CNAME'),
    ask(row.domain, 'A'),
    ask(row.domain, 'AAAA'),
    row.verifiedAt === null ? ask(proof.name, 'TXT') : null,
    ask(host, 'A'),
    ask(host, 'AAAA'),
  ])
  const ours = [storefronts.place.ip, ...[own4, own6].flatMap((answer) => answer?.values ?? [])].map(plain)
  return judge(
    { alias, addresses: [v4, v6], proof: proven },
    { domain: row.domain, record, proof, isVerified: row.verifiedAt !== null, host, ours },
  )
}
