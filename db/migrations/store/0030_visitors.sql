CREATE TABLE `blog_categories` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`slug` text NOT NULL,
	`description` text,
	`image` text,
	`position` text NOT NULL,
	`active` integer NOT NULL,
	`seo` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `blog_categories_slug_unique` ON `blog_categories` (`slug`);--> statement-breakpoint
CREATE INDEX `blog_categories_position` ON `blog_categories` (`position`,`id`);--> statement-breakpoint
CREATE TABLE `post_categories` (
	`post_id` text NOT NULL,
	`category_id` text NOT NULL,
	`position` integer NOT NULL,
	`status` text NOT NULL,
	`sorted_at` text NOT NULL,
	PRIMARY KEY(`post_id`, `category_id`),
	FOREIGN KEY (`post_id`) REFERENCES `posts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`category_id`) REFERENCES `blog_categories`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `post_categories_status` ON `post_categories` (`category_id`,`status`,`sorted_at`,`post_id`);--> statement-breakpoint
CREATE INDEX `post_categories_sorted` ON `post_categories` (`category_id`,`sorted_at`,`post_id`);--> statement-breakpoint
CREATE TABLE `posts` (
	`id` text PRIMARY KEY NOT NULL,
	`title` text NOT NULL,
	`slug` text NOT NULL,
	`content` text,
	`excerpt` text,
	`image` text,
	`status` text NOT NULL,
	`published_at` text,
	`seo` text NOT NULL,
	`comment_count` integer NOT NULL,
	`sorted_at` text NOT NULL,
	`visible` integer NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "posts_status" CHECK("posts"."status" in ('draft', 'published')),
	CONSTRAINT "posts_published" CHECK("posts"."status" = 'draft' or "posts"."published_at" is not null),
	CONSTRAINT "posts_comments" CHECK("posts"."comment_count" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `posts_slug_unique` ON `posts` (`slug`);--> statement-breakpoint
CREATE INDEX `posts_sorted` ON `posts` (`sorted_at`,`id`);--> statement-breakpoint
CREATE INDEX `posts_status` ON `posts` (`status`,`sorted_at`,`id`);--> statement-breakpoint
CREATE INDEX `posts_hidden` ON `posts` (`id`) WHERE "posts"."visible" = 0;--> statement-breakpoint
CREATE TABLE `brand_kit` (
	`id` text PRIMARY KEY NOT NULL,
	`logo` text,
	`colors` text NOT NULL,
	`fonts` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "brand_kit_one_row" CHECK("brand_kit"."id" = 'brand-kit')
) STRICT;
--> statement-breakpoint
CREATE TABLE `email_templates` (
	`kind` text NOT NULL,
	`locale` text NOT NULL,
	`subject` text NOT NULL,
	`body` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`kind`, `locale`),
	CONSTRAINT "email_templates_kind" CHECK("email_templates"."kind" in ('order-confirmation', 'shipment', 'refund', 'ticket', 'back-in-stock', 'review-request'))
) STRICT;
--> statement-breakpoint
CREATE TABLE `legal_pages` (
	`kind` text PRIMARY KEY NOT NULL,
	`title` text,
	`content` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "legal_pages_kind" CHECK("legal_pages"."kind" in ('terms', 'privacy', 'returns', 'shipping', 'imprint'))
) STRICT;
--> statement-breakpoint
CREATE TABLE `sent_mails` (
	`id` text PRIMARY KEY NOT NULL,
	`status` text NOT NULL,
	`error` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "sent_mails_status" CHECK("sent_mails"."status" in ('sending', 'sent', 'unknown', 'failed'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `sent_mails_created` ON `sent_mails` (`created_at`);--> statement-breakpoint
CREATE TABLE `social_links` (
	`network` text PRIMARY KEY NOT NULL,
	`url` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `attached_files` (
	`id` text PRIMARY KEY NOT NULL,
	`message_id` text NOT NULL,
	FOREIGN KEY (`message_id`) REFERENCES `support_messages`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `attached_files_message` ON `attached_files` (`message_id`);--> statement-breakpoint
CREATE TABLE `availability_notifications` (
	`id` text PRIMARY KEY NOT NULL,
	`variant_id` text NOT NULL,
	`email` text NOT NULL,
	`locale` text,
	`status` text NOT NULL,
	`token` text NOT NULL,
	`not_before` text,
	`deferrals` integer NOT NULL,
	`error` text,
	`asked_at` text,
	`notified_at` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`variant_id`) REFERENCES `variants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "availability_notifications_status" CHECK("availability_notifications"."status" in ('pending', 'waiting', 'sending', 'sent', 'unknown', 'failed', 'stopped'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `availability_notifications_token_unique` ON `availability_notifications` (`token`);--> statement-breakpoint
CREATE UNIQUE INDEX `availability_notifications_open` ON `availability_notifications` (`variant_id`,`email`) WHERE "availability_notifications"."status" in ('pending', 'waiting', 'sending');--> statement-breakpoint
CREATE INDEX `availability_notifications_status` ON `availability_notifications` (`variant_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `availability_notifications_variant` ON `availability_notifications` (`variant_id`,`id`);--> statement-breakpoint
CREATE INDEX `availability_notifications_turn` ON `availability_notifications` (`variant_id`,coalesce("not_before", ''),`id`) WHERE "availability_notifications"."status" = 'waiting';--> statement-breakpoint
CREATE INDEX `availability_notifications_asked` ON `availability_notifications` (`email`,`asked_at`);--> statement-breakpoint
CREATE INDEX `availability_notifications_created` ON `availability_notifications` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `availability_notifications_by_status` ON `availability_notifications` (`status`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `contact_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text,
	`email` text NOT NULL,
	`subject` text,
	`message` text NOT NULL,
	`status` text NOT NULL,
	`signals` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "contact_messages_status" CHECK("contact_messages"."status" in ('new', 'read', 'answered', 'spam'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `contact_messages_created` ON `contact_messages` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `contact_messages_status` ON `contact_messages` (`status`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `unwanted_mails` (
	`email` text NOT NULL,
	`kind` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`email`, `kind`),
	CONSTRAINT "unwanted_mails_kind" CHECK("unwanted_mails"."kind" in ('review-request', 'back-in-stock'))
) STRICT;
--> statement-breakpoint
CREATE TABLE `post_comments` (
	`id` text PRIMARY KEY NOT NULL,
	`post_id` text NOT NULL,
	`author` text NOT NULL,
	`email` text NOT NULL,
	`content` text NOT NULL,
	`approved` integer NOT NULL,
	`user_id` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`seq` integer NOT NULL,
	`signals` text NOT NULL,
	FOREIGN KEY (`post_id`) REFERENCES `posts`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `post_comments_created` ON `post_comments` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `post_comments_approved` ON `post_comments` (`approved`,`created_at`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `post_comments_seq` ON `post_comments` (`post_id`,`seq`);--> statement-breakpoint
CREATE INDEX `post_comments_shown` ON `post_comments` (`post_id`,`seq`) WHERE "post_comments"."approved" = 1;--> statement-breakpoint
CREATE TABLE `shown_blocks` (
	`owner_id` text NOT NULL,
	`block` integer NOT NULL,
	`shown` integer NOT NULL,
	PRIMARY KEY(`owner_id`, `block`),
	CONSTRAINT "shown_blocks_shown" CHECK("shown_blocks"."shown" between 0 and 256)
) STRICT;
--> statement-breakpoint
CREATE TABLE `support_cases` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text,
	`email` text NOT NULL,
	`subject` text NOT NULL,
	`status` text NOT NULL,
	`unread` integer NOT NULL,
	`token` text NOT NULL,
	`message_count` integer NOT NULL,
	`last_message_at` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "support_cases_status" CHECK("support_cases"."status" in ('open', 'pending', 'resolved'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `support_cases_token_unique` ON `support_cases` (`token`);--> statement-breakpoint
CREATE INDEX `support_cases_last` ON `support_cases` (`last_message_at`,`id`);--> statement-breakpoint
CREATE INDEX `support_cases_status` ON `support_cases` (`status`,`last_message_at`,`id`);--> statement-breakpoint
CREATE INDEX `support_cases_unread` ON `support_cases` (`unread`) WHERE "support_cases"."unread" = 1;--> statement-breakpoint
CREATE TABLE `support_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`case_id` text NOT NULL,
	`author` text NOT NULL,
	`message` text NOT NULL,
	`attachments` text NOT NULL,
	`delivery` text NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`case_id`) REFERENCES `support_cases`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "support_messages_author" CHECK("support_messages"."author" in ('customer', 'merchant')),
	CONSTRAINT "support_messages_delivery" CHECK("support_messages"."delivery" in ('none', 'queued', 'sent', 'unknown', 'failed'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `support_messages_case` ON `support_messages` (`case_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `visitor_texts` (
	`hash` text PRIMARY KEY NOT NULL,
	`text_hash` text NOT NULL,
	`created_at` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `visitor_texts_text` ON `visitor_texts` (`text_hash`,`created_at`);--> statement-breakpoint
CREATE INDEX `visitor_texts_created` ON `visitor_texts` (`created_at`);--> statement-breakpoint
CREATE TABLE `wishlist_items` (
	`customer_id` text NOT NULL,
	`variant_id` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`customer_id`, `variant_id`),
	FOREIGN KEY (`customer_id`) REFERENCES `customers`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`variant_id`) REFERENCES `variants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `wishlist_items_added` ON `wishlist_items` (`customer_id`,`created_at`,`variant_id`);--> statement-breakpoint
CREATE INDEX `wishlist_items_variant` ON `wishlist_items` (`variant_id`);--> statement-breakpoint
DROP INDEX `reviews_shown`;--> statement-breakpoint
ALTER TABLE `reviews` ADD `seq` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `reviews` ADD `signals` text DEFAULT '{"links":0,"honeypot":false,"repeated":false,"form":"none"}' NOT NULL;--> statement-breakpoint
UPDATE reviews SET seq = numbered.n FROM (SELECT id, row_number() OVER (PARTITION BY product_id ORDER BY created_at, id) AS n FROM reviews) AS numbered WHERE numbered.id = reviews.id;--> statement-breakpoint
CREATE INDEX `reviews_product_queue` ON `reviews` (`product_id`,`approved`,`created_at`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `reviews_seq` ON `reviews` (`product_id`,`seq`);--> statement-breakpoint
CREATE INDEX `reviews_shown` ON `reviews` (`product_id`,`seq`) WHERE "reviews"."approved" = 1;--> statement-breakpoint
ALTER TABLE `orders` ADD `locale` text;--> statement-breakpoint
ALTER TABLE `settings` ADD `review_request` text;
--> statement-breakpoint
INSERT INTO shown_blocks SELECT product_id, seq / 256, count(*) FROM reviews WHERE approved = 1 GROUP BY 1, 2;
--> statement-breakpoint
DROP TRIGGER reviews_insert;
--> statement-breakpoint
DROP TRIGGER reviews_update;
--> statement-breakpoint
DROP TRIGGER reviews_delete;
--> statement-breakpoint
CREATE TRIGGER reviews_insert AFTER INSERT ON reviews WHEN NEW.approved = 1 BEGIN
  UPDATE products SET rating_sum = rating_sum + NEW.rating, rating_count = rating_count + 1 WHERE id = NEW.product_id;
  INSERT INTO shown_blocks VALUES (NEW.product_id, NEW.seq / 256, 1) ON CONFLICT DO UPDATE SET shown = shown + 1;
END;
--> statement-breakpoint
CREATE TRIGGER reviews_approve AFTER UPDATE OF approved ON reviews WHEN OLD.approved = 0 AND NEW.approved = 1 BEGIN
  UPDATE products SET rating_sum = rating_sum + NEW.rating, rating_count = rating_count + 1 WHERE id = NEW.product_id;
  INSERT INTO shown_blocks VALUES (NEW.product_id, NEW.seq / 256, 1) ON CONFLICT DO UPDATE SET shown = shown + 1;
END;
--> statement-breakpoint
CREATE TRIGGER reviews_reject AFTER UPDATE OF approved ON reviews WHEN OLD.approved = 1 AND NEW.approved = 0 BEGIN
  UPDATE products SET rating_sum = rating_sum - OLD.rating, rating_count = rating_count - 1 WHERE id = OLD.product_id;
  UPDATE shown_blocks SET shown = shown - 1 WHERE owner_id = OLD.product_id AND block = OLD.seq / 256;
  DELETE FROM shown_blocks WHERE owner_id = OLD.product_id AND block = OLD.seq / 256 AND shown = 0;
END;
--> statement-breakpoint
CREATE TRIGGER reviews_delete AFTER DELETE ON reviews WHEN OLD.approved = 1 BEGIN
  UPDATE products SET rating_sum = rating_sum - OLD.rating, rating_count = rating_count - 1 WHERE id = OLD.product_id;
  UPDATE shown_blocks SET shown = shown - 1 WHERE owner_id = OLD.product_id AND block = OLD.seq / 256;
  DELETE FROM shown_blocks WHERE owner_id = OLD.product_id AND block = OLD.seq / 256 AND shown = 0;
END;
--> statement-breakpoint
CREATE TRIGGER post_comments_insert AFTER INSERT ON post_comments WHEN NEW.approved = 1 BEGIN
  UPDATE posts SET comment_count = comment_count + 1 WHERE id = NEW.post_id;
  INSERT INTO shown_blocks VALUES (NEW.post_id, NEW.seq / 256, 1) ON CONFLICT DO UPDATE SET shown = shown + 1;
END;
--> statement-breakpoint
CREATE TRIGGER post_comments_approve AFTER UPDATE OF approved ON post_comments WHEN OLD.approved = 0 AND NEW.approved = 1 BEGIN
  UPDATE posts SET comment_count = comment_count + 1 WHERE id = NEW.post_id;
  INSERT INTO shown_blocks VALUES (NEW.post_id, NEW.seq / 256, 1) ON CONFLICT DO UPDATE SET shown = shown + 1;
END;
--> statement-breakpoint
CREATE TRIGGER post_comments_reject AFTER UPDATE OF approved ON post_comments WHEN OLD.approved = 1 AND NEW.approved = 0 BEGIN
  UPDATE posts SET comment_count = comment_count - 1 WHERE id = OLD.post_id;
  UPDATE shown_blocks SET shown = shown - 1 WHERE owner_id = OLD.post_id AND block = OLD.seq / 256;
  DELETE FROM shown_blocks WHERE owner_id = OLD.post_id AND block = OLD.seq / 256 AND shown = 0;
END;
--> statement-breakpoint
CREATE TRIGGER post_comments_delete AFTER DELETE ON post_comments WHEN OLD.approved = 1 BEGIN
  UPDATE posts SET comment_count = comment_count - 1 WHERE id = OLD.post_id;
  UPDATE shown_blocks SET shown = shown - 1 WHERE owner_id = OLD.post_id AND block = OLD.seq / 256;
  DELETE FROM shown_blocks WHERE owner_id = OLD.post_id AND block = OLD.seq / 256 AND shown = 0;
END;
--> statement-breakpoint
CREATE TRIGGER post_categories_posts AFTER UPDATE OF status, sorted_at ON posts WHEN NEW.status <> OLD.status OR NEW.sorted_at <> OLD.sorted_at BEGIN
  UPDATE post_categories SET status = NEW.status, sorted_at = NEW.sorted_at WHERE post_id = NEW.id;
END;
--> statement-breakpoint
CREATE TRIGGER search_changes_posts AFTER UPDATE OF visible ON posts WHEN NEW.visible <> OLD.visible BEGIN
  UPDATE search_changes SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER variants_back AFTER UPDATE OF active, tracked, backorder, quantity, reserved ON variants
WHEN NEW.active = 1 AND (NEW.tracked = 0 OR NEW.backorder = 1 OR NEW.quantity > NEW.reserved) AND NOT (OLD.active = 1 AND (OLD.tracked = 0 OR OLD.backorder = 1 OR OLD.quantity > OLD.reserved)) BEGIN
  INSERT INTO jobs (id, kind, subject, due_at, attempts, asked, created_at, updated_at)
    SELECT lower(hex(randomblob(16))), 'availability.notify', NEW.id, '1970-01-01T00:00:00.000Z', 0, 1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    WHERE EXISTS (SELECT 1 FROM availability_notifications n WHERE n.variant_id = NEW.id AND n.status = 'waiting')
    ON CONFLICT (kind, subject) DO UPDATE SET due_at = excluded.due_at, asked = asked + 1, failed_at = NULL;
END;
--> statement-breakpoint
CREATE TRIGGER products_back AFTER UPDATE OF status ON products WHEN NEW.status = 'published' AND OLD.status <> 'published' BEGIN
  INSERT INTO jobs (id, kind, subject, due_at, attempts, asked, created_at, updated_at)
    SELECT lower(hex(randomblob(16))), 'availability.notify', v.id, '1970-01-01T00:00:00.000Z', 0, 1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    FROM variants v WHERE v.product_id = NEW.id AND v.active = 1 AND (v.tracked = 0 OR v.backorder = 1 OR v.quantity > v.reserved) AND EXISTS (SELECT 1 FROM availability_notifications n WHERE n.variant_id = v.id AND n.status = 'waiting')
    ON CONFLICT (kind, subject) DO UPDATE SET due_at = excluded.due_at, asked = asked + 1, failed_at = NULL;
END;
--> statement-breakpoint
CREATE TRIGGER settings_mail_on AFTER UPDATE OF email ON settings WHEN NEW.email ->> 'outboundEnabled' = 1 AND OLD.email ->> 'outboundEnabled' = 0 BEGIN
  INSERT INTO jobs (id, kind, subject, due_at, attempts, asked, created_at, updated_at)
    SELECT lower(hex(randomblob(16))), 'availability.notify', v.id, '1970-01-01T00:00:00.000Z', 0, 1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    FROM variants v WHERE v.active = 1 AND (v.tracked = 0 OR v.backorder = 1 OR v.quantity > v.reserved) AND EXISTS (SELECT 1 FROM availability_notifications n WHERE n.variant_id = v.id AND n.status = 'waiting')
    ON CONFLICT (kind, subject) DO UPDATE SET due_at = excluded.due_at, asked = asked + 1, failed_at = NULL;
END;
