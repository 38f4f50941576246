-- Folders on which another file system is mounted: while it is not, what is on it stays, and is not available.

ALTER TABLE directory ADD COLUMN is_available INTEGER NOT NULL DEFAULT 1;   -- 0: of the top of what was mounted
CREATE INDEX directory_away ON directory (id) WHERE is_available = 0;

ALTER TABLE history_root ADD COLUMN directory_id INTEGER;                   -- such a folder; NULL: the root itself
