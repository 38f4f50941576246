-- Words that describe assets, as their files have them. A word is stored once.

CREATE TABLE keyword (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE             -- as written; words that differ in case are different
);

CREATE TABLE asset_keyword (
  asset_id INTEGER NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
  keyword_id INTEGER NOT NULL REFERENCES keyword (id),
  position INTEGER NOT NULL,            -- in the file's order
  PRIMARY KEY (asset_id, keyword_id)
) WITHOUT ROWID;
CREATE INDEX asset_of_keyword ON asset_keyword (keyword_id, asset_id);

-- What was read before this version is read once more, for its keywords.
UPDATE resource SET read_time = 0 WHERE kind = 0;
