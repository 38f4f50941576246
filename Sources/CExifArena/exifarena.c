#include "exifarena.h"

#include <libexif/exif-mem.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// libexif's allocator functions take no context.
static _Thread_local struct exifarena *current;

// The size is stored before every piece, so that the piece can be copied to a larger one. Both keep malloc's alignment.
enum { ALIGNMENT = 16 };

// A piece for which the block had no room.
struct overflow {
  struct overflow *next;
  uint64_t padding;
};

static void *allocate(ExifLong size) {
  struct exifarena *arena = current;
  if (!arena) return NULL;
  size_t need = ALIGNMENT + ((size_t)size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  char *piece;
  if (need <= arena->capacity - arena->used) {
    piece = (char *)arena->block + arena->used;
    arena->used += need;
    memset(piece, 0, need);
  } else {
    struct overflow *overflow = calloc(1, sizeof *overflow + need);
    if (!overflow) return NULL;
    overflow->next = arena->overflow;
    arena->overflow = overflow;
    piece = (char *)(overflow + 1);
  }
  *(uint64_t *)piece = size;
  return piece + ALIGNMENT;
}

static void *reallocate(void *old, ExifLong size) {
  if (!old) return allocate(size);
  uint64_t old_size = *(uint64_t *)((char *)old - ALIGNMENT);
  if (size <= old_size) return old;
  void *piece = allocate(size);
  if (piece) memcpy(piece, old, old_size);
  return piece;
}

static void release(void *piece) { (void)piece; }

ExifData *exifarena_begin(struct exifarena *arena) {
  arena->used = 0;
  current = arena;
  ExifMem *memory = exif_mem_new(allocate, reallocate, release);
  return memory ? exif_data_new_mem(memory) : NULL;
}

void exifarena_end(struct exifarena *arena) {
  current = NULL;
  for (struct overflow *overflow = arena->overflow; overflow;) {
    struct overflow *next = overflow->next;
    free(overflow);
    overflow = next;
  }
  arena->overflow = NULL;
}
