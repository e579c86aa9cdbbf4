DROP INDEX `webhook_deliveries_webhook`;--> statement-breakpoint
DROP INDEX `webhook_deliveries_due`;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_again` ON `webhook_deliveries` (`webhook_id`,`due_at`) WHERE "webhook_deliveries"."tries" > 0 and "webhook_deliveries"."due_at" is not null;