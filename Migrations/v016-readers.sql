-- photod-extract reads HEIF, RAW, video and other formats, of which only the type was known before. It also reads more of
-- JPEG, PNG and TIFF: lenses, text chunks, several EXIF segments, and marks such as those of motion photos. Files of these
-- formats are read again in the background. GIF and WebP had all their facts.
UPDATE resource SET read_time = 0 WHERE content_type NOT IN ('image/gif', 'image/webp');
