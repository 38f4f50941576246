// Encodes a picture again and again, and lets another allocation of memory fail each time, until none fails. It prints how
// often encoding failed because of missing memory. Any other outcome ends it with a failure.
//
// It is compiled with encode.c and errors.c of CJPEG. Libraries call the malloc of the program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jpegcodec.h"

void *__libc_malloc(size_t count);
void *__libc_realloc(void *old, size_t count);

/// How many allocations succeed before one fails. Negative: none fails.
static long remaining = -1;

static int fails(void) { return remaining >= 0 && remaining-- == 0; }

void *malloc(size_t count) { return fails() ? NULL : __libc_malloc(count); }

void *realloc(void *old, size_t count) { return fails() ? NULL : __libc_realloc(old, count); }

int main(void) {
  enum { WIDTH = 640, HEIGHT = 480, MOST = 1000 };
  static uint8_t pixels[WIDTH * HEIGHT * 3];
  // Noise has a large JPEG, for which the bytes grow some times.
  uint32_t state = 1;
  for (size_t index = 0; index < sizeof pixels; index++) pixels[index] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
  long failures = 0;
  for (long number = 0; number < MOST; number++) {
    uint8_t *bytes = NULL;
    size_t count = 0;
    remaining = number;
    enum jpegcodec_result result = jpegcodec_encode(pixels, WIDTH, HEIGHT, 95, &bytes, &count);
    int has_failed = remaining < 0;
    remaining = -1;
    int is_whole = result == JPEGCODEC_DONE && count > 100000 && bytes[0] == 0xFF && bytes[count - 1] == 0xD9;
    int is_memory = result == JPEGCODEC_NO_MEMORY && !bytes && !strcmp(jpegcodec_message(), "there is not enough memory");
    // libjpeg tries some allocations again with fewer bytes.
    if (!is_whole && !(is_memory && has_failed)) {
      fprintf(stderr, "allocation %ld: result %d, %zu bytes, %s\n", number, result, count, jpegcodec_message());
      return 1;
    }
    failures += is_memory;
    free(bytes);
    if (!has_failed) {
      printf("%ld\n", failures);
      return 0;
    }
  }
  fputs("the allocations have no end\n", stderr);
  return 1;
}
