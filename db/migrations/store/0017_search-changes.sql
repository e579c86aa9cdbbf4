CREATE TABLE `search_changes` (
	`id` integer PRIMARY KEY NOT NULL,
	`n` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `products_unpublished` ON `products` (`id`) WHERE "products"."status" <> 'published';--> statement-breakpoint
INSERT INTO `search_changes` VALUES (1, 0);--> statement-breakpoint
CREATE TRIGGER search_changes_insert AFTER INSERT ON search_documents BEGIN
  UPDATE search_changes SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER search_changes_delete AFTER DELETE ON search_documents BEGIN
  UPDATE search_changes SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER search_changes_update AFTER UPDATE ON search_documents BEGIN
  UPDATE search_changes SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER search_changes_products AFTER UPDATE OF status ON products WHEN new.status <> old.status BEGIN
  UPDATE search_changes SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER search_changes_categories AFTER UPDATE OF active ON categories WHEN new.active <> old.active BEGIN
  UPDATE search_changes SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER search_changes_collections AFTER UPDATE OF active ON collections WHEN new.active <> old.active BEGIN
  UPDATE search_changes SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER search_changes_brands AFTER UPDATE OF active ON brands WHEN new.active <> old.active BEGIN
  UPDATE search_changes SET n = n + 1;
END;
