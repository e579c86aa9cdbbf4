CREATE TABLE `brands` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`description` text,
	`logo` text,
	`active` integer NOT NULL,
	`seo` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `brands_slug_unique` ON `brands` (`slug`);--> statement-breakpoint
CREATE TABLE `bundle_variants` (
	`bundle_id` text NOT NULL,
	`variant_id` text NOT NULL,
	`quantity` integer NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`bundle_id`, `variant_id`),
	FOREIGN KEY (`bundle_id`) REFERENCES `bundles`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`variant_id`) REFERENCES `variants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "bundle_variants_quantity" CHECK("bundle_variants"."quantity" >= 1)
) STRICT;
--> statement-breakpoint
CREATE INDEX `bundle_variants_variant` ON `bundle_variants` (`variant_id`);--> statement-breakpoint
CREATE TABLE `bundles` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`summary` text,
	`content` text,
	`images` text NOT NULL,
	`status` text NOT NULL,
	`discount_percentage` real NOT NULL,
	`seo` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "bundles_status" CHECK("bundles"."status" in ('draft', 'published', 'hidden')),
	CONSTRAINT "bundles_discount" CHECK("bundles"."discount_percentage" between 0 and 100)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `bundles_slug_unique` ON `bundles` (`slug`);--> statement-breakpoint
CREATE TABLE `categories` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`description` text,
	`long_description` text,
	`image` text,
	`parent_id` text,
	`active` integer NOT NULL,
	`seo` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`parent_id`) REFERENCES `categories`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `categories_slug_unique` ON `categories` (`slug`);--> statement-breakpoint
CREATE INDEX `categories_parent` ON `categories` (`parent_id`);--> statement-breakpoint
CREATE TABLE `collection_products` (
	`collection_id` text NOT NULL,
	`product_id` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`collection_id`, `product_id`),
	FOREIGN KEY (`collection_id`) REFERENCES `collections`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `collection_products_product` ON `collection_products` (`product_id`);--> statement-breakpoint
CREATE TABLE `collections` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`description` text,
	`long_description` text,
	`image` text,
	`kind` text NOT NULL,
	`active` integer NOT NULL,
	`seo` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "collections_kind" CHECK("collections"."kind" in ('products', 'event-group'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `collections_slug_unique` ON `collections` (`slug`);--> statement-breakpoint
CREATE TABLE `inventory_movements` (
	`id` text PRIMARY KEY NOT NULL,
	`variant_id` text NOT NULL,
	`delta` integer NOT NULL,
	`reason` text,
	`order_id` text,
	`key_id` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`variant_id`) REFERENCES `variants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `inventory_movements_variant` ON `inventory_movements` (`variant_id`,`id`);--> statement-breakpoint
