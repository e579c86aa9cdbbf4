CREATE TABLE `image_uses` (
	`media_id` text NOT NULL,
	`entity` text NOT NULL,
	`entity_id` text NOT NULL,
	PRIMARY KEY(`media_id`, `entity`, `entity_id`)
) STRICT;--> statement-breakpoint
INSERT OR IGNORE INTO `image_uses` SELECT substr(substr(j.value, instr(j.value, '/cdn/') + 42), instr(substr(j.value, instr(j.value, '/cdn/') + 42), '/') + 1, 36), 'product', t.id FROM `products` t, json_each(CASE WHEN json_valid(t.images) THEN t.images ELSE '[]' END) j WHERE instr(j.value, '/cdn/') > 0;--> statement-breakpoint
INSERT OR IGNORE INTO `image_uses` SELECT substr(substr(j.value, instr(j.value, '/cdn/') + 42), instr(substr(j.value, instr(j.value, '/cdn/') + 42), '/') + 1, 36), 'bundle', t.id FROM `bundles` t, json_each(CASE WHEN json_valid(t.images) THEN t.images ELSE '[]' END) j WHERE instr(j.value, '/cdn/') > 0;--> statement-breakpoint
INSERT OR IGNORE INTO `image_uses` SELECT substr(substr(image, instr(image, '/cdn/') + 42), instr(substr(image, instr(image, '/cdn/') + 42), '/') + 1, 36), 'category', id FROM `categories` WHERE instr(image, '/cdn/') > 0;--> statement-breakpoint
INSERT OR IGNORE INTO `image_uses` SELECT substr(substr(image, instr(image, '/cdn/') + 42), instr(substr(image, instr(image, '/cdn/') + 42), '/') + 1, 36), 'collection', id FROM `collections` WHERE instr(image, '/cdn/') > 0;--> statement-breakpoint
INSERT OR IGNORE INTO `image_uses` SELECT substr(substr(logo, instr(logo, '/cdn/') + 42), instr(substr(logo, instr(logo, '/cdn/') + 42), '/') + 1, 36), 'brand', id FROM `brands` WHERE instr(logo, '/cdn/') > 0;