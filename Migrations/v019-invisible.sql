-- The assets that are hidden or in the trash. They are few, so photod counts the visible ones as all assets without these. SQLite counts
-- all assets from the pages of an index, without reading its rows.
CREATE INDEX asset_invisible ON asset (is_hidden, is_trashed) WHERE is_hidden <> 0 OR is_trashed <> 0;
