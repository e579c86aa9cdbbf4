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
CREATE INDEX `jobs_due` ON `jobs` (`due_at`,`lease_until`) WHERE "jobs"."failed_at" is null;--> statement-breakpoint
CREATE INDEX `jobs_failed` ON `jobs` (`failed_at`) WHERE "jobs"."failed_at" is not null;