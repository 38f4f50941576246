-- Beside the catalog there is a journal of what a person typed (UserDataJournal). Both agree by a number.

ALTER TABLE library ADD COLUMN journal_number INTEGER NOT NULL DEFAULT 0;   -- of the last batch that is in here

-- What a person must be told of what became of the catalog, until they say that they know.
CREATE TABLE notice (
  id INTEGER PRIMARY KEY,
  date INTEGER NOT NULL,
  message TEXT NOT NULL,
  file TEXT                             -- what was moved aside: removing it is an answer; NULL: none was
);
