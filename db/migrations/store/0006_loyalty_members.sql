CREATE TABLE `loyalty_ledger` (
	`id` text PRIMARY KEY NOT NULL,
	`customer_id` text NOT NULL,
	`points` integer NOT NULL,
	`reason` text NOT NULL,
	`order_id` text,
	`expires_at` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`customer_id`) REFERENCES `loyalty_members`(`customer_id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "loyalty_ledger_points" CHECK("loyalty_ledger"."points" <> 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `loyalty_ledger_customer` ON `loyalty_ledger` (`customer_id`,`id`);--> statement-breakpoint
CREATE TABLE `loyalty_members` (
	`customer_id` text PRIMARY KEY NOT NULL,
	`balance` integer NOT NULL,
	`lifetime_points` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "loyalty_members_points" CHECK("loyalty_members"."balance" >= 0 and "loyalty_members"."lifetime_points" >= 0)
) STRICT;
