-- Words that describe assets, as their files have them. A word is stored once, for as long as an asset has it.

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

-- All photos are read once more, because photod now reads keywords and the other texts of XMP and IPTC.
UPDATE resource SET read_time = 0 WHERE kind = 0;
