/** Proof that a store may send mail for a domain: a TXT record that only the domain's owner can publish (document 3, email-domain). */
import type { Resolver } from '../outside/resolver.ts'

/** The record that proves the ownership of a domain with this store's token. */
export const proofOf = (domain: string, token: string) => ({
  type: 'TXT' as const,
  name: `_stoa.${domain}`,
  value: `stoa-verification=${token}`,
})

/** The results of a look-up: the record is there; others are there; none is; nobody answered; a sandbox asks nobody. */
export const LOOKUP_RESULTS = ['verified', 'other_value', 'no_record', 'no_answer', 'sandbox'] as const
export interface Lookup {
  result: (typeof LOOKUP_RESULTS)[number]
  /** The TXT records that are there under the name. */
  found: string[]
}

/** Records that are told, and characters of each: what is in DNS is somebody else's. */
const FOUND_MAX = 10
const TEXT_MAX = 300

/** Asks DNS for a record. */
export async function lookUp(resolver: Resolver, record: { name: string; value: string }): Promise<Lookup> {
  try {
    const texts = await resolver.txt(record.name)
    const result = texts.includes(record.value) ? 'verified' : texts.length ? 'other_value' : 'no_record'
    return { result, found: texts.slice(0, FOUND_MAX).map((text) => text.slice(0, TEXT_MAX)) }
  } catch {
    return { result: 'no_answer', found: [] }
  }
}
