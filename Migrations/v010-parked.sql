-- A folder is parked while another folder is in its place and its new place is not known yet. Before, this was
-- marked in its name: a control character, 'parked-', the folder's id and its own name. A folder on the disk could have such a name too.

-- The old index does not admit a parked folder with its own name.
DROP INDEX directory_place;
ALTER TABLE directory ADD COLUMN parked_id INTEGER NOT NULL DEFAULT 0;   -- 0 if it is in its place, else the folder's own id
UPDATE directory SET
  parked_id = id,
  name = CAST(substr(CAST(name AS BLOB), length('.parked-' || id || '-') + 1) AS TEXT)
WHERE substr(CAST(name AS BLOB), 1, length('.parked-' || id || '-')) = CAST(char(1) || 'parked-' || id || '-' AS BLOB);
CREATE UNIQUE INDEX directory_place ON directory (parent_id, name, parked_id) WHERE parent_id IS NOT NULL;

-- The folder's name in paths. While it is parked, no path of the disk may lead to its photos: the name is then that of
-- another folder.
ALTER TABLE directory ADD COLUMN path_name TEXT
  GENERATED ALWAYS AS (CASE parked_id WHEN 0 THEN name ELSE char(1) || 'parked-' || id || '-' || name END) VIRTUAL;
