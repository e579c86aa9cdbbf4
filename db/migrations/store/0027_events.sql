CREATE TABLE `events` (
	`product_id` text PRIMARY KEY NOT NULL,
	`variant_id` text NOT NULL,
	`starts_at` text,
	`location` text,
	`guest` text,
	`guest_label` text,
	`sold` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "events_sold" CHECK("events"."sold" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `events_variantId_unique` ON `events` (`variant_id`);--> statement-breakpoint
CREATE INDEX `events_starts` ON `events` ("starts_at" is null,`starts_at`,`product_id`);--> statement-breakpoint
CREATE TABLE `seat_photos` (
	`media_id` text PRIMARY KEY NOT NULL,
	`seat_id` text NOT NULL,
	FOREIGN KEY (`media_id`) REFERENCES `media`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `seat_photos_seat` ON `seat_photos` (`seat_id`);--> statement-breakpoint
CREATE TABLE `seats` (
	`id` text PRIMARY KEY NOT NULL,
	`product_id` text NOT NULL,
	`order_id` text NOT NULL,
	`line_id` text NOT NULL,
	`position` integer NOT NULL,
	`state` text NOT NULL,
	`token_hash` text NOT NULL,
	`token` text NOT NULL,
	`buyer_email` text NOT NULL,
	`name` text,
	`folded_name` text NOT NULL,
	`email` text,
	`bio` text,
	`social_profile_url` text,
	`photo_id` text,
	`listed` integer NOT NULL,
	`checked_in_at` text,
	`checked_in_by` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`photo_id`) REFERENCES `media`(`id`) ON UPDATE no action ON DELETE set null,
	CONSTRAINT "seats_state" CHECK("seats"."state" in ('held', 'valid', 'void'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `seats_token` ON `seats` (`token_hash`);--> statement-breakpoint
CREATE INDEX `seats_order` ON `seats` (`order_id`,`line_id`,`position`);--> statement-breakpoint
CREATE INDEX `seats_roster` ON `seats` (`product_id`,"checked_in_at" desc,`folded_name`,`id`) WHERE "seats"."state" <> 'void';--> statement-breakpoint
CREATE INDEX `seats_directory` ON `seats` (`product_id`,`folded_name`,`id`) WHERE "seats"."state" = 'valid' and "seats"."listed" = 1;--> statement-breakpoint
CREATE INDEX `seats_attendees` ON `seats` (`product_id`,`buyer_email`,`order_id`) WHERE "seats"."state" = 'valid';--> statement-breakpoint
CREATE INDEX `seats_photo` ON `seats` (`photo_id`) WHERE "seats"."photo_id" is not null;--> statement-breakpoint
ALTER TABLE `order_lines` ADD `ticket` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `collections_group_name` ON `collections` ("name" collate nocase) WHERE "collections"."kind" = 'event-group';
--> statement-breakpoint
CREATE TRIGGER seats_sold_insert AFTER INSERT ON seats WHEN NEW.state = 'valid' BEGIN
  UPDATE events SET sold = sold + 1 WHERE product_id = NEW.product_id;
END;
--> statement-breakpoint
CREATE TRIGGER seats_sold_update AFTER UPDATE OF state ON seats WHEN (OLD.state = 'valid') <> (NEW.state = 'valid') BEGIN
  UPDATE events SET sold = sold + iif(NEW.state = 'valid', 1, -1) WHERE product_id = NEW.product_id;
END;
--> statement-breakpoint
CREATE TRIGGER seats_sold_delete AFTER DELETE ON seats WHEN OLD.state = 'valid' BEGIN
  UPDATE events SET sold = sold - 1 WHERE product_id = OLD.product_id;
END;
--> statement-breakpoint
CREATE TRIGGER seats_of_orders AFTER UPDATE OF status ON orders WHEN OLD.status <> NEW.status BEGIN
  UPDATE seats SET state = iif(NEW.status IN ('cancelled', 'refunded'), 'void', iif(NEW.status = 'pending', 'held', 'valid'))
    WHERE order_id = NEW.id AND state <> 'void';
END;
