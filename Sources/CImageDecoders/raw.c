// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <errno.h>
#include <libraw/libraw.h>
#include <stdlib.h>
#include <string.h>

// LibRaw's own type is all that is needed.
static libraw_data_t *data(struct imagedecoders_raw *file) { return (libraw_data_t *)file; }

static enum imagedecoders_result fail_of_raw(int error) {
  enum imagedecoders_result result = IMAGEDECODERS_DAMAGED;
  switch (error) {
  case LIBRAW_FILE_UNSUPPORTED:
  case LIBRAW_NOT_IMPLEMENTED: result = IMAGEDECODERS_UNSUPPORTED; break;
  case LIBRAW_UNSUFFICIENT_MEMORY:
  case ENOMEM: result = IMAGEDECODERS_NO_MEMORY; break;
  case LIBRAW_NO_THUMBNAIL:
  case LIBRAW_UNSUPPORTED_THUMBNAIL: result = IMAGEDECODERS_ABSENT; break;
  }
  return imagedecoders_fail(result, "LibRaw: %s", libraw_strerror(error));
}

enum imagedecoders_result imagedecoders_raw_open(
    const void *bytes, size_t count, struct imagedecoders_raw **file, int *width, int *height, int *orientation) {
  libraw_data_t *raw = libraw_init(LIBRAW_OPTIONS_NONE);
  if (!raw) return imagedecoders_fail(IMAGEDECODERS_NO_MEMORY, "the file can't be opened");
  // By default, LibRaw prints the places of damage to standard error.
  libraw_set_dataerror_handler(raw, NULL, NULL);
  int error = libraw_open_buffer(raw, (void *)bytes, count);
  if (error) {
    libraw_close(raw);
    return fail_of_raw(error);
  }
  *width = raw->sizes.width;
  *height = raw->sizes.height;
  switch (raw->sizes.flip) {
  case 3: *orientation = 3; break;
  case 5: *orientation = 8; break;
  case 6: *orientation = 6; break;
  default: *orientation = 1; break;
  }
  *file = (struct imagedecoders_raw *)raw;
  return IMAGEDECODERS_DONE;
}

void imagedecoders_raw_close(struct imagedecoders_raw *file) { libraw_close(data(file)); }

enum imagedecoders_result imagedecoders_raw_preview(
    struct imagedecoders_raw *file, uint8_t **jpeg, size_t *count, struct imagedecoders_pixels *pixels) {
  libraw_data_t *raw = data(file);
  *jpeg = NULL;
  pixels->bytes = NULL;
  int error = libraw_unpack_thumb(raw);
  if (error) return fail_of_raw(error);
  const libraw_thumbnail_t *found = &raw->thumbnail;
  if (found->tformat == LIBRAW_THUMBNAIL_JPEG && found->tlength > 4) {
    *jpeg = malloc(found->tlength);
    if (!*jpeg) return imagedecoders_fail(IMAGEDECODERS_NO_MEMORY, "the preview needs %u bytes", found->tlength);
    memcpy(*jpeg, found->thumb, found->tlength);
    *count = found->tlength;
    return IMAGEDECODERS_DONE;
  }
  if (found->tformat == LIBRAW_THUMBNAIL_BITMAP && (found->tcolors == 3 || found->tcolors == 1)) {
    *pixels = (struct imagedecoders_pixels){
        found->twidth, found->theight, found->tcolors == 3 ? IMAGEDECODERS_RGB : IMAGEDECODERS_GREY, 8, NULL, 0};
    enum imagedecoders_result result = imagedecoders_allocate(pixels);
    if (result != IMAGEDECODERS_DONE) return result;
    if (pixels->count <= found->tlength) {
      memcpy(pixels->bytes, found->thumb, pixels->count);
      return IMAGEDECODERS_DONE;
    }
    free(pixels->bytes);
    pixels->bytes = NULL;
  }
  return imagedecoders_fail(IMAGEDECODERS_ABSENT, "the preview has a format of its own");
}

enum imagedecoders_result imagedecoders_raw_develop(
    struct imagedecoders_raw *file, int is_half_size, struct imagedecoders_pixels *pixels) {
  libraw_data_t *raw = data(file);
  raw->params.half_size = is_half_size;
  raw->params.use_camera_wb = 1;
  raw->params.output_color = 1;
  raw->params.output_bps = 8;
  // Patterned pixel grouping: nearly the quality of AHD in a third of the time.
  raw->params.user_qual = 2;
  // The caller rotates.
  raw->params.user_flip = 0;
  int error = libraw_unpack(raw);
  if (!error) error = libraw_dcraw_process(raw);
  if (error) return fail_of_raw(error);
  libraw_processed_image_t *made = libraw_dcraw_make_mem_image(raw, &error);
  if (!made) return fail_of_raw(error);
  enum imagedecoders_result result = IMAGEDECODERS_UNSUPPORTED;
  if (made->type == LIBRAW_IMAGE_BITMAP && made->bits == 8 && (made->colors == 3 || made->colors == 1)) {
    *pixels = (struct imagedecoders_pixels){
        made->width, made->height, made->colors == 3 ? IMAGEDECODERS_RGB : IMAGEDECODERS_GREY, 8, NULL, 0};
    result = imagedecoders_allocate(pixels);
    if (result == IMAGEDECODERS_DONE && pixels->count <= made->data_size) {
      memcpy(pixels->bytes, made->data, pixels->count);
    } else if (result == IMAGEDECODERS_DONE) {
      free(pixels->bytes);
      result = imagedecoders_fail(IMAGEDECODERS_DAMAGED, "LibRaw gave too few pixels");
    }
  } else {
    imagedecoders_fail(result, "LibRaw developed %d colours with %d bits", made->colors, made->bits);
  }
  libraw_dcraw_clear_mem(made);
  return result;
}
