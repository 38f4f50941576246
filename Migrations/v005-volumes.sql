-- Folders on which another file system is mounted. While it is not mounted, its photos stay, but are not available.

ALTER TABLE directory ADD COLUMN is_available INTEGER NOT NULL DEFAULT 1;   -- 0: this folder is a mount point whose file system is not mounted
CREATE INDEX directory_away ON directory (id) WHERE is_available = 0;

ALTER TABLE history_root ADD COLUMN directory_id INTEGER;                   -- the mount point, or NULL for the root itself
