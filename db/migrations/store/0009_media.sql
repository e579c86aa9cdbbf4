CREATE TABLE `media` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`size` integer NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`renditions` text NOT NULL,
	`alt` text,
	`description` text,
	`feed_account` text,
	`feed_key` text,
	`taken_at` text NOT NULL,
	`code` text,
	`folded` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "media_type" CHECK("media"."type" in ('image/jpeg', 'image/png', 'image/webp', 'image/gif')),
	CONSTRAINT "media_dimensions" CHECK("media"."size" > 0 and "media"."width" > 0 and "media"."height" > 0),
	CONSTRAINT "media_feed" CHECK(("media"."feed_account" is null) = ("media"."feed_key" is null))
) STRICT;
--> statement-breakpoint
CREATE INDEX `media_feed_taken` ON `media` (`feed_key`,`taken_at`,`id`);