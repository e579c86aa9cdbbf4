CREATE TABLE `addons` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`config` text NOT NULL,
	`live` text,
	`test` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "addons_name" CHECK("addons"."name" in ('carrier_a', 'carrier_b', 'carrier_c'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `addons_name_unique` ON `addons` (`name`);--> statement-breakpoint
ALTER TABLE `shipping_methods` ADD `addon_id` text REFERENCES addons(id);--> statement-breakpoint
ALTER TABLE `shipping_methods` ADD `addon_name` text;--> statement-breakpoint
ALTER TABLE `shipping_methods` ADD `addon_data` text;--> statement-breakpoint
CREATE INDEX `shipping_methods_addon` ON `shipping_methods` (`addon_id`);--> statement-breakpoint
ALTER TABLE `shipments` ADD `label` text;