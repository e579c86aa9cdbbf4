ALTER TABLE `loyalty_ledger` ADD `expired` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `subscribers` ADD `confirm_token` text;--> statement-breakpoint
CREATE UNIQUE INDEX `subscribers_confirmToken_unique` ON `subscribers` (`confirm_token`);--> statement-breakpoint
ALTER TABLE `orders` ADD `points_taken_back` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `settings` ADD `mail_secret` text;