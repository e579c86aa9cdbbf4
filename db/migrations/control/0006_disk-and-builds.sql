CREATE TABLE `store_room` (
	`store_id` text PRIMARY KEY NOT NULL,
	`disk_quota_mb` integer,
	`builds_per_day` integer,
	`measured` text,
	`measured_at` text,
	FOREIGN KEY (`store_id`) REFERENCES `stores`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "store_room_quotas" CHECK("store_room"."disk_quota_mb" >= 0 and "store_room"."builds_per_day" >= 0)
) STRICT;
