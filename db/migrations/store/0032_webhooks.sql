CREATE TABLE `webhook_deliveries` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`webhook_id` text NOT NULL,
	`event_id` text NOT NULL,
	`event` text NOT NULL,
	`about` text NOT NULL,
	`status` text NOT NULL,
	`tries` integer NOT NULL,
	`first_try_at` text,
	`due_at` text,
	`last_status` integer,
	`last_body` text,
	`last_error` text,
	`created_at` text NOT NULL,
	`delivered_at` text,
	FOREIGN KEY (`webhook_id`) REFERENCES `webhooks`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "webhook_deliveries_tries" CHECK("webhook_deliveries"."tries" >= 0),
	CONSTRAINT "webhook_deliveries_status" CHECK("webhook_deliveries"."status" in ('pending', 'delivered', 'failed'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_id_unique` ON `webhook_deliveries` (`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_webhook` ON `webhook_deliveries` (`webhook_id`,`seq`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`webhook_id`,`due_at`) WHERE "webhook_deliveries"."due_at" is not null;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_status` ON `webhook_deliveries` (`webhook_id`,`status`,`seq`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`url` text NOT NULL,
	`description` text,
	`events` text NOT NULL,
	`active` integer NOT NULL,
	`disabled_reason` text,
	`disabled_at` text,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_until` text,
	`failures` integer NOT NULL,
	`rest_until` text,
	`last_delivered_at` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "webhooks_failures" CHECK("webhooks"."failures" >= 0),
	CONSTRAINT "webhooks_reason" CHECK("webhooks"."disabled_reason" in ('gone', 'failing'))
) STRICT;
--> statement-breakpoint
ALTER TABLE `outbox` ADD `body` text;