ALTER TABLE `orders` ADD `awaiting` text;--> statement-breakpoint
ALTER TABLE `orders` ADD `awaiting_since` text;--> statement-breakpoint
CREATE INDEX `orders_awaiting` ON `orders` (`awaiting`,`awaiting_since`,`id`) WHERE "orders"."status" = 'pending' and "orders"."awaiting" is not null;--> statement-breakpoint
UPDATE `orders` SET `awaiting_since` = `created_at`, `awaiting` = CASE WHEN EXISTS (SELECT 1 FROM `payments` WHERE `payments`.`order_id` = `orders`.`id` AND `payments`.`method` = 'stripe' AND `payments`.`provider_id` IS NOT NULL) THEN 'stripe' ELSE 'hand' END WHERE `status` = 'pending' AND `cart_id` IS NOT NULL;--> statement-breakpoint
UPDATE `settings` SET `checkout` = json_set(`checkout`, '$.unpaidHours', 168) WHERE json_valid(`checkout`);--> statement-breakpoint
INSERT INTO `jobs` (`id`, `kind`, `subject`, `due_at`, `attempts`, `asked`, `created_at`, `updated_at`) SELECT 'unpaid-orders', 'orders.unpaid', 'all', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 0, 1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE EXISTS (SELECT 1 FROM `orders` WHERE `status` = 'pending' AND `awaiting` IS NOT NULL);
