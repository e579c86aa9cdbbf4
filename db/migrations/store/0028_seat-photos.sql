CREATE TABLE `seat_photos` (
	`media_id` text PRIMARY KEY NOT NULL,
	`seat_id` text NOT NULL,
	FOREIGN KEY (`media_id`) REFERENCES `media`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `seat_photos_seat` ON `seat_photos` (`seat_id`);