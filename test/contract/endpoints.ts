/** The endpoints of documents 1, 2 and 3: method, path, and the scopes of which any one opens it; `*` any key, `-` no key. */
const TABLE = `
GET      /me                                          *
GET      /usage                                       settings:read
GET      /settings                                    settings:read
PATCH    /settings                                    settings:write
POST     /settings/email-domain/verify                settings:write
GET      /team                                        team:read
POST     /team/invitations                            team:write
GET      /team/invitations                            team:read
GET      /team/invitations/{id}                       team:read
DELETE   /team/invitations/{id}                       team:write
POST     /team/invitations/accept                     -
PATCH    /team/{id}                                   team:write
DELETE   /team/{id}                                   team:write
POST     /team/transfer-ownership                     team:write
GET      /api-keys                                    store:admin
POST     /api-keys                                    store:admin
DELETE   /api-keys/{id}                               store:admin
POST     /api-keys/{id}/rotate                        store:admin
GET      /audit-log                                   store:admin
GET      /jobs                                        store:admin
GET      /jobs/{id}                                   store:admin
DELETE   /jobs/{id}                                   store:admin
POST     /jobs/{id}/retry                             store:admin
GET      /socials                                     content:read
PUT      /socials                                     content:write
DELETE   /socials                                     content:write
GET      /brand-kit                                   content:read
PUT      /brand-kit                                   content:write
DELETE   /brand-kit                                   content:write
GET      /legal-pages/{kind}                          storefront:read
PUT      /legal-pages/{kind}                          content:write
GET      /email-templates/{kind}                      settings:read
PUT      /email-templates/{kind}                      settings:write
POST     /email-templates/{kind}/preview              settings:write
DELETE   /email-templates/{kind}                      settings:write
GET      /webhooks                                    store:admin
POST     /webhooks                                    store:admin
GET      /webhooks/{id}                               store:admin
PATCH    /webhooks/{id}                               store:admin
DELETE   /webhooks/{id}                               store:admin
GET      /webhooks/{id}/deliveries                    store:admin
POST     /webhooks/{id}/test                          store:admin
POST     /webhooks/{id}/rotate                        store:admin
GET      /webhooks/{id}/deliveries/{deliveryId}       store:admin
POST     /webhooks/{id}/deliveries/{deliveryId}/redeliver store:admin
GET      /openapi                                     -

GET      /products                                    storefront:read
POST     /products                                    catalog:write
GET      /products/{idOrSlug}                         storefront:read
PATCH    /products/{idOrSlug}                         catalog:write
DELETE   /products/{idOrSlug}                         catalog:write
GET      /products/{idOrSlug}/variants                storefront:read
POST     /products/{idOrSlug}/variants                catalog:write
PUT      /products/{idOrSlug}/translations/{locale}   catalog:write
GET      /variants                                    storefront:read
GET      /variants/{id}                               storefront:read
PATCH    /variants/{id}                               catalog:write
DELETE   /variants/{id}                               catalog:write
GET      /inventory                                   catalog:write
PATCH    /inventory/{variantId}                       catalog:write
POST     /inventory/bulk                              catalog:write
GET      /inventory/{variantId}/movements             catalog:write
GET      /categories                                  storefront:read
GET      /categories/{idOrSlug}                       storefront:read
POST     /categories                                  catalog:write
PATCH    /categories/{idOrSlug}                       catalog:write
DELETE   /categories/{idOrSlug}                       catalog:write
PUT      /categories/{idOrSlug}/translations/{locale} catalog:write
GET      /collections                                 storefront:read
GET      /collections/{idOrSlug}                      storefront:read
POST     /collections                                 catalog:write
PATCH    /collections/{idOrSlug}                      catalog:write
DELETE   /collections/{idOrSlug}                      catalog:write
PUT      /collections/{idOrSlug}/translations/{locale} catalog:write
GET      /brands                                      storefront:read
GET      /brands/{idOrSlug}                           storefront:read
POST     /brands                                      catalog:write
PATCH    /brands/{idOrSlug}                           catalog:write
DELETE   /brands/{idOrSlug}                           catalog:write
GET      /bundles                                     storefront:read
GET      /bundles/{id}                                storefront:read
POST     /bundles                                     catalog:write
PATCH    /bundles/{id}                                catalog:write
DELETE   /bundles/{id}                                catalog:write
GET      /search                                      storefront:read
GET      /tax-rates                                   settings:read
GET      /tax-rates/{id}                              settings:read
POST     /tax-rates                                   settings:write
PATCH    /tax-rates/{id}                              settings:write
DELETE   /tax-rates/{id}                              settings:write
GET      /media                                       content:read
GET      /media/{id}                                  content:read
POST     /media                                       content:write
PATCH    /media/{id}                                  content:write
DELETE   /media/{id}                                  content:write
POST     /imports                                     catalog:write
GET      /imports/{id}                                catalog:write
GET      /exports/products.csv                        catalog:write

GET      /shipping                                    storefront:read settings:read
GET      /shipping/{id}                               storefront:read settings:read
POST     /shipping                                    settings:write
PATCH    /shipping/{id}                               settings:write
DELETE   /shipping/{id}                               settings:write
GET      /pickup-locations                            storefront:read settings:read
GET      /pickup-locations/{id}                       storefront:read settings:read
POST     /pickup-locations                            settings:write
PATCH    /pickup-locations/{id}                       settings:write
DELETE   /pickup-locations/{id}                       settings:write
GET      /addons                                      settings:read
GET      /addons/carrier_a                            settings:read
GET      /addons/carrier_b                            settings:read
GET      /addons/carrier_c                            settings:read
PUT      /addons/carrier_a                            settings:write
PUT      /addons/carrier_b                            settings:write
PUT      /addons/carrier_c                            settings:write
DELETE   /addons/carrier_a                            settings:write
DELETE   /addons/carrier_b                            settings:write
DELETE   /addons/carrier_c                            settings:write
POST     /carts                                       cart:write
GET      /carts/{id}                                  cart:write
PATCH    /carts/{id}                                  cart:write
DELETE   /carts/{id}                                  cart:write
POST     /carts/{id}/items                            cart:write
PATCH    /carts/{id}/items/{itemId}                   cart:write
DELETE   /carts/{id}/items/{itemId}                   cart:write
POST     /carts/{id}/coupons                          cart:write
DELETE   /carts/{id}/coupons/{code}                   cart:write
PUT      /carts/{id}/loyalty                          cart:write
GET      /carts/{id}/shipping-options                 cart:write
POST     /carts/{id}/checkout                         cart:write

GET      /orders                                      orders:read
GET      /orders/{id}                                 orders:read order:lookup
POST     /orders                                      orders:write
PATCH    /orders/{id}                                 orders:write
POST     /orders/{id}/payments                        orders:write
POST     /orders/{id}/cancel                          orders:write
POST     /orders/{id}/refunds                         orders:write
GET      /orders/{id}/refunds                         orders:read
POST     /orders/{id}/shipments                       orders:write
GET      /orders/{id}/shipments                       orders:read
GET      /orders/{id}/shipments/{shipmentId}/label    orders:read
GET      /orders/{id}/invoice.pdf                     orders:read
POST     /payments/stripe/webhook                     -
GET      /customers                                   customers:read
GET      /customers/{id}                              customers:read
PATCH    /customers/{id}                              customers:write
POST     /customers/{id}/addresses                    customers:write
DELETE   /customers/{id}/addresses/{addressId}        customers:write
GET      /customers/{id}/orders                       customers:read
GET      /workstations                                orders:read
POST     /workstations                                orders:write
GET      /workstations/{id}                           orders:read
PATCH    /workstations/{id}                           orders:write
DELETE   /workstations/{id}                           orders:write
GET      /workstations/rules                          orders:read
PUT      /workstations/rules                          orders:write

GET      /coupons                                     marketing:read
POST     /coupons                                     marketing:write
GET      /coupons/{idOrCode}                          marketing:read
PATCH    /coupons/{idOrCode}                          marketing:write
DELETE   /coupons/{idOrCode}                          marketing:write
GET      /promotions                                  marketing:read
POST     /promotions                                  marketing:write
GET      /promotions/{id}                             marketing:read
PATCH    /promotions/{id}                             marketing:write
DELETE   /promotions/{id}                             marketing:write
GET      /loyalty/settings                            marketing:read
PUT      /loyalty/settings                            marketing:write
GET      /loyalty/tiers                               marketing:read
POST     /loyalty/tiers                               marketing:write
GET      /loyalty/tiers/{id}                          marketing:read
PATCH    /loyalty/tiers/{id}                          marketing:write
DELETE   /loyalty/tiers/{id}                          marketing:write
GET      /loyalty/campaigns                           marketing:read
POST     /loyalty/campaigns                           marketing:write
GET      /loyalty/campaigns/{id}                      marketing:read
PATCH    /loyalty/campaigns/{id}                      marketing:write
DELETE   /loyalty/campaigns/{id}                      marketing:write
GET      /loyalty/members                             marketing:read
GET      /loyalty/members/{customerId}                marketing:read
POST     /loyalty/members/{customerId}/adjustments    marketing:write
GET      /newsletters                                 marketing:read
POST     /newsletters                                 marketing:write
GET      /newsletters/{id}                            marketing:read
PATCH    /newsletters/{id}                            marketing:write
DELETE   /newsletters/{id}                            marketing:write
POST     /newsletters/{id}/send                       marketing:write
POST     /newsletters/{id}/retry                      marketing:write
POST     /newsletters/{id}/cancel                     marketing:write
GET      /newsletters/{id}/deliveries                 marketing:read
GET      /subscribers                                 marketing:read
POST     /subscribers                                 storefront:write marketing:write
GET      /subscribers/{id}                            marketing:read
DELETE   /subscribers/{id}                            marketing:write
GET      /subscribers/unsubscribe/{token}             -
POST     /subscribers/unsubscribe/{token}             -
GET      /subscribers/confirm/{token}                 -
POST     /subscribers/confirm/{token}                 -
POST     /contact-messages                            storefront:write
GET      /contact-messages                            messages:read
GET      /contact-messages/{id}                       messages:read
PATCH    /contact-messages/{id}                       messages:write
DELETE   /contact-messages/{id}                       messages:write
GET      /support-cases                               messages:read
POST     /support-cases                               messages:write
GET      /support-cases/{id}                          messages:read
PATCH    /support-cases/{id}                          messages:write
DELETE   /support-cases/{id}                          messages:write
GET      /support-cases/{id}/messages                 messages:read
POST     /support-cases/{id}/messages                 messages:write
GET      /support-cases/{id}/attachments/{attachmentId} messages:read
GET      /support-replies/{token}                 -
POST     /support-replies/{token}                 -
GET      /support-replies/{token}/attachments/{attachmentId} -
POST     /availability-notifications                  storefront:write
GET      /availability-notifications/stop/{token}     -
POST     /availability-notifications/stop/{token}     -
GET      /availability-notifications/confirm/{token}  -
POST     /availability-notifications/confirm/{token}  -
GET      /availability-notifications                  marketing:read
DELETE   /availability-notifications/{id}             marketing:write storefront:write
GET      /wishlists/{customerId}                      customers:write storefront:write
PUT      /wishlists/{customerId}/items/{variantId}    customers:write storefront:write
DELETE   /wishlists/{customerId}/items/{variantId}    customers:write storefront:write
GET      /subscription-plans                          marketing:read
POST     /subscription-plans                          marketing:write
GET      /subscription-plans/{id}                     marketing:read
PATCH    /subscription-plans/{id}                     marketing:write
DELETE   /subscription-plans/{id}                     marketing:write
GET      /subscription-cycles                         marketing:read
POST     /subscription-cycles                         marketing:write
GET      /subscription-cycles/{id}                    marketing:read
PATCH    /subscription-cycles/{id}                    marketing:write
DELETE   /subscription-cycles/{id}                    marketing:write
GET      /analytics/overview                          analytics:read
GET      /analytics/sales                             analytics:read

GET      /posts                                       storefront:read
POST     /posts                                       content:write
GET      /posts/{idOrSlug}                            storefront:read
PATCH    /posts/{idOrSlug}                            content:write
DELETE   /posts/{idOrSlug}                            content:write
PUT      /posts/{idOrSlug}/translations/{locale}      catalog:write
GET      /posts/{idOrSlug}/comments                   storefront:read
POST     /posts/{idOrSlug}/comments                   storefront:write
GET      /post-comments                               content:read
GET      /post-comments/{id}                          content:read
PATCH    /post-comments/{id}                          content:write
DELETE   /post-comments/{id}                          content:write
GET      /blog-categories                             storefront:read
GET      /blog-categories/{idOrSlug}                  storefront:read
POST     /blog-categories                             content:write
PATCH    /blog-categories/{idOrSlug}                  content:write
DELETE   /blog-categories/{idOrSlug}                  content:write
GET      /reviews                                     content:read
GET      /reviews/{id}                                content:read
PATCH    /reviews/{id}                                content:write
DELETE   /reviews/{id}                                content:write
POST     /reviews/bulk                                content:write
GET      /reviews/write/{token}                       -
POST     /reviews/write/{token}                       -
GET      /reviews/stop/{token}                        -
POST     /reviews/stop/{token}                        -
POST     /post-comments/bulk                          content:write
GET      /posts/feed.xml                              storefront:read
GET      /forms/token                                 storefront:read storefront:write
GET      /products/{idOrSlug}/reviews                 storefront:read
POST     /products/{idOrSlug}/reviews                 storefront:write
GET      /photofeed/accounts/{handle}/images          storefront:read

GET      /events                                      storefront:read events:read
GET      /events/{idOrSlug}                           storefront:read events:read
POST     /events                                      events:write
PATCH    /events/{idOrSlug}                           events:write
GET      /events/{idOrSlug}/attendees                 events:read
GET      /events/{idOrSlug}/checkins                  events:read
GET      /events/{idOrSlug}/directory                 storefront:read events:read
GET      /tickets/{code}                              storefront:read events:read
PATCH    /tickets/{code}                              storefront:write events:write
GET      /tickets/attendee/{token}                    storefront:read events:read
PATCH    /tickets/attendee/{token}                    storefront:write events:write
POST     /tickets/attendee/{token}/photo              storefront:write events:write
POST     /tickets/attendee/{token}/checkin            storefront:write events:write
DELETE   /tickets/attendee/{token}/checkin            events:write
GET      /tickets/attendee/{token}/ticket.pdf         -
POST     /orders/{id}/tickets/send                    orders:write
GET      /events/{idOrSlug}/calendar.ics              storefront:read events:read
GET      /booking-slots                               storefront:read
GET      /booking-slots/{id}                          storefront:read
POST     /booking-slots                               catalog:write
PATCH    /booking-slots/{id}                          catalog:write
DELETE   /booking-slots/{id}                          catalog:write
GET      /booking-slots/{id}/bookings                 orders:read
POST     /booking-slots/repeat                        catalog:write
POST     /booking-slots/{id}/bookings/{orderId}/confirm orders:write
POST     /booking-slots/{id}/bookings/{orderId}/decline orders:write
POST     /bookings/cancel                             storefront:write orders:write

GET      /feedback-sessions                           store:admin
POST     /feedback-sessions                           store:admin
GET      /feedback-sessions/{id}                      store:admin
GET      /feedback-sessions/{id}/comments             store:admin
POST     /feedback-sessions/{id}/cancel               store:admin
POST     /feedback-sessions/{id}/finalize             store:admin
POST     /feedback-sessions/{id}/process              store:admin
GET      /domain                                      store:admin
POST     /domain                                      store:admin
POST     /domain/verify                               store:admin
DELETE   /domain                                      store:admin
POST     /publish                                     store:admin
GET      /publish/{publishId}                         store:admin
`

interface Documented {
  method: string
  path: string
  scopes: string[]
  access: 'scope' | 'any key' | 'public'
}

/** Every documented endpoint. */
export const DOCUMENTED: readonly Documented[] = TABLE.trim()
  .split(/\n+/)
  .map((line) => {
    const [method, path, ...scopes] = line.split(/\s+/) as [string, string, ...string[]]
    return {
      method,
      path,
      scopes: scopes.filter((scope) => scope.includes(':')),
      access: scopes[0] === '-' ? 'public' : scopes[0] === '*' ? 'any key' : 'scope',
    }
  })
