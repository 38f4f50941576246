-- The catalog of one library. Conventions:
--   dates      microseconds since 1970-01-01 UTC; a date without an offset is the camera's clock read as if it were UTC
--   file times nanoseconds since 1970, as stat(2) gives them; 0 if the file system has none
--   names      the bytes of the file system, stored as text even if they are not UTF-8
--   paths      only roots have one; a file is (directory, name) and a directory is (parent, name), so a renamed
--              directory or an unplugged drive changes one row

CREATE TABLE library (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  uuid TEXT NOT NULL,
  epoch INTEGER NOT NULL,       -- rises when commits may have been lost
  boot_id TEXT NOT NULL,        -- the boot in which the catalog was last opened
  is_clean INTEGER NOT NULL     -- 1: photod closed the catalog before it ended
);

-- A file system. Its own identity distinguishes it (its UUID if it has one), never a device number.
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
);
CREATE UNIQUE INDEX directory_place ON directory (parent_id, name) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX directory_top ON directory (root_id) WHERE root_id IS NOT NULL;
CREATE INDEX directory_inode ON directory (inode);

CREATE TABLE asset (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  media_type INTEGER NOT NULL,          -- 0 unknown, 1 image, 2 video, 3 audio
  media_subtypes INTEGER NOT NULL,      -- bits: livePhoto 1, panorama 2, hdr 4, screenshot 8, raw 16, animated 32, motionPhoto 64, burst 128, depth 256
  creation_date INTEGER,
  creation_offset INTEGER,              -- minutes east of UTC; NULL: unknown
  sort_date INTEGER NOT NULL,           -- creation_date, else added_date
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
);
CREATE INDEX asset_by_date ON asset (sort_date, id, is_hidden, is_trashed);
CREATE INDEX asset_by_directory ON asset (directory_id, sort_date, id, is_hidden, is_trashed);
CREATE INDEX asset_favorite ON asset (sort_date, id, is_hidden, is_trashed) WHERE is_favorite = 1;
CREATE INDEX asset_video ON asset (sort_date, id, is_hidden, is_trashed) WHERE media_type = 2;
CREATE INDEX asset_screenshot ON asset (sort_date, id, is_hidden, is_trashed) WHERE media_subtypes & 8 <> 0;
CREATE INDEX asset_failed ON asset (id) WHERE failure IS NOT NULL;

-- A file of an asset; position 0 is the one to show first.
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
  read_time INTEGER NOT NULL,           -- when its content was read; 0: not yet
  PRIMARY KEY (directory_id, name)
) WITHOUT ROWID;
CREATE INDEX resource_inode ON resource (inode);
CREATE INDEX resource_companion ON resource (asset_id, position) WHERE position > 0;

CREATE TABLE collection (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind INTEGER NOT NULL,                -- 0 smart album, 1 album, 2 folder album
  subtype TEXT,                         -- only a smart album has one
  title TEXT,                           -- NULL for a folder album: its title is the name of the directory
  directory_id INTEGER UNIQUE REFERENCES directory (id),
  key_asset_id INTEGER
);
CREATE UNIQUE INDEX collection_subtype ON collection (subtype) WHERE subtype IS NOT NULL;

-- The members of a user's album, in its own order.
CREATE TABLE album_asset (
  collection_id INTEGER NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
  asset_id INTEGER NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
  rank REAL NOT NULL,
  PRIMARY KEY (collection_id, asset_id)
) WITHOUT ROWID;
CREATE INDEX album_order ON album_asset (collection_id, rank, asset_id);
CREATE INDEX album_of_asset ON album_asset (asset_id);

INSERT INTO collection (kind, subtype, title) VALUES
  (0, 'recents', 'Recents'),
  (0, 'favorites', 'Favorites'),
  (0, 'videos', 'Videos'),
  (0, 'screenshots', 'Screenshots');

-- One row for each commit, with everything that it touched. The columns hold packed lists of ids (see PackedIDs).
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
);

-- Directories that got a new path. The paths of their assets changed too, but the table history does not list them.
CREATE TABLE history_directory (
  sequence INTEGER NOT NULL REFERENCES history (sequence) ON DELETE CASCADE,
  directory_id INTEGER NOT NULL,
  from_path TEXT NOT NULL,
  to_path TEXT NOT NULL
);
CREATE INDEX history_directory_sequence ON history_directory (sequence);

-- Roots that became available or unavailable.
CREATE TABLE history_root (
  sequence INTEGER NOT NULL REFERENCES history (sequence) ON DELETE CASCADE,
  root_id INTEGER NOT NULL,
  path TEXT NOT NULL,
  is_available INTEGER NOT NULL
);
CREATE INDEX history_root_sequence ON history_root (sequence);
