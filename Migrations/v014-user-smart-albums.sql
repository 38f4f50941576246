-- A smart album that a person made has kind 0, no subtype, and a query. A smart album of photod has a subtype.
ALTER TABLE collection ADD COLUMN predicate TEXT;
ALTER TABLE collection ADD COLUMN search_text TEXT;
-- Keys separated by commas, each with `-` in front if it descends.
ALTER TABLE collection ADD COLUMN sort_keys TEXT;
ALTER TABLE collection ADD COLUMN fetch_limit INTEGER;
