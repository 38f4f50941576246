-- The tables of a new catalog. This file is made of the steps v001 to the last one, which explain the tables:
-- after a new step, PHOTOD_RECORD_SNAPSHOTS=1 Scripts/test --filter SchemaTests writes it anew.

CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
CREATE TABLE library (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  uuid TEXT NOT NULL,
  epoch INTEGER NOT NULL,       -- rises when commits may have been lost
  boot_id TEXT NOT NULL,        -- the boot in which the catalog was last opened
  is_clean INTEGER NOT NULL     -- 1: photod closed the catalog before it ended
, journal_number INTEGER NOT NULL DEFAULT 0, proof_through INTEGER NOT NULL DEFAULT 0);
CREATE TABLE volume (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  identity TEXT NOT NULL UNIQUE
);
CREATE TABLE root (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL UNIQUE,
  is_available INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE directory (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  parent_id INTEGER REFERENCES directory (id),          -- NULL: the top of a root
  root_id INTEGER REFERENCES root (id),                 -- only the top of a root has one
  name TEXT NOT NULL,                                   -- empty for the top of a root
  volume_id INTEGER NOT NULL REFERENCES volume (id),
  inode INTEGER NOT NULL,
  birth_time INTEGER NOT NULL
, is_available INTEGER NOT NULL DEFAULT 1, parked_id INTEGER NOT NULL DEFAULT 0, path_name TEXT
  GENERATED ALWAYS AS (CASE parked_id WHEN 0 THEN name ELSE char(1) || 'parked-' || id || '-' || name END) VIRTUAL);
CREATE UNIQUE INDEX directory_top ON directory (root_id) WHERE root_id IS NOT NULL;
CREATE INDEX directory_inode ON directory (inode);
CREATE INDEX directory_away ON directory (id) WHERE is_available = 0;
CREATE UNIQUE INDEX directory_place ON directory (parent_id, name, parked_id) WHERE parent_id IS NOT NULL;
CREATE TABLE asset (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  media_type INTEGER NOT NULL,          -- 0 unknown, 1 image, 2 video, 3 audio
  media_subtypes INTEGER NOT NULL,      -- bits: livePhoto 1, panorama 2, hdr 4, screenshot 8, raw 16, animated 32, motionPhoto 64, burst 128, depth 256
  creation_offset INTEGER,              -- minutes east of UTC; NULL: unknown
  creation_date INTEGER NOT NULL,           -- creation_date, else added_date
  modification_date INTEGER NOT NULL,
  added_date INTEGER NOT NULL,
  pixel_width INTEGER,
  pixel_height INTEGER,
  orientation INTEGER,
  duration REAL,                        -- seconds
  latitude REAL,
  longitude REAL,
  altitude REAL,
  camera_make TEXT,
  camera_model TEXT,
  camera_lens TEXT,
  exposure REAL,                        -- seconds
  f_number REAL,
  iso INTEGER,
  focal_length REAL,                    -- millimetres
  flash_fired INTEGER,
  title TEXT,
  caption TEXT,
  rating INTEGER,                       -- 0...5
  burst_identifier TEXT,
  is_favorite INTEGER NOT NULL DEFAULT 0,
  is_hidden INTEGER NOT NULL DEFAULT 0,
  is_trashed INTEGER NOT NULL DEFAULT 0,
  failure TEXT,                         -- why the content could not be read
  -- The first resource, repeated here so that lists need no join.
  directory_id INTEGER NOT NULL REFERENCES directory (id),
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,               -- the name with its case folded, for sorting
  byte_count INTEGER NOT NULL,
  content_type TEXT NOT NULL
, creation_source INTEGER NOT NULL DEFAULT 1, has_location INTEGER GENERATED ALWAYS AS (latitude IS NOT NULL) VIRTUAL, is_duplicate INTEGER NOT NULL DEFAULT 0);
CREATE INDEX asset_by_directory ON asset (directory_id, creation_date, id, is_hidden, is_trashed);
CREATE INDEX asset_favorite ON asset (creation_date, id, is_hidden, is_trashed) WHERE is_favorite = 1;
CREATE INDEX asset_video ON asset (creation_date, id, is_hidden, is_trashed, media_type, directory_id)
  WHERE media_type = 2;
CREATE INDEX asset_audio ON asset (creation_date, id, is_hidden, is_trashed, media_type, directory_id)
  WHERE media_type = 3;
CREATE INDEX asset_screenshot ON asset (creation_date, id, is_hidden, is_trashed) WHERE media_subtypes & 8 <> 0;
CREATE INDEX asset_rare_subtype ON asset (creation_date, id, is_hidden, is_trashed, media_subtypes)
  WHERE media_subtypes & 499 <> 0;
CREATE INDEX asset_hidden ON asset (creation_date, id, is_trashed) WHERE is_hidden = 1;
CREATE INDEX asset_failed ON asset (creation_date, id, is_hidden, is_trashed) WHERE failure IS NOT NULL;
CREATE INDEX asset_by_date ON asset
  (creation_date, id, is_hidden, is_trashed, media_type, directory_id, creation_offset, has_location);
CREATE INDEX asset_added ON asset (added_date, id, is_hidden, is_trashed);
CREATE INDEX asset_duplicate ON asset (creation_date, id, is_hidden, is_trashed) WHERE is_duplicate = 1;
CREATE INDEX asset_invisible ON asset (is_hidden, is_trashed) WHERE is_hidden <> 0 OR is_trashed <> 0;
CREATE TABLE resource (
  directory_id INTEGER NOT NULL REFERENCES directory (id),
  name TEXT NOT NULL,
  asset_id INTEGER NOT NULL,            -- no foreign key: its check would need an index over every file
  position INTEGER NOT NULL,
  kind INTEGER NOT NULL,                -- 0 photo, 1 video, 2 audio, 3 alternatePhoto, 4 pairedVideo, 5 adjustedPhoto, 6 sidecar
  content_type TEXT NOT NULL,
  byte_count INTEGER NOT NULL,
  modification_time INTEGER NOT NULL,
  change_time INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  birth_time INTEGER NOT NULL,
  read_time INTEGER NOT NULL, fingerprint INTEGER, sample BLOB, hash BLOB, proof_state INTEGER NOT NULL DEFAULT 0, reader_version INTEGER NOT NULL DEFAULT 0, content_version INTEGER NOT NULL DEFAULT 0, is_in_doubt INTEGER NOT NULL DEFAULT 0,           -- when its content was read; 0: not yet
  PRIMARY KEY (directory_id, name)
) WITHOUT ROWID;
CREATE INDEX resource_inode ON resource (inode);
CREATE INDEX resource_companion ON resource (asset_id, position) WHERE position > 0;
CREATE INDEX resource_content ON resource (fingerprint, byte_count, proof_state, modification_time) WHERE proof_state <> 0;
CREATE INDEX resource_unsampled ON resource (asset_id) WHERE proof_state > 0 AND sample IS NULL AND fingerprint IS NOT NULL;
CREATE INDEX resource_unhashed ON resource (asset_id) WHERE proof_state = 2 AND hash IS NULL AND fingerprint IS NOT NULL;
CREATE TRIGGER resource_shares_fingerprint AFTER UPDATE OF proof_state, fingerprint ON resource
WHEN new.proof_state <> 0 AND (old.proof_state = 0 OR new.fingerprint IS NOT old.fingerprint) AND (
  EXISTS (SELECT 1 FROM resource other WHERE other.fingerprint = new.fingerprint AND other.byte_count = new.byte_count
    AND other.proof_state <> 0 AND other.asset_id <> new.asset_id)
  OR EXISTS (SELECT 1 FROM tombstone WHERE fingerprint = new.fingerprint AND byte_count = new.byte_count))
BEGIN
  UPDATE resource SET proof_state = 2
  WHERE fingerprint = new.fingerprint AND byte_count = new.byte_count AND proof_state <> 0 AND proof_state IN (1, -1);
END;
CREATE INDEX resource_hashed ON resource (fingerprint, byte_count, hash, sample)
  WHERE hash IS NOT NULL AND proof_state IN (2, -2);
CREATE TABLE collection (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind INTEGER NOT NULL,                -- 0 smart album, 1 album, 2 folder album
  subtype TEXT,                         -- only a smart album has one
  title TEXT,                           -- NULL for a folder album: its title is the name of the directory
  directory_id INTEGER UNIQUE REFERENCES directory (id),
  key_asset_id INTEGER
, parent_id INTEGER REFERENCES collection (id), rank REAL NOT NULL DEFAULT 0, predicate TEXT, search_text TEXT, sort_keys TEXT, fetch_limit INTEGER, placed INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX collection_subtype ON collection (subtype) WHERE subtype IS NOT NULL;
CREATE INDEX collection_parent ON collection (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX collection_rank ON collection (parent_id, rank) WHERE kind IN (1, 3) OR kind = 0 AND subtype IS NULL;
CREATE TABLE album_asset (
  collection_id INTEGER NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
  asset_id INTEGER NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
  rank REAL NOT NULL, placed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (collection_id, asset_id)
) WITHOUT ROWID;
CREATE INDEX album_order ON album_asset (collection_id, rank, asset_id);
CREATE INDEX album_of_asset ON album_asset (asset_id);
CREATE TABLE history (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  date INTEGER NOT NULL,
  origin TEXT NOT NULL,
  inserted_assets BLOB,
  updated_assets BLOB,                  -- each id with the kinds of its changed fields
  deleted_assets BLOB,
  inserted_collections BLOB,
  updated_collections BLOB,
  deleted_collections BLOB
, age INTEGER NOT NULL DEFAULT 0);
CREATE TABLE history_directory (
  sequence INTEGER NOT NULL REFERENCES history (sequence) ON DELETE CASCADE,
  directory_id INTEGER NOT NULL,
  from_path TEXT NOT NULL,
  to_path TEXT NOT NULL
);
CREATE INDEX history_directory_sequence ON history_directory (sequence);
CREATE TABLE history_root (
  sequence INTEGER NOT NULL REFERENCES history (sequence) ON DELETE CASCADE,
  root_id INTEGER NOT NULL,
  path TEXT NOT NULL,
  is_available INTEGER NOT NULL
, directory_id INTEGER);
CREATE INDEX history_root_sequence ON history_root (sequence);
CREATE TABLE keyword (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE             -- as written; words that differ in case are different
);
CREATE TABLE asset_keyword (
  asset_id INTEGER NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,            -- in the file's order, from 0
  keyword_id INTEGER NOT NULL REFERENCES keyword (id),
  PRIMARY KEY (asset_id, position)
) WITHOUT ROWID;
CREATE UNIQUE INDEX asset_of_keyword ON asset_keyword (keyword_id, asset_id);
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
, seen_time INTEGER NOT NULL DEFAULT 0, sample BLOB, hash BLOB, deleted_age INTEGER NOT NULL DEFAULT 0, creation_date INTEGER, creation_offset INTEGER, creation_source INTEGER, content_version INTEGER NOT NULL DEFAULT 0);
CREATE INDEX tombstone_inode ON tombstone (inode) WHERE volume_id IS NOT NULL;
CREATE INDEX tombstone_lasting_path ON tombstone (path) WHERE deleted_date IS NULL;
CREATE INDEX tombstone_content ON tombstone (fingerprint, modification_time) WHERE fingerprint IS NOT NULL;
CREATE INDEX tombstone_hash ON tombstone (hash, deleted_date) WHERE hash IS NOT NULL;
CREATE INDEX tombstone_path ON tombstone (path) WHERE fingerprint IS NOT NULL;
CREATE TABLE tombstone_album (
  asset_id INTEGER NOT NULL,
  collection_id INTEGER NOT NULL,
  rank REAL NOT NULL, placed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (asset_id, collection_id)
) WITHOUT ROWID;
CREATE INDEX tombstone_album_order ON tombstone_album (collection_id, rank);
CREATE TABLE notice (
  id INTEGER PRIMARY KEY,
  date INTEGER NOT NULL,
  message TEXT NOT NULL,
  file TEXT                             -- the file that was moved aside, or NULL; removing it acknowledges the warning
);
CREATE TABLE text_index (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  indexed_through INTEGER NOT NULL,
  -- The version of TextWords that split the texts into words. If it differs from the present one, the index is built again.
  version INTEGER NOT NULL
);
CREATE VIEW asset_words (id, words) AS
  SELECT id, photod_words(
    name, title, caption,
    (SELECT group_concat(word.name, char(57344)) FROM asset_keyword link CROSS JOIN keyword word ON word.id = link.keyword_id
     WHERE link.asset_id = asset.id),
    camera_make, camera_model, camera_lens)
  FROM asset;
CREATE VIEW asset_indexed (id, words) AS
  SELECT id, words FROM asset_words WHERE id <= (SELECT indexed_through FROM text_index);
CREATE VIRTUAL TABLE asset_text USING fts5(
  words, content = 'asset_indexed', content_rowid = 'id', tokenize = 'ascii'
);
CREATE TABLE migrated_asset (id INTEGER PRIMARY KEY);
CREATE TABLE asset_edit (
  asset_id INTEGER PRIMARY KEY,         -- an asset or a tombstone
  edits TEXT NOT NULL,                  -- fields key=value, as in the journal of user data (AssetEdits)
  -- The values of the file for the same fields, in the same form (EditableFields). The columns of the table asset have the values
  -- that count, so that indexes, predicates and the word index stay right. NULL for a tombstone.
  file TEXT
);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (1, 0, 'recents', 'Recents', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (2, 0, 'favorites', 'Favorites', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (3, 0, 'videos', 'Videos', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (4, 0, 'screenshots', 'Screenshots', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (5, 0, 'panoramas', 'Panoramas', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (6, 0, 'animated', 'Animated', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (7, 0, 'raw', 'RAW', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (8, 0, 'bursts', 'Bursts', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (9, 0, 'livePhotos', 'Live Photos', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (10, 0, 'depth', 'Depth', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (11, 0, 'noLocation', 'No Location', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (12, 0, 'hidden', 'Hidden', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (13, 0, 'unreadable', 'Unable to Read', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (14, 0, 'recentlyAdded', 'Recently Added', 0.0, 0);
INSERT INTO collection (id, kind, subtype, title, rank, placed) VALUES (15, 0, 'duplicates', 'Duplicates', 0.0, 0);
INSERT INTO text_index (id, indexed_through, version) VALUES (1, 0, 1);
