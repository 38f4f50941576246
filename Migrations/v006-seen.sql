-- The last time at which the file of a deleted asset certainly existed, in nanoseconds since 1970; 0 if that is unknown. If
-- the clock of the file system had ticked since the file's birth, no other file can have both its inode and its birth time.
ALTER TABLE tombstone ADD COLUMN seen_time INTEGER NOT NULL DEFAULT 0;
