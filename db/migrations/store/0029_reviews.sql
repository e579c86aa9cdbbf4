CREATE TABLE `reviews` (
	`id` text PRIMARY KEY NOT NULL,
	`product_id` text NOT NULL,
	`author` text NOT NULL,
	`email` text NOT NULL,
	`content` text NOT NULL,
	`rating` integer NOT NULL,
	`approved` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "reviews_rating" CHECK("reviews"."rating" between 1 and 5)
) STRICT;
--> statement-breakpoint
CREATE INDEX `reviews_created` ON `reviews` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `reviews_approved` ON `reviews` (`approved`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `reviews_rating` ON `reviews` (`rating`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `reviews_product` ON `reviews` (`product_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `reviews_shown` ON `reviews` (`product_id`,`created_at`,`id`) WHERE "reviews"."approved" = 1;
--> statement-breakpoint
CREATE TRIGGER reviews_insert AFTER INSERT ON reviews WHEN NEW.approved = 1 BEGIN
  UPDATE products SET rating_sum = rating_sum + NEW.rating, rating_count = rating_count + 1 WHERE id = NEW.product_id;
END;
--> statement-breakpoint
CREATE TRIGGER reviews_update AFTER UPDATE OF approved ON reviews WHEN OLD.approved <> NEW.approved BEGIN
  UPDATE products SET rating_sum = rating_sum + iif(NEW.approved, NEW.rating, -NEW.rating), rating_count = rating_count + iif(NEW.approved, 1, -1)
    WHERE id = NEW.product_id;
END;
--> statement-breakpoint
CREATE TRIGGER reviews_delete AFTER DELETE ON reviews WHEN OLD.approved = 1 BEGIN
  UPDATE products SET rating_sum = rating_sum - OLD.rating, rating_count = rating_count - 1 WHERE id = OLD.product_id;
END;
