CREATE VIRTUAL TABLE search_fts USING fts5(name, body, folded, content='search_documents', content_rowid='id', tokenize='unicode61 remove_diacritics 2', prefix='2 3');
--> statement-breakpoint
CREATE TRIGGER search_documents_insert AFTER INSERT ON search_documents BEGIN
  INSERT INTO search_fts(rowid, name, body, folded) VALUES (new.id, new.name, new.body, new.folded);
END;
--> statement-breakpoint
CREATE TRIGGER search_documents_delete AFTER DELETE ON search_documents BEGIN
  INSERT INTO search_fts(search_fts, rowid, name, body, folded) VALUES ('delete', old.id, old.name, old.body, old.folded);
END;
--> statement-breakpoint
CREATE TRIGGER search_documents_update AFTER UPDATE ON search_documents BEGIN
  INSERT INTO search_fts(search_fts, rowid, name, body, folded) VALUES ('delete', old.id, old.name, old.body, old.folded);
  INSERT INTO search_fts(rowid, name, body, folded) VALUES (new.id, new.name, new.body, new.folded);
END;
