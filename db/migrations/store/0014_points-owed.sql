-- Dropping a table deletes its rows first, and the ledger's go with the members': so the ledger moves over to the new table before.
ALTER TABLE `loyalty_members` RENAME TO `__old_loyalty_members`;--> statement-breakpoint
CREATE TABLE `loyalty_members` (
	`customer_id` text PRIMARY KEY NOT NULL,
	`balance` integer NOT NULL,
	`lifetime_points` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "loyalty_members_points" CHECK("loyalty_members"."lifetime_points" >= 0)
) STRICT;
--> statement-breakpoint
INSERT INTO `loyalty_members`("customer_id", "balance", "lifetime_points", "created_at", "updated_at") SELECT "customer_id", "balance", "lifetime_points", "created_at", "updated_at" FROM `__old_loyalty_members`;--> statement-breakpoint
CREATE TABLE `__new_loyalty_ledger` (
	`id` text PRIMARY KEY NOT NULL,
	`customer_id` text NOT NULL,
	`points` integer NOT NULL,
	`reason` text NOT NULL,
	`order_id` text,
	`expires_at` text,
	`created_at` text NOT NULL,
	`kind` text DEFAULT 'adjusted' NOT NULL,
	`expiring` integer DEFAULT 0 NOT NULL,
	`taken` text,
	`expired` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`customer_id`) REFERENCES `loyalty_members`(`customer_id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "loyalty_ledger_points" CHECK("__new_loyalty_ledger"."points" <> 0),
	CONSTRAINT "loyalty_ledger_kind" CHECK("__new_loyalty_ledger"."kind" in ('earned', 'taken_back', 'redeemed', 'returned', 'adjusted', 'expired')),
	CONSTRAINT "loyalty_ledger_expiring" CHECK("__new_loyalty_ledger"."expiring" = 0 or ("__new_loyalty_ledger"."expiring" between 0 and "__new_loyalty_ledger"."points" and "__new_loyalty_ledger"."expires_at" is not null))
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_loyalty_ledger`("id", "customer_id", "points", "reason", "order_id", "expires_at", "created_at", "kind", "expiring", "taken", "expired") SELECT "id", "customer_id", "points", "reason", "order_id", "expires_at", "created_at", "kind", "expiring", "taken", "expired" FROM `loyalty_ledger`;--> statement-breakpoint
DROP TABLE `loyalty_ledger`;--> statement-breakpoint
ALTER TABLE `__new_loyalty_ledger` RENAME TO `loyalty_ledger`;--> statement-breakpoint
DROP TABLE `__old_loyalty_members`;--> statement-breakpoint
CREATE INDEX `loyalty_ledger_customer` ON `loyalty_ledger` (`customer_id`,`id`);--> statement-breakpoint
CREATE INDEX `loyalty_ledger_order` ON `loyalty_ledger` (`order_id`,`kind`);--> statement-breakpoint
CREATE INDEX `loyalty_ledger_expiring` ON `loyalty_ledger` (`customer_id`,`expires_at`,`id`) WHERE "loyalty_ledger"."expiring" > 0;--> statement-breakpoint
CREATE INDEX `loyalty_ledger_due` ON `loyalty_ledger` (`expires_at`,`customer_id`) WHERE "loyalty_ledger"."expiring" > 0;--> statement-breakpoint
ALTER TABLE `orders` ADD `earned_parts` text;
