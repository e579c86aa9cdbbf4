DROP INDEX `products_brand`;--> statement-breakpoint
DROP INDEX `products_category`;--> statement-breakpoint
ALTER TABLE `products` ADD `in_stock` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `products_listing` ON `products` (`id`,`is_event`,`status`,`in_stock`,`category_id`,`brand_id`,`folded_name`);--> statement-breakpoint
CREATE INDEX `products_brand` ON `products` (`brand_id`,`is_event`,`status`,`id`,`in_stock`);--> statement-breakpoint
CREATE INDEX `products_category` ON `products` (`category_id`,`is_event`,`status`,`id`,`in_stock`);--> statement-breakpoint
CREATE INDEX `search_documents_owner` ON `search_documents` (`id`,`locale`,`entity`,`entity_id`);--> statement-breakpoint
UPDATE `products` SET `in_stock` = 1 WHERE EXISTS (SELECT 1 FROM `variants` v WHERE v.product_id = products.id AND v.active = 1 AND (v.tracked = 0 OR v.backorder = 1 OR v.quantity > v.reserved));--> statement-breakpoint
CREATE TRIGGER products_in_stock_insert AFTER INSERT ON variants WHEN new.active = 1 AND (new.tracked = 0 OR new.backorder = 1 OR new.quantity > new.reserved) BEGIN
  UPDATE products SET in_stock = 1 WHERE id = new.product_id AND in_stock = 0;
END;
--> statement-breakpoint
CREATE TRIGGER products_in_stock_delete AFTER DELETE ON variants WHEN old.active = 1 AND (old.tracked = 0 OR old.backorder = 1 OR old.quantity > old.reserved) BEGIN
  UPDATE products SET in_stock = EXISTS (SELECT 1 FROM variants v WHERE v.product_id = old.product_id AND v.active = 1 AND (v.tracked = 0 OR v.backorder = 1 OR v.quantity > v.reserved)) WHERE id = old.product_id;
END;
--> statement-breakpoint
CREATE TRIGGER products_in_stock_update AFTER UPDATE OF active, tracked, backorder, quantity, reserved ON variants WHEN (new.active = 1 AND (new.tracked = 0 OR new.backorder = 1 OR new.quantity > new.reserved)) <> (old.active = 1 AND (old.tracked = 0 OR old.backorder = 1 OR old.quantity > old.reserved)) BEGIN
  UPDATE products SET in_stock = EXISTS (SELECT 1 FROM variants v WHERE v.product_id = new.product_id AND v.active = 1 AND (v.tracked = 0 OR v.backorder = 1 OR v.quantity > v.reserved)) WHERE id = new.product_id;
END;
