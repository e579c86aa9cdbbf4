CREATE TABLE `email_quota` (
	`month` text PRIMARY KEY NOT NULL,
	`used` integer NOT NULL,
	CONSTRAINT "email_quota_used" CHECK("email_quota"."used" >= 0)
) STRICT;
--> statement-breakpoint
CREATE TABLE `newsletter_deliveries` (
	`newsletter_id` text NOT NULL,
	`subscriber_id` text NOT NULL,
	`status` text NOT NULL,
	`deferrals` integer NOT NULL,
	`not_before` text,
	`error` text,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`newsletter_id`, `subscriber_id`),
	FOREIGN KEY (`newsletter_id`) REFERENCES `newsletters`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "newsletter_deliveries_status" CHECK("newsletter_deliveries"."status" in ('pending', 'sending', 'sent', 'unknown', 'refused', 'skipped'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `newsletter_deliveries_by_status` ON `newsletter_deliveries` (`newsletter_id`,`status`,`not_before`,`subscriber_id`);--> statement-breakpoint
CREATE TABLE `newsletters` (
	`id` text PRIMARY KEY NOT NULL,
	`subject` text NOT NULL,
	`content` text NOT NULL,
	`status` text NOT NULL,
	`audience` text NOT NULL,
	`products` text NOT NULL,
	`scheduled_at` text,
	`recipient_count` integer NOT NULL,
	`sent_at` text,
	`failed_at` text,
	`error_message` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`last_subscriber_id` text,
	`passed_subscriber_id` text,
	`quota_month` text,
	`reserved` integer NOT NULL,
	`tried_before` integer NOT NULL,
	CONSTRAINT "newsletters_status" CHECK("newsletters"."status" in ('draft', 'scheduled', 'sending', 'sent', 'failed')),
	CONSTRAINT "newsletters_audience" CHECK("newsletters"."audience" in ('all_active', 'customers', 'repeat_customers', 'never_purchased', 'recent_signups')),
	CONSTRAINT "newsletters_counts" CHECK("newsletters"."recipient_count" >= 0 and "newsletters"."reserved" >= 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `newsletters_by_status` ON `newsletters` (`status`,`id`);--> statement-breakpoint
CREATE TABLE `subscribers` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`name` text,
	`source` text,
	`status` text NOT NULL,
	`token` text NOT NULL,
	`subscribed_at` text,
	`unsubscribed_at` text,
	`asked_at` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "subscribers_status" CHECK("subscribers"."status" in ('pending', 'active', 'unsubscribed'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `subscribers_email_unique` ON `subscribers` (`email`);--> statement-breakpoint
CREATE UNIQUE INDEX `subscribers_token_unique` ON `subscribers` (`token`);--> statement-breakpoint
CREATE INDEX `subscribers_by_status` ON `subscribers` (`status`,`id`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`due_at` text NOT NULL,
	`attempts` integer NOT NULL,
	`lease_token` text,
	`lease_until` text,
	`asked` integer NOT NULL,
	`error` text,
	`failed_at` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "jobs_attempts" CHECK("jobs"."attempts" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `jobs_subject` ON `jobs` (`kind`,`subject`);--> statement-breakpoint
CREATE INDEX `jobs_due` ON `jobs` (`due_at`,`id`) WHERE "jobs"."failed_at" is null;--> statement-breakpoint
CREATE INDEX `jobs_leased` ON `jobs` (`lease_token`) WHERE "jobs"."lease_token" is not null;--> statement-breakpoint
CREATE INDEX `jobs_failed` ON `jobs` (`failed_at`) WHERE "jobs"."failed_at" is not null;