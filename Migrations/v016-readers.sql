-- photod-extract reads HEIF, RAW, video and other formats. Before, photod knew only their type. It also reads more of
-- JPEG, PNG and TIFF: lenses, text chunks, several EXIF segments, and marks such as those of motion photos. A GIF or WebP
-- with one frame is not animated any more. XMP and makers' notes are read by other rules in all formats. So all files are
-- read again in the background.
UPDATE resource SET read_time = 0;
