// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <libheif/heif.h>
#include <stdlib.h>
#include <string.h>

struct imagedecoders_heif {
  struct heif_context *context;
  struct heif_image_handle *primary;
  /// NULL if there is none.
  struct heif_image_handle *thumbnail;
  enum heif_compression_format compression;
};

/// AV1 if the file says so. Cameras use HEVC otherwise.
static enum heif_compression_format compression_of(const void *bytes, size_t count) {
  heif_brand2 brand = count >= 12 ? heif_read_main_brand(bytes, 12) : 0;
  int is_av1 = brand == heif_fourcc_to_brand("avif") || brand == heif_fourcc_to_brand("avis");
  return is_av1 ? heif_compression_AV1 : heif_compression_HEVC;
}

static enum imagedecoders_result fail_of_heif(struct heif_error error) {
  enum imagedecoders_result result = IMAGEDECODERS_DAMAGED;
  switch (error.code) {
  case heif_error_Unsupported_feature:
  case heif_error_Unsupported_filetype: result = IMAGEDECODERS_UNSUPPORTED; break;
  case heif_error_Memory_allocation_error:
    // libheif has limits of its own, which are no lack of memory.
    result = error.subcode == heif_suberror_Security_limit_exceeded ? IMAGEDECODERS_TOO_LARGE : IMAGEDECODERS_NO_MEMORY;
    break;
  default: break;
  }
  return imagedecoders_fail(result, "libheif: %s", error.message ? error.message : "no reason given");
}

/// libheif can be installed without the plugin that decodes a format. Its own message names no package.
static enum imagedecoders_result fail_of_decoding(const struct imagedecoders_heif *file, struct heif_error error) {
  if (heif_have_decoder_for_format(file->compression)) return fail_of_heif(error);
  int is_av1 = file->compression == heif_compression_AV1;
  return imagedecoders_fail(
      IMAGEDECODERS_UNSUPPORTED, "libheif has no decoder for %s: install one, which is the package %s on Debian",
      is_av1 ? "AV1" : "HEVC", is_av1 ? "libheif-plugin-dav1d" : "libheif-plugin-libde265");
}

enum imagedecoders_result imagedecoders_heif_open(
    const void *bytes, size_t count, struct imagedecoders_heif **file, int *width, int *height) {
  struct imagedecoders_heif *opened = calloc(1, sizeof *opened);
  if (!opened) return imagedecoders_fail(IMAGEDECODERS_NO_MEMORY, "the file can't be opened");
  opened->compression = compression_of(bytes, count);
  opened->context = heif_context_alloc();
  // Tiles are decoded one after another, as each process has one core.
  heif_context_set_max_decoding_threads(opened->context, 0);
  struct heif_error error = heif_context_read_from_memory_without_copy(opened->context, bytes, count, NULL);
  if (error.code == heif_error_Ok) error = heif_context_get_primary_image_handle(opened->context, &opened->primary);
  if (error.code != heif_error_Ok) {
    // The message belongs to the context.
    enum imagedecoders_result result = fail_of_heif(error);
    imagedecoders_heif_close(opened);
    return result;
  }
  *width = heif_image_handle_get_width(opened->primary);
  *height = heif_image_handle_get_height(opened->primary);
  *file = opened;
  return IMAGEDECODERS_DONE;
}

void imagedecoders_heif_close(struct imagedecoders_heif *file) {
  if (file->thumbnail) heif_image_handle_release(file->thumbnail);
  if (file->primary) heif_image_handle_release(file->primary);
  heif_context_free(file->context);
  free(file);
}

/// Whether the first thumbnail is better than the second. Some cameras write one of 1616 x 1080 beside one of 320 x 212,
/// and its decoding takes 20 times as long.
static int is_better(
    const struct heif_image_handle *one, const struct heif_image_handle *other, int least_side) {
  enum { MOST_PIXELS = 1 << 19 };
  long widths[] = {heif_image_handle_get_width(one), heif_image_handle_get_width(other)};
  long heights[] = {heif_image_handle_get_height(one), heif_image_handle_get_height(other)};
  long pixels[] = {widths[0] * heights[0], widths[1] * heights[1]};
  int is_quick[2], suffices[2];
  for (int index = 0; index < 2; index++) {
    is_quick[index] = pixels[index] <= MOST_PIXELS;
    suffices[index] = (widths[index] > heights[index] ? widths[index] : heights[index]) >= least_side;
  }
  if (is_quick[0] != is_quick[1]) return is_quick[0];
  if (!is_quick[0]) return pixels[0] < pixels[1];
  if (suffices[0] != suffices[1]) return suffices[0];
  return suffices[0] ? pixels[0] < pixels[1] : pixels[0] > pixels[1];
}

