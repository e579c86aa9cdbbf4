ALTER TABLE `orders` ADD `mail_issues` text;--> statement-breakpoint
CREATE INDEX `orders_mail_issues` ON `orders` (`created_at`,`id`) WHERE "orders"."mail_issues" is not null;