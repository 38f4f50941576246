// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/// A picture that is decoded. All that changes belongs to the caller, because local variables are undefined after a
/// longjmp(3).
struct decoding {
  struct jpeg_decompress_struct jpeg;
  struct jpegcodec_errors errors;
  /// The picture as libjpeg scales it, if that is not the wanted size.
  uint8_t *scaled;
  enum jpegcodec_result result;
};

/// How much of a segment is kept: the name of a profile.
enum { KEPT_BYTES = 12 };

static int has_profile(j_decompress_ptr jpeg) {
  for (jpeg_saved_marker_ptr marker = jpeg->marker_list; marker; marker = marker->next) {
    if (marker->data_length == KEPT_BYTES && !memcmp(marker->data, "ICC_PROFILE", KEPT_BYTES)) return 1;
  }
  return 0;
}

/// libjpeg scales by eighths while it decodes. Chooses the smallest scale that gives as many pixels as are wanted.
static void choose_scale(j_decompress_ptr jpeg, int width, int height) {
  jpeg->scale_denom = 8;
  for (jpeg->scale_num = 1; jpeg->scale_num < 8; jpeg->scale_num++) {
    jpeg_calc_output_dimensions(jpeg);
    if (jpeg->output_width >= (JDIMENSION)width && jpeg->output_height >= (JDIMENSION)height) return;
  }
  jpeg_calc_output_dimensions(jpeg);
}

/// Returns 0 if it fails.
static int read_jpeg(
    struct decoding *decoding, const void *bytes, size_t count, int width, int height, uint8_t *pixels) {
  j_decompress_ptr jpeg = &decoding->jpeg;
  if (setjmp(decoding->errors.place)) {
    decoding->result = jpegcodec_fail_of((j_common_ptr)jpeg, "the picture can't be decoded");
    return 0;
  }
  jpeg_create_decompress(jpeg);
  jpeg_save_markers(jpeg, JPEG_APP0 + 2, KEPT_BYTES);
  jpeg_mem_src(jpeg, bytes, count);
  jpeg_read_header(jpeg, TRUE);
  int is_rgb = jpeg->jpeg_color_space == JCS_YCbCr || jpeg->jpeg_color_space == JCS_RGB ||
      jpeg->jpeg_color_space == JCS_GRAYSCALE;
  if (!is_rgb || has_profile(jpeg)) {
    decoding->result = jpegcodec_fail(JPEGCODEC_UNSUPPORTED, "the picture has other colours than sRGB");
    return 0;
  }
  jpeg->out_color_space = JCS_RGB;
  choose_scale(jpeg, width, height);
  int is_wanted = jpeg->output_width == (JDIMENSION)width && jpeg->output_height == (JDIMENSION)height;
  if (jpeg->output_width < (JDIMENSION)width || jpeg->output_height < (JDIMENSION)height) {
    decoding->result = jpegcodec_fail(JPEGCODEC_DAMAGED, "the picture is smaller than its header says");
    return 0;
  }
  size_t row_bytes = (size_t)jpeg->output_width * 3;
  if (!is_wanted) {
    decoding->scaled = malloc(row_bytes * jpeg->output_height);
    if (!decoding->scaled) ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
  }
  jpeg_start_decompress(jpeg);
  while (jpeg->output_scanline < jpeg->output_height) {
    JSAMPROW row = (is_wanted ? pixels : decoding->scaled) + row_bytes * jpeg->output_scanline;
    jpeg_read_scanlines(jpeg, &row, 1);
  }
  // libjpeg fills the missing rows with grey.
  if (decoding->errors.is_cut_off) {
    decoding->result = jpegcodec_fail(JPEGCODEC_DAMAGED, "the picture is cut off");
    return 0;
  }
  return 1;
}

enum jpegcodec_result jpegcodec_decode(const void *bytes, size_t count, int width, int height, uint8_t *pixels) {
  struct decoding decoding = {0};
  decoding.jpeg.err = jpegcodec_catch(&decoding.errors);
  if (read_jpeg(&decoding, bytes, count, width, height, pixels) && decoding.scaled) {
    decoding.result = jpegcodec_scale(
        decoding.scaled, (int)decoding.jpeg.output_width, (int)decoding.jpeg.output_height, width, height, pixels);
  }
  free(decoding.scaled);
  jpeg_destroy_decompress(&decoding.jpeg);
  return decoding.result;
}