enum imagedecoders_result imagedecoders_heif_thumbnail(
    struct imagedecoders_heif *file, int least_side, int *width, int *height) {
  enum { MOST = 16 };
  heif_item_id ids[MOST];
  int count = heif_image_handle_get_list_of_thumbnail_IDs(file->primary, ids, MOST);
  for (int index = 0; index < count; index++) {
    struct heif_image_handle *handle = NULL;
    if (heif_image_handle_get_thumbnail(file->primary, ids[index], &handle).code != heif_error_Ok) continue;
    if (file->thumbnail && !is_better(handle, file->thumbnail, least_side)) {
      heif_image_handle_release(handle);
    } else {
      if (file->thumbnail) heif_image_handle_release(file->thumbnail);
      file->thumbnail = handle;
    }
  }
  if (!file->thumbnail) return imagedecoders_fail(IMAGEDECODERS_ABSENT, "the file has no thumbnail");
  *width = heif_image_handle_get_width(file->thumbnail);
  *height = heif_image_handle_get_height(file->thumbnail);
  return IMAGEDECODERS_DONE;
}

static void read_colors(const struct heif_image_handle *handle, struct imagedecoders_colors *colors) {
  *colors = (struct imagedecoders_colors){.primaries = 2, .transfer = 2};
  struct heif_color_profile_nclx *numbers = NULL;
  if (heif_image_handle_get_nclx_color_profile(handle, &numbers).code == heif_error_Ok && numbers) {
    colors->primaries = (int)numbers->color_primaries;
    colors->transfer = (int)numbers->transfer_characteristics;
    heif_nclx_color_profile_free(numbers);
  }
  size_t count = heif_image_handle_get_raw_color_profile_size(handle);
  if (count == 0 || count > 8u << 20) return;
  colors->profile = malloc(count);
  if (!colors->profile) return;
  colors->profile_count = count;
  if (heif_image_handle_get_raw_color_profile(handle, colors->profile).code != heif_error_Ok) {
    free(colors->profile);
    colors->profile = NULL;
  }
}

enum imagedecoders_result imagedecoders_heif_decode(
    struct imagedecoders_heif *file, int is_thumbnail, int is_turned, struct imagedecoders_pixels *pixels,
    struct imagedecoders_colors *colors) {
  struct heif_image_handle *handle = is_thumbnail ? file->thumbnail : file->primary;
  // A thumbnail often has no colour profile of its own.
  read_colors(file->primary, colors);
  int is_wide =
      (colors->transfer == 16 || colors->transfer == 18) && heif_image_handle_get_luma_bits_per_pixel(handle) > 8;
  int has_alpha = !is_wide && heif_image_handle_has_alpha_channel(handle);
  struct heif_decoding_options *options = heif_decoding_options_alloc();
  if (!is_wide) options->convert_hdr_to_8bit = 1;
  struct heif_image *image = NULL;
  struct heif_error error = heif_decode_image(
      handle, &image, heif_colorspace_RGB,
      is_wide ? heif_chroma_interleaved_RRGGBB_LE
              : has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB,
      options);
  heif_decoding_options_free(options);
  enum imagedecoders_result result = error.code == heif_error_Ok ? IMAGEDECODERS_DONE : fail_of_decoding(file, error);
  if (result == IMAGEDECODERS_DONE) {
    int stride = 0;
    const uint8_t *rows = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    int width = heif_image_get_width(image, heif_channel_interleaved);
    int height = heif_image_get_height(image, heif_channel_interleaved);
    int shown_width = is_thumbnail ? heif_image_handle_get_width(handle) : width;
    int shown_height = is_thumbnail ? heif_image_handle_get_height(handle) : height;
    // Cameras of Sony fill thumbnails up to multiples of 64 pixels, on the right and at the bottom.
    int has_margin = shown_width < width || shown_height < height;
    if (shown_width < width) width = shown_width;
    if (shown_height < height) height = shown_height;
    *pixels = (struct imagedecoders_pixels){
        width, height,
        has_alpha ? IMAGEDECODERS_RGBA : IMAGEDECODERS_RGB,
        is_wide ? heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved) : 8, NULL, 0};
    result = !rows ? imagedecoders_fail(IMAGEDECODERS_DAMAGED, "there are no pixels")
        : has_margin && is_turned
        ? imagedecoders_fail(IMAGEDECODERS_ABSENT, "the thumbnail has a margin, whose side is not known")
        : imagedecoders_allocate(pixels);
    if (result == IMAGEDECODERS_DONE) {
      size_t row = pixels->count / (size_t)pixels->height;
      for (size_t y = 0; y < (size_t)pixels->height; y++) memcpy(pixels->bytes + row * y, rows + (size_t)stride * y, row);
    }
  }
  if (image) heif_image_release(image);
  if (result != IMAGEDECODERS_DONE) {
    free(colors->profile);
    colors->profile = NULL;
  }
  return result;
}
