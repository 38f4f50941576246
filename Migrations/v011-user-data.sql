-- This step adds the fields of an asset that a person typed, and folders of albums.

CREATE TABLE asset_edit (
  asset_id INTEGER PRIMARY KEY,         -- an asset or a tombstone
  edits TEXT NOT NULL,                  -- fields key=value, as in the journal of user data (AssetEdits)
  -- The values of the file for the same fields, in the same form (EditableFields). The columns of the table asset have the values
  -- that count, so that indexes, predicates and the word index stay right. NULL for a tombstone.
  file TEXT
);

-- kind 3 is a folder of the user's albums. The collections of one folder are ordered by rank and then by title. All of them
-- have rank 0 until a person gives one of them a position.
ALTER TABLE collection ADD COLUMN parent_id INTEGER REFERENCES collection (id);
ALTER TABLE collection ADD COLUMN rank REAL NOT NULL DEFAULT 0;
CREATE INDEX collection_parent ON collection (parent_id) WHERE parent_id IS NOT NULL;

-- The rank of a deleted asset counts when assets are placed beside it, because it may return.
CREATE INDEX tombstone_album_order ON tombstone_album (collection_id, rank);
