/**
 * What fields are, by their names, where their schemas do not say it themselves: a name means the same wherever it stands. Where it means
 * something of its own in one schema, or below one field, that comes first (`Schema.name`, `field.name`).
 */
import type { Json } from './schemas.ts'

const TEXT = `
id: Its id
dimensionsMm.width DimensionsMmInput.width dimensionsMm.height DimensionsMmInput.height: Millimetres
Address.name AddressInput.name ShippingAddress.name ShippingAddressInput.name: Who it is for
AcceptTeamInvitationInput.name AttendeeProfileInput.name CheckInEvent.name CheckOutCartInput.name ContactMessageInput.name: The person's name
Customer.name CustomerItem.name CustomerPatch.name LoyaltyMember.name LoyaltyMemberDetail.name SentMessage.name: The person's name
SignedUp.name Subscriber.name SubscriberInput.name SupportCaseInput.name TeamMember.name TeamMemberPatch.name: The person's name
attendee.name attendees.name customer.name seats.name: The person's name
Product.rating ProductItem.rating: Its stars, of all reviews
Tickets.code: The access code of the order
PhotoFeedImage.code: What the picture is called in its feed
ErrorDetail.code: What kind of check has failed
ErrorDetail.message: What is wrong, in words
AuditLog.method: The method of the request
Addon.type: What it is for
BrandKit.logo: The address of the logo
BookingSlot.settings BookingSlotInput.settings BookingSlotPatch.settings: What holds for this slot alone
RepeatBookingSlotInput.settings: What holds for these slots alone
ContactMessage.name: Who wrote it
ContactMessage.message: What they wrote
ContactMessage.email: Where an answer goes
Media.code: What the picture is called in its feed
NewWebhook.events Webhook.events: The events that it hears of
NewWebhook.url Webhook.url: Where the POSTs go
PhotoFeedImage.url: The address of the picture
Rendition.url: The address of this size of the picture
MessageAttachment.type Rendition.type: The media type
RichDocument.type: Always \`doc\`
SupportMessage.message: What was written
SupportMessage.author: Who wrote it
SupportCase.name: Who opened it
SupportReplyInput.message: What is answered
LegalPage.kind: Which page it is
EmailTemplate.kind: Which mail it is
Shipment.label: The label that was made for it
SignedUp.source Subscriber.source: Where they signed up
DomainDeleted.domain: The domain that was disconnected
AcceptTeamInvitationInput.token: The secret of the invitation
colors.text: The colour of words
colors.background: The colour behind everything
dns.type: The type of the DNS record
dns.value: What the DNS record has to say
environments.live: The account for live orders
environments.test: The account for trying
fonts.body: The typeface of texts
lastCheck.at: When DNS was asked last
paymentIssue.at: When that was
paymentIssue.code: What is wrong with the payment
progress.label: What is being done
record.name: The host that the record is for
record.type: The type of the DNS record
record.value: What the record has to say
tools.events: Events with tickets
tools.loyalty: Loyalty points
verification.domain: The host that the record is for
verification.type: The type of the DNS record
verification.value: What the record has to say
warnings.code: What happened, for programs
warnings.message: What happened, for people
storeId: The store that it belongs to
createdAt: When it was made
updatedAt: When it was changed last
name: What it is called
slug: Its part of addresses: lowercase words with hyphens, made from its name when it is not given
title: Its title
summary: A sentence or two about it, for lists
description: What it is, for those who look at it
longDescription: A text with paragraphs, headings and pictures, for its own page
content: The text of it
badgeContent: A short word on its picture, such as \`New\`
seo: What search engines show of it
seoTitle: Its title in search results
seoDescription: The text under it in search results
canonical: The address that search engines take for the original
image: The address of its picture
images: The addresses of its pictures, the first of which stands for it
logo: The address of its logo
status: How it stands
active: Whether it is in use; one that is not is hidden
type: Of which kind it is
kind: Of which kind it is
position: Where it stands among the others, the lowest first
sortOrder: Where it stands among the others, the lowest first
priority: The highest counts first
data: The entries of this page
items: What is in it
meta: How the page stands in the whole list
count: How many there are in all
total: How many there are in all
limit: The most entries of a page
offset: How many entries come before the first one
nextCursor: Give it as \`cursor\` for the next page; null at the end
pagination: How the page stands in the whole list
hasMore: Whether there are entries behind this page
unread: How many nobody has read yet
ok: True: it was done
deleted: How many were removed
changed: How many were changed
email: An email address
phone: A phone number
locale: A language of the store, such as \`de-DE\`
lang: The language of who it is for
currency: An ISO 4217 code in lower case, such as \`usd\`
country: An ISO 3166-1 code of two letters, such as \`DE\`
countries: ISO 3166-1 codes of two letters; none: all countries
timezone: An IANA name, such as \`Europe/Berlin\`
line1: Street and number
line2: Whatever else finds the place: a floor, a flat
city: Town or city
state: State, province or region, where addresses have one
postalCode: Post code
company: Company, where it is one
shippingAddress: Where it is sent
billingAddress: Who pays, where that is somebody or somewhere else
address: Where it is
addresses: The addresses that are kept
productId: The product
productIds: The products
productName: The name of the product
products: The products
product: The product
variantId: The variant, which is what is sold
productVariantId: The variant that sells it
variantName: The name of the variant
variants: The variants, each of which is sold by itself
categoryId: The category
categories: The categories, and those below them
collectionId: The collection
collectionIds: The collections
collections: The collections
brandId: The brand
brands: The brands
bundleId: The bundle
orderId: The order
orderNumber: The number that people use
lookup: The number that people use, as a number
orderStatus: How its order stands
lineId: A line of the order
lineItemId: A line of the order
lines: The lines
customerId: The customer
customer: Who buys
keyId: The API key that did it
keyName: What that key is called
memberId: A member of the team
postId: The post
post: The post
couponId: The coupon
subscriberId: The subscriber
caseId: The support case
parentId: What it stands below; null: nothing
taxRateId: The tax rate; null: the store's usual one
shippingMethodId: The shipping method
methodId: The shipping method
pickupLocationId: Where it is picked up
pickupPoint: The parcel locker or shop that it is sent to
workstationId: Who packs it
bookingSlotId: The booking slot
publishId: The publish that made it
deploymentId: What was built
commitSha: The commit of the project that was built
environment: \`live\`, or \`sandbox\` for trying things
requestId: Names the request in its answer and in the log
token: The secret of a link
quantity: How many units
price: Major units, such as 19.9
prices: Prices in other currencies, by their codes; what is missing is not sold in that currency
currencyPrices: The same in other currencies, by their codes
currencyAmounts: The amounts in other currencies, by their codes
compareAtPrice: The price before, which is shown struck through
unitPrice: What one unit costs, in major units
unitPriceCents: What one unit costs, in minor units
priceCents: What it costs, in minor units
subtotalCents: All lines before discounts, in minor units
discountCents: What is taken off, in minor units
shippingCents: What shipping costs, in minor units
taxCents: The tax in it, in minor units
totalCents: What is to be paid, in minor units
paidCents: What was paid, in minor units
refundedCents: What was given back, in minor units
amountCents: Minor units
minTotalCents: The least total, in minor units
maxTotalCents: The highest total, in minor units
totalGross: What was paid for all of it, in minor units
stock: How many there are, and whether that is counted
tracked: Whether units are counted; what is not can always be sold
backorder: Whether it is sold when none is left
reserved: Units in orders that are not paid yet
available: Units that can be sold now
sku: The merchant's own number
barcode: EAN, UPC or another code on the thing itself
options: What sets it apart from the others, such as \`{"size": "M"}\`
weightGrams: Its weight, in grams
dimensionsMm: Its size, in millimetres
length: Millimetres
width height: In pixels
size: In bytes
shippable: Whether it is sent by parcel
bookable: Whether it is sold with a time, by booking slots
tags: Words to find and group it by
tag: One of these words
rating: Stars, from 1 to 5
average: The mean of all stars; null without any
reviewCount: How many reviews there are
code: The code that buyers type
value: How much
percentage: Per cent
maxUses: Orders in all that may use it; null: as many as there are
timesRedeemed: Orders that have used it
startDate: From when it counts; null: from now on
endDate: Until when it counts; null: for ever
startsAt: When it begins
endsAt: When it ends
expiresAt: When it ends to count
from: The earliest instant
minProductCount: Units that the cart needs at least
maxProductCount: Units that the cart may have at most
minPrice: The lowest price, in major units
maxPrice: The highest price, in major units
inStock: Those alone of which something can be sold now
includeEvents: With events, which are left out otherwise
sort: In which order
discountPercentage: Per cent off what its parts cost
buyQuantity: Units that have to be bought
getQuantity: Units that are cheaper then
getDiscountPercentage: Per cent off those
tiers: Quantities from which it is cheaper
minQuantity: From how many units on
stackable: Whether other promotions count beside it
scope: What it is about
scopeIds: The things that it is about
coupons: The coupons, in the order in which they were entered
coupon: The coupon
promotions: The promotions that count
points: Loyalty points
loyalty: Loyalty points that it earned and took
loyaltyPoints: Points that the buyer pays with
pointsEarned: Points that it has earned
pointsRedeemed: Points that were paid with
earnMultiplier: How many times as many points are earned
tier: The tier that the customer has reached
color: A colour, as \`#rrggbb\`
note: What the buyer or the merchant has to say about it
reason: Why
cancelReason: Why it was cancelled
message: What is said, in words
subject: The subject of the mail
text: The same without markup
html: The mail as HTML
body: Its text
author: Who wrote it, as it is shown
approved: Whether everybody may see it
signals: Why it may be from a machine
error: Why it did not work
errorMessage: Why it did not work
url: Its address
path: The path of the request
method: How it is paid
reference: What the provider or the bank calls it
source: Where it came from
paymentStatus: How much of it is paid
paymentMethod: How it is paid
payment: The payment
paid: Whether it is paid already
packed: Whether it is packed
paidAt: When it was paid
packedAt: When it was packed
sentAt: When it was sent
scheduledAt: When it is to be sent
failedAt: When it failed
deliveredAt: When it was taken
nextTryAt: When it is tried again; null when it has ended
tries: How often it was tried
notifiedAt: When the mail was sent
subscribedAt: When they signed up
unsubscribedAt: When they left; null: they have not
lastUsedAt: When it was used last, to the hour
lastDeliveredAt: When something was taken last
lastMessageAt: When something was written last
disabledAt: When it was turned off
publishedAt: When it is public; in the future: not yet
takenAt: When the picture was taken
addedAt: When it was put there
at: When that was
restock: Whether the units go back on the shelf
carrier: Who carries it
trackingNumber: The carrier's number of the parcel
trackingUrl: Where the parcel can be followed
addonName: The carrier that makes its labels
minShippingTime: Days that it takes at least
maxShippingTime: Days that it takes at most
freeShippingThreshold: From this total on it costs nothing; null: never
pointPicker: How the buyer chooses a locker or a shop
shippedQuantity: Units that have left
refundedQuantity: Units whose money was given back
warnings: What the buyer should know before paying
itemId: The item that it is about
event: The event
events: The events
guest: Who speaks or performs
guestLabel: What that person is called on tickets, such as \`Speaker\`
location: Where it is
capacity: Seats in all; null: no limit
maxCapacity: Places in all
spotsRemaining: Places that are free
bookedCount: Places that are taken
onlineUrl: Where it is joined online; shown to who has booked
instructor: Who leads it
materials: What is needed, and provided
requirements: What guests should bring or know
autoConfirm: Whether bookings need no confirmation
confirmed: Whether the booking is confirmed
bufferMinutes: Minutes that stay free after it
cancellationHours: Hours before it until which it can be cancelled
attendees: The guests
attendee: The guest
seats: The seats, one for each unit
checkedIn: Seats that were checked in
checkedInAt: When the guest came
checkedInBy: Who let the guest in
alreadyCheckedIn: Whether the guest had come before
by: Who checks in, such as a door
totalTickets: Seats in all
buyerEmail: The email address of who bought
bio: What guests say of themselves
photoUrl: The guest's picture
socialProfileUrl: Where else the guest is found
listed: Whether other guests may find them
role: What they may do in the team
userId: Who wrote it, where that is known
settings: What the store has set
defaultLanguage: The store's own language
enabledLanguages: The languages that the shop has
enabledCurrencies: The currencies that the shop takes
contactEmail: Where customers reach the store
taxesIncluded: Whether prices are with tax
lowStockThreshold: From how many units on stock is low
cartTtlDays: Days after which a cart is forgotten
requirePhone: Whether buyers have to give a phone number
guestCheckout: Whether one can buy without an account
testMode: Whether the test method of payment is taken
outboundEnabled: Whether customers get mails
fromName: Who mails are from
fromAddress: The address that mails are from
domain: The domain
domainVerified: Whether DNS has proved that the domain is the store's
enabled: Whether it is on
tools: The parts of the shop that are on
bookings: Bookings
reviews: Reviews of products
blog: The blog
wishlist: Wishlists
checkout: How one buys
payments: How one pays
booking: How bookings go, where a slot says nothing else
welcomeOffer: A coupon for new subscribers
reviewRequest: Mails that ask for a review after an order
plan: The plan of the store
aiBuilt: Whether Stoa builds its shop
store: The store
key: The API key that asks
default: Whether it is the one that counts where nothing else is said
audience: Who gets it
recipientCount: How many get it
success: Whether it has begun
messageCount: How many messages there are
attachments: Files that were sent along
bluesky: Bluesky
discord: Discord
facebook: Facebook
github: GitHub
instagram: Instagram
linkedin: LinkedIn
mastodon: Mastodon
pinterest: Pinterest
reddit: Reddit
snapchat: Snapchat
telegram: Telegram
threads: Threads
tiktok: TikTok
tumblr: Tumblr
twitch: Twitch
vimeo: Vimeo
whatsapp: WhatsApp
x: X
youtube: YouTube
colors: The colours
background: The colour behind everything
surface: The colour of cards
muted: The colour of what is said beside
accent: The colour of buttons and links
onAccent: The colour of words on it
fonts: The typefaces
heading: The typeface of headings
label: What it is called
labelMode: Whether labels are made by themselves
fallbackTemplate: The parcel template where a shipment names none
connected: Whether its credentials were accepted
live: The account for live orders
test: The account for trying
login: The account's login
orgId: The organization's number
readyState: How far the build is
deploymentUrl: Its own address
pagePath: The page that the comment is about
progress: How far it is
done: How many are done
fillPct: Per cent that are done
excerpt: Its beginning, for lists
translations: In other languages
order: The order
shipping: How it is sent
ids: The things that it is about
delete: True: they are removed
delta: Units that came, or went when negative
rules: The rules, of which the first that fits counts
sources: Where the order came from
shippingIds: The shipping methods
workstationIds: The workstations
minimum: The least that is taken
maximum: The most that is taken
pattern: The pattern that the text has to match
received: True: it was taken
result: What came of it
`

