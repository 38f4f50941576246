// libexif calls malloc for every entry, value and directory, and later free for each: half of its time. An arena
// supplies zeroed memory from one block, and releases all of it at once.
#ifndef PHOTOD_EXIFARENA_H
#define PHOTOD_EXIFARENA_H

#include <libexif/exif-data.h>
#include <stddef.h>

/// The caller owns the block. The arena manages all other fields, which must begin as 0.
struct exifarena {
  void *block;
  size_t capacity;
  size_t used;
  void *overflow;
};

/// Returns an empty ExifData. The arena owns its memory, and that of everything loaded into it. NULL if memory is
/// exhausted. The arena belongs to the calling thread until `exifarena_end`. Until then, no other may begin on that
/// thread. The ExifData is never unreferenced.
ExifData *exifarena_begin(struct exifarena *arena);

/// Releases all memory given out since `exifarena_begin`. Pointers into the ExifData become invalid.
void exifarena_end(struct exifarena *arena);

#endif
