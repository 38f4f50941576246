// libexif calls malloc for every entry, every value and every directory, and free for each of them again: half of its
// time. An arena gives it zeroed memory from one block, and takes all of it back at once.
#ifndef PHOTOD_EXIFARENA_H
#define PHOTOD_EXIFARENA_H

#include <libexif/exif-data.h>
#include <stddef.h>

/// The block is its owner's. All other fields are the arena's own and begin as 0.
struct exifarena {
  void *block;
  size_t capacity;
  size_t used;
  void *overflow;
};

/// An empty ExifData whose memory, with all that is loaded into it, is the arena's. NULL where there is none.
/// It belongs to the calling thread until `exifarena_end`, and no other may be begun there before. It is never unreferenced.
ExifData *exifarena_begin(struct exifarena *arena);

/// Takes back all memory since `exifarena_begin`: no pointer into the ExifData is valid any more.
void exifarena_end(struct exifarena *arena);

#endif
