-- What proves that a file is a photo that is known, beside inode and birth time: samples and hashes of content (see
-- ContentMarks and IdentityProof). The fingerprint only finds candidates.

-- 16 bytes each, made when the file had this row's size, times and inode; NULL: not made. An empty hash stands for the
-- sample: that of a small file is its hash. A tombstone has both, since it is found by its hash.
ALTER TABLE resource ADD COLUMN sample BLOB;
ALTER TABLE resource ADD COLUMN hash BLOB;
-- 0: new; 1: its sample is wanted; 2: its hash as well. Below 0: wanted, but made only on request.
ALTER TABLE resource ADD COLUMN proof_state INTEGER NOT NULL DEFAULT 0;
-- New rows are in none of these, so that a first scan writes to no index in random order.
CREATE INDEX resource_content ON resource (fingerprint, byte_count, proof_state, modification_time) WHERE proof_state <> 0;
CREATE INDEX resource_unsampled ON resource (asset_id) WHERE proof_state > 0 AND sample IS NULL AND fingerprint IS NOT NULL;
CREATE INDEX resource_unhashed ON resource (asset_id) WHERE proof_state = 2 AND hash IS NULL AND fingerprint IS NOT NULL;

-- Files that share size and fingerprint, with each other or with a tombstone, are told apart by hashes alone.
CREATE TRIGGER resource_shares_fingerprint AFTER UPDATE OF proof_state, fingerprint ON resource
WHEN new.proof_state <> 0 AND (old.proof_state = 0 OR new.fingerprint IS NOT old.fingerprint) AND (
  EXISTS (SELECT 1 FROM resource other WHERE other.fingerprint = new.fingerprint AND other.byte_count = new.byte_count
    AND other.proof_state <> 0 AND other.asset_id <> new.asset_id)
  OR EXISTS (SELECT 1 FROM tombstone WHERE fingerprint = new.fingerprint AND byte_count = new.byte_count))
BEGIN
  UPDATE resource SET proof_state = 2
  WHERE fingerprint = new.fingerprint AND byte_count = new.byte_count AND proof_state <> 0 AND proof_state IN (1, -1);
END;

-- Files of assets up to this id have a proof_state.
ALTER TABLE library ADD COLUMN proof_through INTEGER NOT NULL DEFAULT 0;

ALTER TABLE tombstone ADD COLUMN sample BLOB;
ALTER TABLE tombstone ADD COLUMN hash BLOB;
DROP INDEX tombstone_content;
CREATE INDEX tombstone_content ON tombstone (fingerprint, modification_time) WHERE fingerprint IS NOT NULL;
CREATE INDEX tombstone_hash ON tombstone (hash, deleted_date) WHERE hash IS NOT NULL;
CREATE INDEX tombstone_path ON tombstone (path) WHERE fingerprint IS NOT NULL;

-- The library's age at each commit, by which tombstones expire: the sum of the times between commits, in microseconds. It is
-- in the row that a commit writes anyway, and the newest row always stays.
ALTER TABLE history ADD COLUMN age INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tombstone ADD COLUMN deleted_age INTEGER NOT NULL DEFAULT 0;
-- What was deleted before the last commit is as old as the wall clock said at that commit, and no older than 29 days: nothing
-- expires with this step.
UPDATE tombstone SET deleted_age =
  -min(max(coalesce((SELECT date FROM history ORDER BY sequence DESC LIMIT 1), deleted_date) - deleted_date, 0), 2505600000000)
WHERE deleted_date IS NOT NULL;
