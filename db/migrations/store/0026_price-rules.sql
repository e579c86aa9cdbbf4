CREATE TABLE `price_rules` (
	`id` integer PRIMARY KEY NOT NULL,
	`version` text NOT NULL,
	CONSTRAINT "price_rules_one_row" CHECK("price_rules"."id" = 1)
) STRICT;--> statement-breakpoint
INSERT INTO `price_rules` VALUES (1, hex(randomblob(16)));--> statement-breakpoint
CREATE TRIGGER price_rules_promotions_insert AFTER INSERT ON promotions BEGIN
  UPDATE price_rules SET version = hex(randomblob(16));
END;
--> statement-breakpoint
CREATE TRIGGER price_rules_promotions_update AFTER UPDATE ON promotions BEGIN
  UPDATE price_rules SET version = hex(randomblob(16));
END;
--> statement-breakpoint
CREATE TRIGGER price_rules_promotions_delete AFTER DELETE ON promotions BEGIN
  UPDATE price_rules SET version = hex(randomblob(16));
END;
--> statement-breakpoint
CREATE TRIGGER price_rules_tax_rates_insert AFTER INSERT ON tax_rates BEGIN
  UPDATE price_rules SET version = hex(randomblob(16));
END;
--> statement-breakpoint
CREATE TRIGGER price_rules_tax_rates_update AFTER UPDATE ON tax_rates BEGIN
  UPDATE price_rules SET version = hex(randomblob(16));
END;
--> statement-breakpoint
CREATE TRIGGER price_rules_tax_rates_delete AFTER DELETE ON tax_rates BEGIN
  UPDATE price_rules SET version = hex(randomblob(16));
END;
--> statement-breakpoint
CREATE TRIGGER price_rules_shipping_methods_insert AFTER INSERT ON shipping_methods BEGIN
  UPDATE price_rules SET version = hex(randomblob(16));
END;
--> statement-breakpoint
CREATE TRIGGER price_rules_shipping_methods_update AFTER UPDATE ON shipping_methods BEGIN
  UPDATE price_rules SET version = hex(randomblob(16));
END;
--> statement-breakpoint
CREATE TRIGGER price_rules_shipping_methods_delete AFTER DELETE ON shipping_methods BEGIN
  UPDATE price_rules SET version = hex(randomblob(16));
END;
