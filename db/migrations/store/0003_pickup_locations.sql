CREATE TABLE `pickup_locations` (
	`id` text PRIMARY KEY NOT NULL,
	`label` text NOT NULL,
	`name` text NOT NULL,
	`company` text,
	`line1` text NOT NULL,
	`line2` text,
	`city` text NOT NULL,
	`state` text,
	`postal_code` text NOT NULL,
	`country` text NOT NULL,
	`phone` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
) STRICT;
