-- What makes a file the same photo when its place doesn't, and what is kept of a photo that is gone.

-- Of the first 16 KiB and the size: 64 bits, the same for the same content on every machine (ContentFingerprint);
-- NULL: not known. Without an index: what looks for content looks among few, the tombstones and the newest files.
ALTER TABLE resource ADD COLUMN fingerprint INTEGER;

-- An asset that left the library. When its file comes back, it gets all of this again.
CREATE TABLE tombstone (
  asset_id INTEGER PRIMARY KEY,         -- an asset has this id, or a tombstone, or neither; never both
  deleted_date INTEGER,                 -- NULL: it never expires; what was typed for files that a new catalog has yet to find
  path TEXT NOT NULL,                   -- of its first file, absolute
  volume_id INTEGER,                    -- NULL: not known, as inode and birth_time then
  inode INTEGER NOT NULL,
  birth_time INTEGER NOT NULL,
  byte_count INTEGER NOT NULL,          -- -1: not known
  modification_time INTEGER NOT NULL,
  fingerprint INTEGER,
  added_date INTEGER NOT NULL,
  is_favorite INTEGER NOT NULL,
  is_hidden INTEGER NOT NULL
);
CREATE INDEX tombstone_inode ON tombstone (inode) WHERE volume_id IS NOT NULL;
CREATE INDEX tombstone_content ON tombstone (fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX tombstone_lasting_path ON tombstone (path) WHERE deleted_date IS NULL;

-- The user's albums that it was in. An album that is deleted meanwhile is passed over: its id is never another's.
CREATE TABLE tombstone_album (
  asset_id INTEGER NOT NULL,
  collection_id INTEGER NOT NULL,
  rank REAL NOT NULL,
  PRIMARY KEY (asset_id, collection_id)
) WITHOUT ROWID;

-- What was read before this version is read once more, for its fingerprint.
UPDATE resource SET read_time = 0;
