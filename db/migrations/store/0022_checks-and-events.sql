ALTER TABLE `settings` ADD `email_domain_check` text;--> statement-breakpoint
CREATE INDEX `provider_events_created` ON `provider_events` (`created_at`);