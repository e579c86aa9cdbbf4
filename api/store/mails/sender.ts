/** The sender of a store's mails. */
import { normalizeEmail } from '../../values/email.ts'
import type { Settings } from '../../http/route.ts'

/** The sender of mails, and the address that gets the answers. */
interface Sender {
  from: { name: string; address: string }
  replyTo?: string
}

const isAt = (address: string, domain: string) => {
  const host = normalizeEmail(address).split('@').at(-1)!
  return host === domain || host.endsWith(`.${domain}`)
}

/**
 * Who a store's mails come from. The address that is set counts at the store's own domain alone, or where the operator has verified a
 * store without one: nobody sends as somebody else. Answers go to the contact address, or to the one that is set.
 */
export function senderOf({ name, email, emailDomainVerified, contactEmail }: Settings, baseUrl: string): Sender {
  const { domain, fromAddress, fromName } = email
  const own = fromAddress !== null && emailDomainVerified && (domain === null || isAt(fromAddress, domain))
  const host = domain !== null && emailDomainVerified ? domain : new URL(baseUrl).hostname
  const replyTo = contactEmail ?? (own ? null : fromAddress)
  return { from: { name: fromName ?? name, address: own ? fromAddress : `no-reply@${host}` }, ...(replyTo ? { replyTo } : {}) }
}

/** The postal address of a store on one line; empty when there is none. */
export const postalAddress = ({ address }: Settings): string =>
  [
    address.company,
    address.line1,
    address.line2,
    [address.postalCode, address.city].filter(Boolean).join(' '),
    address.state,
    address.country,
  ]
    .filter(Boolean)
    .join(', ')
