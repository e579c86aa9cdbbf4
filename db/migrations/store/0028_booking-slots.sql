CREATE TABLE `booking_slots` (
	`id` text PRIMARY KEY NOT NULL,
	`product_variant_id` text NOT NULL,
	`starts_at` text NOT NULL,
	`ends_at` text NOT NULL,
	`timezone` text NOT NULL,
	`starts_on` text NOT NULL,
	`max_capacity` integer NOT NULL,
	`booked_count` integer DEFAULT 0 NOT NULL,
	`status` text NOT NULL,
	`settings` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`product_variant_id`) REFERENCES `variants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "booking_slots_status" CHECK("booking_slots"."status" in ('draft', 'published', 'cancelled', 'completed')),
	CONSTRAINT "booking_slots_times" CHECK("booking_slots"."ends_at" > "booking_slots"."starts_at"),
	CONSTRAINT "booking_slots_places" CHECK("booking_slots"."booked_count" between 0 and "booking_slots"."max_capacity")
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `booking_slots_at` ON `booking_slots` (`product_variant_id`,`starts_at`) WHERE "booking_slots"."status" <> 'cancelled';--> statement-breakpoint
CREATE INDEX `booking_slots_starts` ON `booking_slots` (`starts_at`,`id`);--> statement-breakpoint
CREATE INDEX `booking_slots_status_starts` ON `booking_slots` (`status`,`starts_at`,`id`,`ends_at`,`booked_count`,`max_capacity`);--> statement-breakpoint
CREATE INDEX `booking_slots_variant` ON `booking_slots` (`product_variant_id`,`starts_at`,`id`);--> statement-breakpoint
CREATE INDEX `booking_slots_variant_ends` ON `booking_slots` (`product_variant_id`,`ends_at`);--> statement-breakpoint
CREATE INDEX `booking_slots_gaps` ON `booking_slots` (`product_variant_id`,`ends_at`) WHERE "booking_slots"."settings" ->> 'bufferMinutes' > 0;--> statement-breakpoint
CREATE TABLE `bookings` (
	`line_id` text PRIMARY KEY NOT NULL,
	`slot_id` text NOT NULL,
	`order_id` text NOT NULL,
	`quantity` integer NOT NULL,
	`confirmed` integer NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`slot_id`) REFERENCES `booking_slots`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "bookings_quantity" CHECK("bookings"."quantity" >= 1)
) STRICT;
--> statement-breakpoint
CREATE INDEX `bookings_slot` ON `bookings` (`slot_id`,`created_at`,`line_id`);--> statement-breakpoint
CREATE INDEX `bookings_order` ON `bookings` (`order_id`);
--> statement-breakpoint
CREATE TRIGGER bookings_insert AFTER INSERT ON bookings BEGIN
  UPDATE booking_slots SET booked_count = booked_count + NEW.quantity WHERE id = NEW.slot_id;
END;
--> statement-breakpoint
CREATE TRIGGER bookings_update AFTER UPDATE OF quantity ON bookings WHEN OLD.quantity <> NEW.quantity BEGIN
  UPDATE booking_slots SET booked_count = booked_count + NEW.quantity - OLD.quantity WHERE id = NEW.slot_id;
END;
--> statement-breakpoint
CREATE TRIGGER bookings_delete AFTER DELETE ON bookings BEGIN
  UPDATE booking_slots SET booked_count = booked_count - OLD.quantity WHERE id = OLD.slot_id;
END;
