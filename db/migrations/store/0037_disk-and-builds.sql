CREATE TABLE `build_starts` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `build_starts_created` ON `build_starts` (`created_at`);--> statement-breakpoint
CREATE TABLE `disk_use` (
	`id` integer PRIMARY KEY NOT NULL,
	`media_bytes` integer NOT NULL,
	CONSTRAINT "disk_use_one_row" CHECK("disk_use"."id" = 1)
) STRICT;
--> statement-breakpoint
ALTER TABLE `attached_files` ADD `bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
INSERT INTO `disk_use` (`id`, `media_bytes`) SELECT 1, coalesce(sum(`size` + (SELECT coalesce(sum(`value` ->> 'size'), 0) FROM json_each(`renditions`))), 0) FROM `media`;
--> statement-breakpoint
CREATE TRIGGER disk_use_media_added AFTER INSERT ON media BEGIN
  UPDATE disk_use SET media_bytes = media_bytes + NEW.size + (SELECT coalesce(sum(value ->> 'size'), 0) FROM json_each(NEW.renditions));
END;
--> statement-breakpoint
CREATE TRIGGER disk_use_media_removed AFTER DELETE ON media BEGIN
  UPDATE disk_use SET media_bytes = max(0, media_bytes - OLD.size - (SELECT coalesce(sum(value ->> 'size'), 0) FROM json_each(OLD.renditions)));
END;
--> statement-breakpoint
CREATE TRIGGER disk_use_files_added AFTER INSERT ON attached_files BEGIN
  UPDATE disk_use SET media_bytes = media_bytes + NEW.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER disk_use_files_removed AFTER DELETE ON attached_files BEGIN
  UPDATE disk_use SET media_bytes = max(0, media_bytes - OLD.bytes);
END;
