CREATE TABLE `loyalty_campaigns` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`earn_multiplier` real NOT NULL,
	`scope` text NOT NULL,
	`scope_ids` text NOT NULL,
	`starts_at` text,
	`ends_at` text,
	`active` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "loyalty_campaigns_scope" CHECK("loyalty_campaigns"."scope" in ('ALL_PRODUCTS', 'PRODUCT_IDS', 'CATEGORY_IDS', 'COLLECTION_IDS')),
	CONSTRAINT "loyalty_campaigns_multiplier" CHECK("loyalty_campaigns"."earn_multiplier" > 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `loyalty_campaigns_active` ON `loyalty_campaigns` (`active`,`id`);--> statement-breakpoint
CREATE TABLE `loyalty_settings` (
	`id` integer PRIMARY KEY NOT NULL,
	`points_per_unit` real NOT NULL,
	`redemption_rate` real NOT NULL,
	`min_redemption` real NOT NULL,
	`max_redeem_percent` real NOT NULL,
	`points_expiry_months` integer,
	`updated_at` text NOT NULL,
	CONSTRAINT "loyalty_settings_one_row" CHECK("loyalty_settings"."id" = 1)
) STRICT;
--> statement-breakpoint
CREATE TABLE `loyalty_tiers` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`threshold` integer NOT NULL,
	`multiplier` real NOT NULL,
	`color` text NOT NULL,
	`sort_order` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "loyalty_tiers_values" CHECK("loyalty_tiers"."threshold" >= 0 and "loyalty_tiers"."multiplier" > 0 and "loyalty_tiers"."sort_order" >= 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `loyalty_tiers_order` ON `loyalty_tiers` (`sort_order`,`threshold`,`id`);