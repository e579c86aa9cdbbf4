CREATE TABLE `__new_refunds` (
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
	CONSTRAINT "refunds_amount" CHECK("__new_refunds"."amount_cents" >= 0),
	CONSTRAINT "refunds_status" CHECK("__new_refunds"."status" in ('pending', 'succeeded', 'failed'))
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_refunds`("id", "order_id", "status", "amount_cents", "currency", "reason", "restock", "lines", "provider_payment_id", "provider_id", "created_at", "updated_at") SELECT "id", "order_id", "status", "amount_cents", "currency", "reason", "restock", "lines", "provider_payment_id", "provider_id", "created_at", "updated_at" FROM `refunds`;--> statement-breakpoint
DROP TABLE `refunds`;--> statement-breakpoint
ALTER TABLE `__new_refunds` RENAME TO `refunds`;--> statement-breakpoint
CREATE UNIQUE INDEX `refunds_providerId_unique` ON `refunds` (`provider_id`);--> statement-breakpoint
CREATE INDEX `refunds_order` ON `refunds` (`order_id`,`id`);--> statement-breakpoint
CREATE INDEX `refunds_pending` ON `refunds` (`status`,`updated_at`) WHERE "refunds"."status" = 'pending';--> statement-breakpoint
DROP INDEX `products_name`;--> statement-breakpoint
ALTER TABLE `products` ADD `folded_name` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `products_name` ON `products` (`folded_name`,`id`);--> statement-breakpoint
ALTER TABLE `carts` ADD `placed` text;--> statement-breakpoint
ALTER TABLE `shipping_methods` ADD `folded` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `coupons` ADD `folded` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `orders` ADD `folded_name` text DEFAULT '' NOT NULL;--> statement-breakpoint
-- ASCII alone: SQLite folds no other letters. What else there is in a name is folded when it is next changed.
UPDATE `products` SET `folded_name` = lower(`name`);--> statement-breakpoint
UPDATE `orders` SET `folded_name` = lower(coalesce(`name`, ''));--> statement-breakpoint
UPDATE `shipping_methods` SET `folded` = lower(`name` || char(10) || coalesce(`description`, ''));--> statement-breakpoint
UPDATE `coupons` SET `folded` = lower(`code`);
