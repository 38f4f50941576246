-- Lists of one media type, and lists without unavailable assets, are read from the index alone, in their order.
DROP INDEX asset_by_date;
CREATE INDEX asset_by_date ON asset (sort_date, id, is_hidden, is_trashed, media_type, directory_id);
DROP INDEX asset_video;
CREATE INDEX asset_video ON asset (sort_date, id, is_hidden, is_trashed, media_type, directory_id) WHERE media_type = 2;
CREATE INDEX asset_audio ON asset (sort_date, id, is_hidden, is_trashed, media_type, directory_id) WHERE media_type = 3;

-- The words by which a search finds photos: those of the filename, title, caption, keywords, camera and lens (TextWords). The
-- index holds no copy of the texts, so it can be built again from the other tables.

-- Assets up to this id are in the index. A search compares the others one by one. A first scan that filled the index would
-- take half as long again.
CREATE TABLE text_index (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  indexed_through INTEGER NOT NULL,
  -- The version of TextWords that split the texts into words. If it differs from the present one, the index is built again.
  version INTEGER NOT NULL
);
INSERT INTO text_index VALUES (1, 0, 1);

CREATE VIEW asset_words (id, words) AS
  SELECT id, photod_words(
    name, title, caption,
    (SELECT group_concat(word.name, char(57344)) FROM asset_keyword link CROSS JOIN keyword word ON word.id = link.keyword_id
     WHERE link.asset_id = asset.id),
    camera_make, camera_model, camera_lens)
  FROM asset;

-- The rows that belong to the index, for its commands 'rebuild' and 'integrity-check'.
CREATE VIEW asset_indexed (id, words) AS
  SELECT id, words FROM asset_words WHERE id <= (SELECT indexed_through FROM text_index);

-- The texts that FTS5 gets consist of folded words with spaces between them, so that FTS5 and photod split them alike.
CREATE VIRTUAL TABLE asset_text USING fts5(
  words, content = 'asset_indexed', content_rowid = 'id', tokenize = 'ascii'
);
