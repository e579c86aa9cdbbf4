/** The visible list of the store API's resources. */
import { endedKinds } from './job-kinds.ts'
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
import { blogCategoryRoutes } from './content/blog/categories.ts'
import { commentRoutes } from './content/blog/comments.ts'
import { feedRoutes } from './content/blog/feed.ts'
import { postCommentRoutes } from './content/blog/post-comments.ts'
import { postTranslationRoutes } from './content/blog/post-translations.ts'
import { postRoutes } from './content/blog/posts.ts'
import { contactMessageRoutes } from './content/messages/contact-messages.ts'
import { supportPages } from './content/messages/reply-pages.ts'
import { supportCaseRoutes } from './content/messages/support-cases.ts'
import { brandKitRoutes } from './content/pages/brand-kit.ts'
import { legalPageRoutes } from './content/pages/legal-pages.ts'
import { socialRoutes } from './content/pages/socials.ts'
import { formRoutes } from './content/visitors/forms.ts'
import { availabilityRoutes } from './content/wishes/availability-notifications.ts'
import { availabilityPages } from './content/wishes/pages.ts'
import { emailTemplateRoutes } from './content/mails/email-templates.ts'
import { wishlistRoutes } from './content/wishes/wishlists.ts'
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
import { reviewPages } from './orders/mails/review-pages.ts'
import { bookingRoutes } from './orders/bookings.ts'
import { orderRoutes } from './orders/orders.ts'
import { refundRoutes } from './orders/payments/refunds.ts'
import { shipmentRoutes } from './orders/shipments.ts'
import { workstationRoutes } from './orders/workstations/workstations.ts'
import { stripeWebhook } from './orders/payments/stripe-webhook.ts'
import { domainRoutes } from './builder/domain/domain.ts'
import { feedbackSessionRoutes } from './builder/feedback/sessions.ts'
import { publishRoutes } from './builder/publishing/publishes.ts'
import { apiKeyRoutes } from './store/api-keys.ts'
import { webhookRoutes } from './store/webhooks/webhooks.ts'
import { auditLogRoutes } from './store/audit-log.ts'
import { jobRoutes } from './store/jobs.ts'
import { me } from './store/me.ts'
import { usageRoutes } from './store/usage.ts'
import { settingsRoutes } from './store/settings.ts'
import { teamRoutes } from './store/team.ts'

/** Every resource of this release, by room. */
export const resources: readonly Resource[] = [
  me,
  usageRoutes,
  settingsRoutes,
  teamRoutes,
  apiKeyRoutes,
  auditLogRoutes,
  jobRoutes(endedKinds),
  webhookRoutes,
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
  reviewPages,
  postRoutes,
  feedRoutes,
  postTranslationRoutes,
  commentRoutes,
  postCommentRoutes,
  blogCategoryRoutes,
  contactMessageRoutes,
  supportPages,
  supportCaseRoutes,
  wishlistRoutes,
  availabilityRoutes,
  availabilityPages,
  emailTemplateRoutes,
  legalPageRoutes,
  socialRoutes,
  brandKitRoutes,
  formRoutes,
  eventRoutes,
  attendeeRoutes,
  calendarRoutes,
  ticketRoutes,
  ticketPdfRoutes,
  bookingSlotRoutes,
  bookingRoutes,
  feedbackSessionRoutes,
  publishRoutes,
  domainRoutes,
]
