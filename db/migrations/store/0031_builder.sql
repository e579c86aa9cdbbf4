CREATE TABLE `builds` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`changes` integer NOT NULL,
	`pages` integer NOT NULL,
	`ms` integer NOT NULL,
	`created_at` text NOT NULL,
	CONSTRAINT "builds_kind" CHECK("builds"."kind" in ('publish', 'refresh', 'preview'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `builds_created` ON `builds` (`created_at`);--> statement-breakpoint
CREATE TABLE `feedback_comments` (
	`id` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`content` text NOT NULL,
	`author` text,
	`page_path` text NOT NULL,
	`pin` text,
	`visitor` text NOT NULL,
	`status` text NOT NULL,
	`task_instruction` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`session_id`) REFERENCES `feedback_sessions`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "feedback_comments_status" CHECK("feedback_comments"."status" in ('open', 'processed'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `feedback_comments_session` ON `feedback_comments` (`session_id`,`id`);--> statement-breakpoint
CREATE TABLE `feedback_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`status` text NOT NULL,
	`active` integer,
	`token_hash` text NOT NULL,
	`token` text NOT NULL,
	`deployment_id` text,
	`error_message` text,
	`progress` text NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "feedback_sessions_status" CHECK("feedback_sessions"."status" in ('created', 'in_progress', 'task_review', 'processing', 'in_review', 'done', 'canceled', 'interrupted')),
	CONSTRAINT "feedback_sessions_active" CHECK(("feedback_sessions"."active" is null) = ("feedback_sessions"."status" in ('done', 'canceled', 'interrupted')))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `feedback_sessions_active_unique` ON `feedback_sessions` (`active`);--> statement-breakpoint
CREATE UNIQUE INDEX `feedback_sessions_tokenHash_unique` ON `feedback_sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `feedback_sessions_by_status` ON `feedback_sessions` (`status`,`id`);--> statement-breakpoint
CREATE TABLE `publishes` (
	`id` text PRIMARY KEY NOT NULL,
	`status` text NOT NULL,
	`running` integer,
	`commit_sha` text NOT NULL,
	`saved_changes` integer NOT NULL,
	`deployment_id` text,
	`reason` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "publishes_status" CHECK("publishes"."status" in ('queued', 'building', 'verifying', 'live', 'domain_pending', 'failed')),
	CONSTRAINT "publishes_running" CHECK(("publishes"."running" is not null) = ("publishes"."status" in ('queued', 'building', 'verifying')))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `publishes_running_unique` ON `publishes` (`running`);--> statement-breakpoint
CREATE TABLE `storefront_changes` (
	`id` integer PRIMARY KEY NOT NULL,
	`count` integer NOT NULL,
	CONSTRAINT "storefront_changes_one_row" CHECK("storefront_changes"."id" = 1)
) STRICT;
--> statement-breakpoint
INSERT INTO `storefront_changes` VALUES (1, 0);--> statement-breakpoint
CREATE TRIGGER storefront_changed AFTER INSERT ON audit_log
WHEN new.resource IN ('products', 'variants', 'inventory', 'categories', 'collections', 'brands', 'bundles', 'posts', 'blog-categories',
  'post-comments', 'reviews', 'legal-pages', 'socials', 'brand-kit', 'settings', 'media', 'events', 'booking-slots', 'bookings', 'shipping',
  'pickup-locations', 'imports', 'domain') BEGIN
  UPDATE storefront_changes SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER storefront_sold_out AFTER UPDATE OF quantity, reserved ON variants
WHEN (old.quantity > old.reserved) <> (new.quantity > new.reserved) BEGIN
  UPDATE storefront_changes SET count = count + 1;
END;
