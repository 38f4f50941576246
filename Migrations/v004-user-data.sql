-- There is a journal of user data beside the catalog (UserDataJournal). Equal numbers in both show that they agree.

ALTER TABLE library ADD COLUMN journal_number INTEGER NOT NULL DEFAULT 0;   -- the last batch of the journal that the catalog has

-- Warnings about the fate of an earlier catalog, for example that it was rebuilt. They stay until a person acknowledges them.
CREATE TABLE notice (
  id INTEGER PRIMARY KEY,
  date INTEGER NOT NULL,
  message TEXT NOT NULL,
  file TEXT                             -- the file that was moved aside, or NULL; removing it acknowledges the warning
);
