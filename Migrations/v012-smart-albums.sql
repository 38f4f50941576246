-- More smart albums (SmartAlbum). Their titles are shown until a client translates the subtype.
INSERT INTO collection (kind, subtype, title) VALUES
  (0, 'panoramas', 'Panoramas'),
  (0, 'animated', 'Animated'),
  (0, 'raw', 'RAW'),
  (0, 'bursts', 'Bursts'),
  (0, 'livePhotos', 'Live Photos'),
  (0, 'depth', 'Depth'),
  (0, 'noLocation', 'No Location'),
  (0, 'hidden', 'Hidden'),
  (0, 'unreadable', 'Unable to Read');

-- 499: livePhoto, motionPhoto, panorama, raw, animated, burst and depth. Few assets have one of them.
CREATE INDEX asset_rare_subtype ON asset (creation_date, id, is_hidden, is_trashed, media_subtypes)
  WHERE media_subtypes & 499 <> 0;
CREATE INDEX asset_hidden ON asset (creation_date, id, is_trashed) WHERE is_hidden = 1;

-- The list of unreadable assets is read in its order.
DROP INDEX asset_failed;
CREATE INDEX asset_failed ON asset (creation_date, id, is_hidden, is_trashed) WHERE failure IS NOT NULL;
