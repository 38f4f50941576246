-- How often the content of a file changed while photod knew the file. A program may change bytes and keep the size, the time and the
-- first 16 KiB, so these do not tell an old picture of the file from a new one.
ALTER TABLE resource ADD COLUMN content_changes INTEGER NOT NULL DEFAULT 0;
