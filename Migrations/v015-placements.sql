-- The sequence of the commit in which a person or program last placed an asset in its album, or a collection in its folder.
-- Other assets and collections may get new ranks then, but this number stays. So an undo finds out whether something was
-- placed again since. 0: unknown.
ALTER TABLE album_asset ADD COLUMN placed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tombstone_album ADD COLUMN placed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE collection ADD COLUMN placed INTEGER NOT NULL DEFAULT 0;

-- The collections that a person made, in the order of one folder, as far as ranks decide it.
CREATE INDEX collection_rank ON collection (parent_id, rank) WHERE kind IN (1, 3) OR kind = 0 AND subtype IS NULL;
