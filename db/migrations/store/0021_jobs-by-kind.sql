DROP INDEX `jobs_due`;--> statement-breakpoint
CREATE INDEX `jobs_kind` ON `jobs` (`kind`,`due_at`,`id`) WHERE "jobs"."failed_at" is null;