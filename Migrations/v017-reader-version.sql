-- The version of the rules by which photod-extract read the content. 0: it was not read, or before this column. If a newer
-- reader comes, files with a failure are read again.
ALTER TABLE resource ADD COLUMN reader_version INTEGER NOT NULL DEFAULT 0;