CREATE TABLE `product_prices` (
	`product_id` text NOT NULL,
	`currency` text NOT NULL,
	`price` integer NOT NULL,
	PRIMARY KEY(`product_id`, `currency`),
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `product_prices_price` ON `product_prices` (`currency`,`price`,`product_id`);--> statement-breakpoint
CREATE TABLE `product_tags` (
	`tag` text NOT NULL,
	`product_id` text NOT NULL,
	PRIMARY KEY(`tag`, `product_id`),
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `product_tags_product` ON `product_tags` (`product_id`);--> statement-breakpoint
CREATE TABLE `products` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`summary` text,
	`content` text,
	`badge_content` text,
	`status` text NOT NULL,
	`images` text NOT NULL,
	`brand_id` text,
	`category_id` text,
	`tags` text NOT NULL,
	`seo` text NOT NULL,
	`is_event` integer NOT NULL,
	`rating_sum` integer NOT NULL,
	`rating_count` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`brand_id`) REFERENCES `brands`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`category_id`) REFERENCES `categories`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "products_status" CHECK("products"."status" in ('draft', 'published', 'hidden')),
	CONSTRAINT "products_rating" CHECK("products"."rating_count" >= 0 and "products"."rating_sum" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `products_slug_unique` ON `products` (`slug`);--> statement-breakpoint
CREATE INDEX `products_status` ON `products` (`is_event`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `products_newest` ON `products` (`is_event`,`id`);--> statement-breakpoint
CREATE INDEX `products_name` ON `products` (`name`,`id`);--> statement-breakpoint
CREATE INDEX `products_brand` ON `products` (`brand_id`,`is_event`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `products_category` ON `products` (`category_id`,`is_event`,`status`,`id`);--> statement-breakpoint
CREATE TABLE `tax_rates` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`rate` integer NOT NULL,
	`countries` text NOT NULL,
	`default` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "tax_rates_rate" CHECK("tax_rates"."rate" between 0 and 1000000)
) STRICT;
--> statement-breakpoint
CREATE TABLE `translations` (
	`entity` text NOT NULL,
	`entity_id` text NOT NULL,
	`locale` text NOT NULL,
	`slug` text,
	`fields` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`entity`, `entity_id`, `locale`)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `translations_slug` ON `translations` (`entity`,`locale`,`slug`);--> statement-breakpoint
CREATE TABLE `variants` (
	`id` text PRIMARY KEY NOT NULL,
	`product_id` text NOT NULL,
	`name` text NOT NULL,
	`sku` text,
	`barcode` text,
	`price` integer NOT NULL,
	`compare_at_price` integer,
	`prices` text NOT NULL,
	`options` text NOT NULL,
	`tracked` integer NOT NULL,
	`quantity` integer NOT NULL,
	`reserved` integer NOT NULL,
	`backorder` integer NOT NULL,
	`weight_grams` integer,
	`dimensions_mm` text,
	`shippable` integer NOT NULL,
	`bookable` integer NOT NULL,
	`tax_rate_id` text,
	`position` integer NOT NULL,
	`active` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`tax_rate_id`) REFERENCES `tax_rates`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "variants_price" CHECK("variants"."price" >= 0),
	CONSTRAINT "variants_quantity" CHECK("variants"."quantity" >= 0),
	CONSTRAINT "variants_reserved" CHECK("variants"."reserved" >= 0),
	CONSTRAINT "variants_available" CHECK("variants"."tracked" = 0 or "variants"."backorder" = 1 or "variants"."reserved" <= "variants"."quantity")
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `variants_sku_unique` ON `variants` (`sku`);--> statement-breakpoint
CREATE INDEX `variants_product` ON `variants` (`product_id`,`position`,`id`);--> statement-breakpoint
CREATE INDEX `variants_barcode` ON `variants` (`barcode`);--> statement-breakpoint
CREATE INDEX `variants_tax_rate` ON `variants` (`tax_rate_id`);--> statement-breakpoint
CREATE TABLE `carts` (
	`id` text PRIMARY KEY NOT NULL,
	`currency` text NOT NULL,
	`email` text,
	`items` text NOT NULL,
	`coupon_ids` text NOT NULL,
	`loyalty_points` integer NOT NULL,
	`shipping_method_id` text,
	`shipping_address` text,
	`billing_address` text,
	`pickup_point` text,
	`pickup_location_id` text,
	`note` text,
	`order_id` text,
	`expires_at` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `carts_expires` ON `carts` (`expires_at`);--> statement-breakpoint
CREATE TABLE `shipping_methods` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`type` text NOT NULL,
	`price` integer NOT NULL,
	`free_shipping_threshold` integer,
	`min_shipping_time` integer,
	`max_shipping_time` integer,
	`countries` text NOT NULL,
	`tax_rate_id` text,
	`position` integer NOT NULL,
	`currency_prices` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`tax_rate_id`) REFERENCES `tax_rates`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "shipping_methods_type" CHECK("shipping_methods"."type" in ('courier', 'parcel', 'pickup_point', 'in_store')),
	CONSTRAINT "shipping_methods_price" CHECK("shipping_methods"."price" >= 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `shipping_methods_position` ON `shipping_methods` (`position`,`id`);--> statement-breakpoint
CREATE INDEX `shipping_methods_tax_rate` ON `shipping_methods` (`tax_rate_id`);--> statement-breakpoint
CREATE TABLE `coupon_redemptions` (
	`coupon_id` text NOT NULL,
	`order_id` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`coupon_id`, `order_id`),
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `coupon_redemptions_order` ON `coupon_redemptions` (`order_id`);--> statement-breakpoint
CREATE TABLE `coupons` (
	`id` text PRIMARY KEY NOT NULL,
	`code` text NOT NULL,
	`type` text NOT NULL,
	`percentage` real,
	`amount` integer,
	`times_redeemed` integer NOT NULL,
	`max_uses` integer,
	`start_date` text,
	`end_date` text,
	`min_product_count` integer,
	`max_product_count` integer,
	`product_ids` text NOT NULL,
	`collection_ids` text NOT NULL,
	`category_ids` text NOT NULL,
	`brand_ids` text NOT NULL,
	`currency_amounts` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "coupons_kind" CHECK(("coupons"."type" = 'percentage' and "coupons"."percentage" between 0 and 100 and "coupons"."amount" is null) or ("coupons"."type" = 'fixed' and "coupons"."amount" > 0 and "coupons"."percentage" is null)),
	CONSTRAINT "coupons_uses" CHECK("coupons"."times_redeemed" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `coupons_code_unique` ON `coupons` (`code`);--> statement-breakpoint
CREATE TABLE `promotions` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`percentage` real,
	`amount` integer,
	`currency_amounts` text NOT NULL,
	`buy_quantity` integer,
	`get_quantity` integer,
	`get_discount_percentage` real,
	`tiers` text NOT NULL,
	`product_ids` text NOT NULL,
	`collection_ids` text NOT NULL,
	`category_ids` text NOT NULL,
	`brand_ids` text NOT NULL,
	`starts_at` text,
	`ends_at` text,
	`active` integer NOT NULL,
	`priority` integer NOT NULL,
	`stackable` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "promotions_type" CHECK("promotions"."type" in ('percentage', 'fixed', 'buy_x_get_y', 'volume', 'free_shipping'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `promotions_active` ON `promotions` (`active`,`priority`);--> statement-breakpoint
CREATE TABLE `customer_addresses` (
	`id` text PRIMARY KEY NOT NULL,
	`customer_id` text NOT NULL,
	`line1` text NOT NULL,
	`line2` text,
	`city` text NOT NULL,
	`state` text,
	`postal_code` text NOT NULL,
	`country` text,
	`name` text,
	`company` text,
	`phone` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `customer_addresses_customer` ON `customer_addresses` (`customer_id`,`id`);--> statement-breakpoint
CREATE TABLE `customers` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`name` text,
	`phone` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `customers_email_unique` ON `customers` (`email`);--> statement-breakpoint
CREATE TABLE `order_lines` (
	`id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`position` integer NOT NULL,
	`variant_id` text,
	`product_id` text,
	`bundle_id` text,
	`name` text NOT NULL,
	`sku` text,
	`quantity` integer NOT NULL,
	`unit_price_cents` integer NOT NULL,
	`discount_cents` integer NOT NULL,
	`tax_cents` integer NOT NULL,
	`total_cents` integer NOT NULL,
	`shippable` integer NOT NULL,
	`open_quantity` integer NOT NULL,
	`held` integer NOT NULL,
	`shipped_quantity` integer NOT NULL,
	`refunded_quantity` integer NOT NULL,
	`booking_slot_id` text,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "order_lines_quantity" CHECK("order_lines"."quantity" >= 1),
	CONSTRAINT "order_lines_units" CHECK("order_lines"."open_quantity" >= 0 and "order_lines"."open_quantity" + "order_lines"."shipped_quantity" <= "order_lines"."quantity" and "order_lines"."shipped_quantity" between 0 and "order_lines"."quantity" and "order_lines"."refunded_quantity" between 0 and "order_lines"."quantity"),
	CONSTRAINT "order_lines_total" CHECK("order_lines"."total_cents" = "order_lines"."quantity" * "order_lines"."unit_price_cents" - "order_lines"."discount_cents" and "order_lines"."total_cents" >= 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_lines_order` ON `order_lines` (`order_id`,`position`);--> statement-breakpoint
CREATE INDEX `order_lines_variant` ON `order_lines` (`variant_id`);--> statement-breakpoint
CREATE INDEX `order_lines_product` ON `order_lines` (`product_id`);--> statement-breakpoint
CREATE TABLE `orders` (
	`id` text PRIMARY KEY NOT NULL,
	`lookup` integer NOT NULL,
	`source` text NOT NULL,
	`status` text NOT NULL,
	`payment_status` text NOT NULL,
	`customer_id` text NOT NULL,
	`email` text NOT NULL,
	`name` text,
	`phone` text,
	`currency` text NOT NULL,
	`taxes_included` integer NOT NULL,
	`subtotal_cents` integer NOT NULL,
	`discount_cents` integer NOT NULL,
	`shipping_cents` integer NOT NULL,
	`tax_cents` integer NOT NULL,
	`total_cents` integer NOT NULL,
	`paid_cents` integer NOT NULL,
	`refunded_cents` integer NOT NULL,
	`shipping_address` text,
	`billing_address` text,
	`shipping_method_id` text,
	`shipping_name` text,
	`shipping_tax_cents` integer NOT NULL,
	`pickup_point` text,
	`pickup_location_id` text,
	`coupons` text NOT NULL,
	`points_earned` integer NOT NULL,
	`points_redeemed` integer NOT NULL,
	`access_code` text NOT NULL,
	`workstation_id` text,
	`packed_at` text,
	`paid_at` text,
	`note` text,
	`cancel_reason` text,
	`cart_id` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "orders_source" CHECK("orders"."source" in ('storefront', 'integration_a', 'marketplace_a', 'locker_marketplace', 'wholesale', 'admin', 'counter')),
	CONSTRAINT "orders_status" CHECK("orders"."status" in ('pending', 'paid', 'processing', 'shipped', 'delivered', 'completed', 'cancelled', 'refunded')),
	CONSTRAINT "orders_payment_status" CHECK("orders"."payment_status" in ('unpaid', 'paid', 'partially_refunded', 'refunded')),
	CONSTRAINT "orders_total" CHECK("orders"."total_cents" >= 0),
	CONSTRAINT "orders_refunded" CHECK("orders"."refunded_cents" >= 0 and "orders"."refunded_cents" <= "orders"."paid_cents")
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `orders_lookup_unique` ON `orders` (`lookup`);--> statement-breakpoint
CREATE UNIQUE INDEX `orders_accessCode_unique` ON `orders` (`access_code`);--> statement-breakpoint
CREATE UNIQUE INDEX `orders_cartId_unique` ON `orders` (`cart_id`);--> statement-breakpoint
CREATE INDEX `orders_created` ON `orders` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_customer` ON `orders` (`customer_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_status` ON `orders` (`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_payment_status` ON `orders` (`payment_status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_workstation` ON `orders` (`workstation_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `payments` (
	`id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`method` text NOT NULL,
	`status` text NOT NULL,
	`amount_cents` integer NOT NULL,
	`currency` text NOT NULL,
	`reference` text,
	`provider_id` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "payments_amount" CHECK("payments"."amount_cents" >= 0),
	CONSTRAINT "payments_status" CHECK("payments"."status" in ('pending', 'succeeded', 'failed'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `payments_providerId_unique` ON `payments` (`provider_id`);--> statement-breakpoint
CREATE INDEX `payments_order` ON `payments` (`order_id`,`id`);--> statement-breakpoint
CREATE TABLE `provider_events` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `refunds` (
	`id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`status` text NOT NULL,
	`amount_cents` integer NOT NULL,
	`currency` text NOT NULL,
	`reason` text,
	`restock` integer NOT NULL,
	`lines` text NOT NULL,
	`provider_payment_id` text,
	`provider_id` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "refunds_amount" CHECK("refunds"."amount_cents" > 0),
	CONSTRAINT "refunds_status" CHECK("refunds"."status" in ('pending', 'succeeded', 'failed'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `refunds_providerId_unique` ON `refunds` (`provider_id`);--> statement-breakpoint
CREATE INDEX `refunds_order` ON `refunds` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `refunds_pending` ON `refunds` (`status`,`updated_at`) WHERE "refunds"."status" = 'pending';--> statement-breakpoint
CREATE TABLE `shipments` (
	`id` text PRIMARY KEY NOT NULL,
	`order_id` text NOT NULL,
	`lines` text NOT NULL,
	`carrier` text,
	`tracking_number` text,
	`tracking_url` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `shipments_order` ON `shipments` (`order_id`,`id`);--> statement-breakpoint
CREATE TABLE `search_documents` (
	`id` integer PRIMARY KEY NOT NULL,
	`entity` text NOT NULL,
	`entity_id` text NOT NULL,
	`locale` text NOT NULL,
	`name` text NOT NULL,
	`body` text NOT NULL,
	`folded` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `search_documents_entity` ON `search_documents` (`entity`,`entity_id`,`locale`);--> statement-breakpoint
CREATE TABLE `audit_log` (
	`id` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`key_name` text NOT NULL,
	`method` text NOT NULL,
	`path` text NOT NULL,
	`resource` text NOT NULL,
	`request_id` text NOT NULL,
	`created_at` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `audit_log_created` ON `audit_log` (`created_at`);--> statement-breakpoint
CREATE TABLE `counters` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`key_id` text NOT NULL,
	`path` text NOT NULL,
	`idempotency_key` text NOT NULL,
	`body_hash` text NOT NULL,
	`status` integer NOT NULL,
	`body` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`key_id`, `path`, `idempotency_key`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `idempotency_keys_created` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `outbox` (
	`id` text PRIMARY KEY NOT NULL,
	`event` text NOT NULL,
	`payload` text NOT NULL,
	`created_at` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `outbox_created` ON `outbox` (`created_at`);--> statement-breakpoint
CREATE TABLE `settings` (
	`id` integer PRIMARY KEY NOT NULL,
	`store_id` text NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`currency` text NOT NULL,
	`locale` text NOT NULL,
	`contact_email` text,
	`address` text NOT NULL,
	`default_language` text NOT NULL,
	`enabled_languages` text NOT NULL,
	`enabled_currencies` text NOT NULL,
	`taxes_included` integer NOT NULL,
	`tools` text NOT NULL,
	`checkout` text NOT NULL,
	`payments` text NOT NULL,
	`email` text NOT NULL,
	`email_domain_verified` integer NOT NULL,
	`email_domain_token` text NOT NULL,
	`booking` text NOT NULL,
	`welcome_offer` text NOT NULL,
	`low_stock_threshold` integer NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "settings_one_row" CHECK("settings"."id" = 1),
	CONSTRAINT "settings_low_stock" CHECK("settings"."low_stock_threshold" >= 0)
) STRICT;
--> statement-breakpoint
CREATE TABLE `team_invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`role` text NOT NULL,
	`token_hash` text NOT NULL,
	`created_at` text NOT NULL,
	`expires_at` text NOT NULL,
	CONSTRAINT "team_invitations_role" CHECK("team_invitations"."role" in ('owner', 'admin', 'staff'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `team_invitations_email_unique` ON `team_invitations` (`email`);--> statement-breakpoint
CREATE UNIQUE INDEX `team_invitations_tokenHash_unique` ON `team_invitations` (`token_hash`);--> statement-breakpoint
CREATE TABLE `team_members` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`name` text,
	`role` text NOT NULL,
	`created_at` text NOT NULL,
	CONSTRAINT "team_members_role" CHECK("team_members"."role" in ('owner', 'admin', 'staff'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `team_members_email_unique` ON `team_members` (`email`);