// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <stdlib.h>

/// The encoded bytes. `bytes` always points to the present block, so it can be freed after a failure. With the destination
/// of libjpeg, the caller's pointer may point to a block that was freed when the bytes grew.
struct jpeg_bytes {
  struct jpeg_destination_mgr manager;
  uint8_t *bytes;
  size_t capacity;
};

static void grow_bytes(j_compress_ptr jpeg, size_t used, size_t capacity) {
  struct jpeg_bytes *target = (struct jpeg_bytes *)jpeg->dest;
  uint8_t *bytes = realloc(target->bytes, capacity);
  if (!bytes) ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
  target->bytes = bytes;
  target->capacity = capacity;
  target->manager.next_output_byte = bytes + used;
  target->manager.free_in_buffer = capacity - used;
}

static void begin_bytes(j_compress_ptr jpeg) { grow_bytes(jpeg, 0, 64 << 10); }

/// libjpeg calls it when the whole block is used. Then the two fields of the manager are not set.
static boolean double_bytes(j_compress_ptr jpeg) {
  size_t capacity = ((struct jpeg_bytes *)jpeg->dest)->capacity;
  grow_bytes(jpeg, capacity, 2 * capacity);
  return TRUE;
}

static void end_bytes(j_compress_ptr jpeg) { (void)jpeg; }

/// Returns 0 if it fails. Then `jpeg->err` has the reason. All that changes here belongs to the caller, because local
/// variables are undefined after a longjmp(3).
static int write_jpeg(
    const uint8_t *pixels, int width, int height, int quality, struct jpeg_bytes *target,
    struct jpeg_compress_struct *jpeg) {
  if (setjmp(((struct jpegcodec_errors *)jpeg->err)->place)) return 0;
  jpeg_create_compress(jpeg);
  jpeg->dest = &target->manager;
  jpeg->image_width = (JDIMENSION)width;
  jpeg->image_height = (JDIMENSION)height;
  jpeg->input_components = 3;
  jpeg->in_color_space = JCS_RGB;
  jpeg_set_defaults(jpeg);
  jpeg_set_quality(jpeg, quality, TRUE);
  jpeg_start_compress(jpeg, TRUE);
  while (jpeg->next_scanline < jpeg->image_height) {
    JSAMPROW row = (JSAMPROW)pixels + (size_t)jpeg->next_scanline * (size_t)width * 3;
    jpeg_write_scanlines(jpeg, &row, 1);
  }
  jpeg_finish_compress(jpeg);
  return 1;
}

enum jpegcodec_result jpegcodec_encode(
    const uint8_t *pixels, int width, int height, int quality, uint8_t **bytes, size_t *count) {
  struct jpeg_compress_struct jpeg = {0};
  struct jpegcodec_errors errors;
  struct jpeg_bytes target = {
      .manager = {.init_destination = begin_bytes, .empty_output_buffer = double_bytes, .term_destination = end_bytes}};
  jpeg.err = jpegcodec_catch(&errors);
  enum jpegcodec_result result = JPEGCODEC_DONE;
  if (write_jpeg(pixels, width, height, quality, &target, &jpeg)) {
    *bytes = target.bytes;
    *count = target.capacity - target.manager.free_in_buffer;
  } else {
    free(target.bytes);
    result = jpegcodec_fail_of((j_common_ptr)&jpeg, "the picture can't be encoded");
  }
  jpeg_destroy_compress(&jpeg);
  return result;
}
