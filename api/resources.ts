/** The visible list of the store API's resources. */
import type { Resource } from './http/route.ts'
import { brandRoutes } from './catalog/groups/brands.ts'
import { bundleRoutes } from './catalog/bundles.ts'
import { categoryRoutes } from './catalog/groups/categories.ts'
import { collectionRoutes } from './catalog/groups/collections.ts'
import { inventory } from './catalog/inventory.ts'
import { productRoutes } from './catalog/products.ts'
import { search } from './catalog/search/search.ts'
import { taxRateRoutes } from './catalog/tax-rates.ts'
import { translationRoutes } from './catalog/translations.ts'
import { productVariants, variantRoutes } from './catalog/variants.ts'
import { cartCouponRoutes } from './checkout/cart-coupons.ts'
import { cartItemRoutes } from './checkout/cart-items.ts'
import { cartLoyaltyRoutes } from './checkout/cart-loyalty.ts'
import { cartRoutes } from './checkout/carts.ts'
import { checkoutRoutes } from './checkout/checkout.ts'
import { pickupLocationRoutes } from './checkout/pickup-locations.ts'
import { shippingOptionRoutes } from './checkout/shipping-options.ts'
import { shippingRoutes } from './checkout/shipping.ts'
import { attendeeRoutes } from './events/attendees.ts'
import { bookingSlotRoutes } from './events/booking-slots.ts'
import { eventRoutes } from './events/events.ts'
import { calendarRoutes, ticketPdfRoutes } from './events/ticket-documents.ts'
import { ticketRoutes } from './events/tickets.ts'
import { mediaRoutes } from './content/media/media.ts'
import { productReviewRoutes } from './content/reviews/product-reviews.ts'
import { reviewRoutes } from './content/reviews/reviews.ts'
import { photofeedRoutes } from './content/media/photofeed.ts'
import { couponRoutes } from './marketing/discounts/coupons.ts'
import { loyaltyCampaignRoutes } from './marketing/loyalty/campaigns.ts'
import { loyaltyMemberRoutes } from './marketing/loyalty/members.ts'
import { loyaltySettingsRoutes } from './marketing/loyalty/settings.ts'
import { loyaltyTierRoutes } from './marketing/loyalty/tiers.ts'
import { newsletterSendingRoutes } from './marketing/newsletters/sending.ts'
import { newsletterRoutes } from './marketing/newsletters/newsletters.ts'
import { subscriberPages } from './marketing/subscribers/pages.ts'
import { subscriberRoutes } from './marketing/subscribers/subscribers.ts'
import { promotionRoutes } from './marketing/discounts/promotions.ts'
import { addonRoutes } from './carriers/addons.ts'
import { customerRoutes } from './orders/customers.ts'
import { bookingRoutes } from './orders/bookings.ts'
import { orderRoutes } from './orders/orders.ts'
import { refundRoutes } from './orders/payments/refunds.ts'
import { shipmentRoutes } from './orders/shipments.ts'
import { workstationRoutes } from './orders/workstations/workstations.ts'
import { stripeWebhook } from './orders/payments/stripe-webhook.ts'
import { apiKeyRoutes } from './store/api-keys.ts'
import { auditLogRoutes } from './store/audit-log.ts'
import { me } from './store/me.ts'
import { settingsRoutes } from './store/settings.ts'
import { teamRoutes } from './store/team.ts'

/** Every resource of this release, by room. */
export const resources: readonly Resource[] = [
  me,
  settingsRoutes,
  teamRoutes,
  apiKeyRoutes,
  auditLogRoutes,
  productRoutes,
  productVariants,
  variantRoutes,
  inventory,
  categoryRoutes,
  collectionRoutes,
  brandRoutes,
  bundleRoutes,
  search,
  taxRateRoutes,
  ...translationRoutes,
  shippingRoutes,
  pickupLocationRoutes,
  cartRoutes,
  cartItemRoutes,
  cartCouponRoutes,
  cartLoyaltyRoutes,
  shippingOptionRoutes,
  checkoutRoutes,
  orderRoutes,
  refundRoutes,
  shipmentRoutes,
  workstationRoutes,
  addonRoutes,
  customerRoutes,
  stripeWebhook,
  couponRoutes,
  promotionRoutes,
  loyaltySettingsRoutes,
  loyaltyTierRoutes,
  loyaltyCampaignRoutes,
  loyaltyMemberRoutes,
  subscriberPages,
  subscriberRoutes,
  newsletterRoutes,
  newsletterSendingRoutes,
  mediaRoutes,
  photofeedRoutes,
  reviewRoutes,
  productReviewRoutes,
  eventRoutes,
  attendeeRoutes,
  calendarRoutes,
  ticketRoutes,
  ticketPdfRoutes,
  bookingSlotRoutes,
  bookingRoutes,
]
