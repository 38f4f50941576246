-- Every asset has a creation date, with its source. If the metadata has none, the date comes from the name of the file, or
-- else from the oldest modification time that photod saw (CreationDate).

DROP INDEX asset_by_date;
DROP INDEX asset_by_directory;
DROP INDEX asset_favorite;
DROP INDEX asset_video;
DROP INDEX asset_audio;
DROP INDEX asset_screenshot;

-- Assets that a migration changed. The catalog writes them to the history when it is opened, and empties this table then.
CREATE TABLE migrated_asset (id INTEGER PRIMARY KEY);
INSERT INTO migrated_asset SELECT id FROM asset WHERE creation_date IS NULL;

-- Images of these formats are read again: their XMP, their IPTC or an old PNG's text may have a date.
UPDATE resource SET read_time = 0
WHERE kind = 0 AND content_type IN ('image/jpeg', 'image/png', 'image/tiff', 'image/webp', 'image/gif')
  AND asset_id IN (SELECT id FROM migrated_asset);

-- 0 user, 1 metadata, 2 filename, 3 file
ALTER TABLE asset ADD COLUMN creation_source INTEGER NOT NULL DEFAULT 1;
UPDATE asset SET
  sort_date = photod_created_date(name, modification_date, added_date),
  creation_offset = photod_created_offset(name, modification_date, added_date),
  creation_source = photod_created_source(name, modification_date, added_date)
WHERE creation_date IS NULL;
ALTER TABLE asset DROP COLUMN creation_date;
ALTER TABLE asset RENAME COLUMN sort_date TO creation_date;

-- Lists of a day select by the local date of the photo, which follows from date and offset.
CREATE INDEX asset_by_date ON asset (creation_date, id, is_hidden, is_trashed, media_type, directory_id, creation_offset);
CREATE INDEX asset_by_directory ON asset (directory_id, creation_date, id, is_hidden, is_trashed);
CREATE INDEX asset_favorite ON asset (creation_date, id, is_hidden, is_trashed) WHERE is_favorite = 1;
CREATE INDEX asset_video ON asset (creation_date, id, is_hidden, is_trashed, media_type, directory_id)
  WHERE media_type = 2;
CREATE INDEX asset_audio ON asset (creation_date, id, is_hidden, is_trashed, media_type, directory_id)
  WHERE media_type = 3;
CREATE INDEX asset_screenshot ON asset (creation_date, id, is_hidden, is_trashed) WHERE media_subtypes & 8 <> 0;

-- The creation date of a deleted asset. A deleted asset that comes back keeps it, as it keeps its id. NULL: unknown.
ALTER TABLE tombstone ADD COLUMN creation_date INTEGER;
ALTER TABLE tombstone ADD COLUMN creation_offset INTEGER;
ALTER TABLE tombstone ADD COLUMN creation_source INTEGER;
