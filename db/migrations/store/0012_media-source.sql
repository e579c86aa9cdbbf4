ALTER TABLE `media` ADD `source` text;--> statement-breakpoint
CREATE INDEX `media_source` ON `media` (`source`) WHERE "media"."source" is not null;