const byName = new Map(
  TEXT.trim()
    .split('\n')
    .flatMap((line) => {
      const [names, text] = [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]
      return names.split(' ').map((name) => [name, text] as const)
    }),
)

/** All that is described: names, and names behind what holds them. */
export const DESCRIBED: ReadonlySet<string> = new Set(byName.keys())

/** A part of a document with all its fields described; `holder` is the schema, or the field, that it is in. */
export function describing(part: unknown, holder = ''): unknown {
  if (Array.isArray(part)) return part.map((one) => describing(one, holder))
  if (typeof part !== 'object' || part === null) return part
  const { properties, example, examples, ...rest } = part as Json
  const shown: Json = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, describing(value, holder)]))
  if (properties)
    shown.properties = Object.fromEntries(
      Object.entries(properties as Json).map(([name, field]) => [name, described(describing(field, name) as Json, holder, name)]),
    )
  if (example !== undefined) shown.example = example
  if (examples !== undefined) shown.examples = examples
  return rest.in === 'query' && typeof rest.name === 'string' ? described(shown, holder, rest.name) : shown
}

/** A field with what it is, where its schema does not say that itself. */
function described(shown: Json, holder: string, name: string): Json {
  const description = shown.description ?? byName.get(`${holder}.${name}`) ?? byName.get(name)
  return description === undefined ? shown : { ...shown, description }
}
