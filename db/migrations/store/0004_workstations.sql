CREATE TABLE `workstation_rules` (
	`position` integer PRIMARY KEY NOT NULL,
	`sources` text NOT NULL,
	`shipping_ids` text NOT NULL,
	`workstation_ids` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `workstations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`active` integer NOT NULL,
	`position` integer NOT NULL,
	`member_ids` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "workstations_type" CHECK("workstations"."type" in ('packing', 'both', 'picking'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `workstations_name_unique` ON `workstations` (`name`);--> statement-breakpoint
ALTER TABLE `orders` ADD `workstation_by` text;--> statement-breakpoint
CREATE INDEX `orders_waiting` ON `orders` (`workstation_id`,`workstation_by`,`created_at`,`id`) WHERE "orders"."packed_at" is null and "orders"."status" in ('paid', 'processing');