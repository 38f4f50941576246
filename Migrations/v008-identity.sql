-- Samples and hashes of content prove that a file is a known photo, as inode and birth time do (see ContentMarks and
-- IdentityProof). The fingerprint only finds candidates.

-- Both have 16 bytes, and belong to the size, times and inode of this row; NULL if they were not made. The sample of a small
-- file is also its hash. Then the hash is empty here. A tombstone has both, because it is found by its hash.
ALTER TABLE resource ADD COLUMN sample BLOB;
ALTER TABLE resource ADD COLUMN hash BLOB;
-- 0: a new row; 1: a sample is needed; 2: a sample and a hash are needed. -1 and -2 mean the same, but photod makes them only
-- if a person requests it.
ALTER TABLE resource ADD COLUMN proof_state INTEGER NOT NULL DEFAULT 0;
-- New rows are in none of these indexes, so that a first scan writes to no index in random order.
CREATE INDEX resource_content ON resource (fingerprint, byte_count, proof_state, modification_time) WHERE proof_state <> 0;
CREATE INDEX resource_unsampled ON resource (asset_id) WHERE proof_state > 0 AND sample IS NULL AND fingerprint IS NOT NULL;
CREATE INDEX resource_unhashed ON resource (asset_id) WHERE proof_state = 2 AND hash IS NULL AND fingerprint IS NOT NULL;

-- Only hashes distinguish files that share size and fingerprint with each other or with a tombstone.
CREATE TRIGGER resource_shares_fingerprint AFTER UPDATE OF proof_state, fingerprint ON resource
WHEN new.proof_state <> 0 AND (old.proof_state = 0 OR new.fingerprint IS NOT old.fingerprint) AND (
  EXISTS (SELECT 1 FROM resource other WHERE other.fingerprint = new.fingerprint AND other.byte_count = new.byte_count
    AND other.proof_state <> 0 AND other.asset_id <> new.asset_id)
  OR EXISTS (SELECT 1 FROM tombstone WHERE fingerprint = new.fingerprint AND byte_count = new.byte_count))
BEGIN
  UPDATE resource SET proof_state = 2
  WHERE fingerprint = new.fingerprint AND byte_count = new.byte_count AND proof_state <> 0 AND proof_state IN (1, -1);
END;

-- The files of all assets up to this id have a proof_state other than 0.
ALTER TABLE library ADD COLUMN proof_through INTEGER NOT NULL DEFAULT 0;

ALTER TABLE tombstone ADD COLUMN sample BLOB;
ALTER TABLE tombstone ADD COLUMN hash BLOB;
DROP INDEX tombstone_content;
CREATE INDEX tombstone_content ON tombstone (fingerprint, modification_time) WHERE fingerprint IS NOT NULL;
CREATE INDEX tombstone_hash ON tombstone (hash, deleted_date) WHERE hash IS NOT NULL;
CREATE INDEX tombstone_path ON tombstone (path) WHERE fingerprint IS NOT NULL;

-- Tombstones expire by the library's age: the sum of the times between commits, in microseconds. The age is in the row that a
-- commit writes anyway, and the newest row always stays.
ALTER TABLE history ADD COLUMN age INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tombstone ADD COLUMN deleted_age INTEGER NOT NULL DEFAULT 0;
-- The age of an existing tombstone follows from the wall clock at the last commit. It is at most 29 days, so that no tombstone
-- expires with this step.
UPDATE tombstone SET deleted_age =
  -min(max(coalesce((SELECT date FROM history ORDER BY sequence DESC LIMIT 1), deleted_date) - deleted_date, 0), 2505600000000)
WHERE deleted_date IS NOT NULL;
