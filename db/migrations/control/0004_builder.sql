CREATE TABLE `deployments` (
	`id` text PRIMARY KEY NOT NULL,
	`store_id` text NOT NULL,
	`kind` text NOT NULL,
	`commit_sha` text NOT NULL,
	`changes` integer NOT NULL,
	`created_at` text NOT NULL,
	`replaced_at` text,
	`closed` integer NOT NULL,
	FOREIGN KEY (`store_id`) REFERENCES `stores`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "deployments_kind" CHECK("deployments"."kind" in ('production', 'preview'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `deployments_store` ON `deployments` (`store_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `deployments_replaced` ON `deployments` (`replaced_at`);--> statement-breakpoint
CREATE TABLE `domains` (
	`domain` text PRIMARY KEY NOT NULL,
	`store_id` text NOT NULL,
	`token` text NOT NULL,
	`status` text NOT NULL,
	`verified_at` text,
	`checked_at` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`store_id`) REFERENCES `stores`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "domains_status" CHECK("domains"."status" in ('Pending Verification', 'Valid Configuration', 'Invalid Configuration', 'Domain Not Found', 'Unknown Error'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `domains_storeId_unique` ON `domains` (`store_id`);--> statement-breakpoint
CREATE INDEX `domains_checked` ON `domains` (`checked_at`);--> statement-breakpoint
CREATE INDEX `domains_pending` ON `domains` (`created_at`) WHERE "domains"."verified_at" is null;--> statement-breakpoint
CREATE TABLE `projects` (
	`store_id` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`live_id` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`store_id`) REFERENCES `stores`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
