-- Until when a deleted asset's file was certainly there (nanoseconds since 1970): one that outlived the tick of the clock in
-- which it was made has left inode and birth time to no other. 0: not known.
ALTER TABLE tombstone ADD COLUMN seen_time INTEGER NOT NULL DEFAULT 0;
