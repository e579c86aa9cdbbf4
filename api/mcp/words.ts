/** What merchants and developers call things, beside the words of the API; each line: our words, then theirs, of which some are two. */
const ALSO = `
coupon: voucher discount-code promo-code gift-code
coupon promotion: discount rebate offer sale
promotion: bogo deal automatic-discount flash-sale
variant: size color option sku
stock inventory: quantity restock warehouse available
order: purchase sale
payment: pay paid money
refund: return reimburse chargeback money-back give-back
cancel: void abort
shipment ship: fulfil fulfill fulfillment dispatch parcel package tracking label send
shipping: delivery postage rate carrier
customer: buyer client shopper people
newsletter: mailing campaign email-campaign
subscriber newsletter: email mail audience mailing-list
collection category: group catalogue section
product: item article good
post: blog article story
legal: imprint terms privacy policy withdrawal
setting: shop-name store-name shop-address store-address
setting: configure configuration setup preference currency language locale timezone
webhook: notify notification callback hook event integration
review: rating star feedback
comment: reply
support case message: complaint question contact helpdesk
support case: support-ticket
event: ticket concert workshop class
check: scan admit entry
booking: appointment reservation slot
loyalty: points reward member tier
key: token secret credential
member team: staff user colleague employee invite
translate: translation localize language german
media: image picture photo file upload
publish: deploy launch live
domain: dns hostname
tax: vat
pickup: collect collection-point pick-up click-collect
list: show find all see overview browse
read: get show view detail find look
add create: make new
change update: edit set modify rename raise lower adjust
replace: set write
remove delete: drop discard erase
cart: basket bag
check out buy: checkout purchase pay
search: find query
wishlist: favorite saved
notification: back-in-stock alert waiting
audit: history log
addon: carrier plugin app
workstation: pack pick warehouse packing-station packing-table
`

const byTheirs = new Map<string, Set<string>>()
for (const line of ALSO.trim().split('\n')) {
  const [ours, theirs] = line.split(': ').map((words) => words.split(' '))
  for (const word of theirs!) for (const own of ours!) byTheirs.set(word, (byTheirs.get(word) ?? new Set()).add(own))
}

const stemOf = (word: string) => word.toLowerCase().replace(/(ing|ed|es|s)$/, '')
for (const [theirs, own] of [...byTheirs]) byTheirs.set(stemOf(theirs), own)

/** Our words for one or two of theirs (`money-back`). */
export const ownWordsFor = (theirs: string): readonly string[] => [
  ...(byTheirs.get(theirs.toLowerCase()) ?? byTheirs.get(stemOf(theirs)) ?? []),
]
