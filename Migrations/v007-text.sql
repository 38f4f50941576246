-- Lists that are asked for by media type, or without what is away, are read from the index alone, in order.
DROP INDEX asset_by_date;
CREATE INDEX asset_by_date ON asset (sort_date, id, is_hidden, is_trashed, media_type, directory_id);
DROP INDEX asset_video;
CREATE INDEX asset_video ON asset (sort_date, id, is_hidden, is_trashed, media_type, directory_id) WHERE media_type = 2;
CREATE INDEX asset_audio ON asset (sort_date, id, is_hidden, is_trashed, media_type, directory_id) WHERE media_type = 3;

-- Words that photos are found by: of the filename, title, caption, keywords, camera and lens (TextWords). The index holds no
-- copy of them, and is never the only place where anything is.

-- Assets up to this id are in the index, the others are looked at one by one: a first scan would take half as long again if
-- it filled the index on its way.
CREATE TABLE text_index (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  indexed_through INTEGER NOT NULL,
  -- TextWords.version of the words in it. Of another one it is made anew.
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

-- What the index is told to be of: for its 'rebuild' and 'integrity-check'.
CREATE VIEW asset_indexed (id, words) AS
  SELECT id, words FROM asset_words WHERE id <= (SELECT indexed_through FROM text_index);

-- Words are folded and set apart before they come here, so that FTS5 and the daemon agree on what a word is.
CREATE VIRTUAL TABLE asset_text USING fts5(
  words, content = 'asset_indexed', content_rowid = 'id', tokenize = 'ascii'
);
