-- Recently Added and Duplicates.
INSERT INTO collection (kind, subtype, title) VALUES
  (0, 'recentlyAdded', 'Recently Added'),
  (0, 'duplicates', 'Duplicates');

-- Assets without a location are about half of a library, so they have no index of their own. The index by date has this
-- column for them, in one byte each.
ALTER TABLE asset ADD COLUMN has_location INTEGER GENERATED ALWAYS AS (latitude IS NOT NULL) VIRTUAL;
DROP INDEX asset_by_date;
CREATE INDEX asset_by_date ON asset
  (creation_date, id, is_hidden, is_trashed, media_type, directory_id, creation_offset, has_location);

-- Rows are inserted in this order, so an insertion only appends to the index.
CREATE INDEX asset_added ON asset (added_date, id, is_hidden, is_trashed);

-- 1: another asset's first file has the same content (Duplicates.swift).
ALTER TABLE asset ADD COLUMN is_duplicate INTEGER NOT NULL DEFAULT 0;
CREATE INDEX asset_duplicate ON asset (creation_date, id, is_hidden, is_trashed) WHERE is_duplicate = 1;
CREATE INDEX resource_hashed ON resource (fingerprint, byte_count, hash, sample)
  WHERE hash IS NOT NULL AND proof_state IN (2, -2);
UPDATE asset SET is_duplicate = 1 WHERE id IN (
  SELECT file.asset_id FROM resource file
  WHERE file.hash IS NOT NULL AND file.proof_state IN (2, -2) AND EXISTS (
    SELECT 1 FROM resource other
    WHERE other.hash IS NOT NULL AND other.proof_state IN (2, -2) AND other.fingerprint = file.fingerprint
      AND other.byte_count = file.byte_count AND other.hash = file.hash
      AND (file.hash <> x'' OR other.sample = file.sample) AND other.asset_id <> file.asset_id));
