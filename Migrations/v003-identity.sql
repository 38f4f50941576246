-- This step adds fingerprints, which find the photo of a file that has a new place, and tombstones of deleted photos.

-- 64 bits that depend on the first 16 KiB and the size, and are the same on every machine (ContentFingerprint). NULL if
-- they are unknown. There is no index, because a search by content compares only tombstones and the newest files.
ALTER TABLE resource ADD COLUMN fingerprint INTEGER;

-- An asset that left the library. When its file comes back, it gets all of this again.
CREATE TABLE tombstone (
  asset_id INTEGER PRIMARY KEY,         -- an asset has this id, or a tombstone, or neither; never both
  deleted_date INTEGER,                 -- NULL: it never expires, because a new catalog has not found the file of this user data yet
  path TEXT NOT NULL,                   -- the absolute path of its first file
  volume_id INTEGER,                    -- NULL: unknown; then inode and birth_time are unknown, too
  inode INTEGER NOT NULL,
  birth_time INTEGER NOT NULL,
  byte_count INTEGER NOT NULL,          -- -1: unknown
  modification_time INTEGER NOT NULL,
  fingerprint INTEGER,
  added_date INTEGER NOT NULL,
  is_favorite INTEGER NOT NULL,
  is_hidden INTEGER NOT NULL
);
CREATE INDEX tombstone_inode ON tombstone (inode) WHERE volume_id IS NOT NULL;
CREATE INDEX tombstone_content ON tombstone (fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX tombstone_lasting_path ON tombstone (path) WHERE deleted_date IS NULL;

-- The user's albums in which the asset was. If an album has been deleted since, its row has no effect, because no other
-- album gets its id.
CREATE TABLE tombstone_album (
  asset_id INTEGER NOT NULL,
  collection_id INTEGER NOT NULL,
  rank REAL NOT NULL,
  PRIMARY KEY (asset_id, collection_id)
) WITHOUT ROWID;

-- All files are read once more, for their fingerprints.
UPDATE resource SET read_time = 0;
