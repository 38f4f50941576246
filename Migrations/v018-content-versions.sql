-- The version of a file's content: a random number that the file gets with each change that photod notices; 0 before the first one. A
-- program may change bytes and keep the size, the time and the first 16 KiB, so these do not tell an old picture of the file from a new
-- one. A count would not do either, because a catalog that was rebuilt, or restored from a backup, would give the same number again.
ALTER TABLE resource ADD COLUMN content_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tombstone ADD COLUMN content_version INTEGER NOT NULL DEFAULT 0;
-- Whether a program may have written the file since photod read it, and the file could not be read since. Its size and its time may be
-- those of the reading.
ALTER TABLE resource ADD COLUMN is_in_doubt INTEGER NOT NULL DEFAULT 0;
