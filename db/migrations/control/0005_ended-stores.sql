ALTER TABLE `store_history` ADD `plan` text;--> statement-breakpoint
ALTER TABLE `store_history` ADD `ai_built` integer;