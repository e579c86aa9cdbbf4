CREATE TABLE `store_history` (
	`store_id` text PRIMARY KEY NOT NULL,
	`phase` text,
	`since` text,
	`numbers` text NOT NULL,
	`key_ids` text,
	CONSTRAINT "store_history_phase" CHECK("store_history"."phase" in ('making', 'removing'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `store_history_unfinished` ON `store_history` (`phase`) WHERE "store_history"."phase" is not null;