/** Who a store's mails come from, and the links in them. */
import type { Settings } from '../../http/route.ts'

/** The address that mails come from: the one that is set, or one at the store's domain. */
export function senderOf({ name, email, contactEmail }: Settings, baseUrl: string): { name: string; address: string } {
  const address = email.fromAddress ?? (email.domain ? `no-reply@${email.domain}` : contactEmail) ?? `no-reply@${new URL(baseUrl).hostname}`
  return { name: email.fromName ?? name, address }
}

/** Where a reader of a mail goes to. */
export const linkTo = (baseUrl: string, page: 'unsubscribe' | 'confirm', token: string) => `${baseUrl}/api/v1/subscribers/${page}/${token}`

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
