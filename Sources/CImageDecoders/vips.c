// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <jpegcodec.h>
#include <libheif/heif.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <vips/vips.h>
#include <vips/vector.h>

/// Warnings of the libraries quote the file, which may be hostile. Errors that end the process are still printed.
static void ignore_log(const char *domain, GLogLevelFlags level, const char *text, void *data) {
  (void)domain, (void)level, (void)text, (void)data;
}

enum imagedecoders_result imagedecoders_start(void) {
  // Each arena of malloc reserves 64 MiB of addresses, and libvips has several threads.
  mallopt(M_ARENA_MAX, 2);
  // libvips looks for its modules below this folder. They load ImageMagick, poppler and OpenSlide, which are not for
  // untrusted files, and libheif and libjxl, which are called without libvips. That takes a third of the start.
  setenv("VIPSHOME", "/nonexistent", 1);
  g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING | G_LOG_LEVEL_INFO | G_LOG_LEVEL_MESSAGE, ignore_log, NULL);
  if (VIPS_INIT("photod-image")) return imagedecoders_fail(IMAGEDECODERS_UNSUPPORTED, "%s", vips_error_buffer());
  vips_block_untrusted_set(TRUE);
  // HEIF is decoded by libheif itself. libvips calls OpenJPEG untrusted, but it has no way around the sandbox.
  vips_operation_block_set("VipsForeignLoadHeif", TRUE);
  vips_operation_block_set("VipsForeignLoadJp2k", FALSE);
  vips_cache_set_max(0);
  vips_concurrency_set(1);
  // The run-time compiler needs memory that is writable and executable, which the sandbox forbids.
  vips_vector_set_enabled(FALSE);
  struct heif_error error = heif_init(NULL);
  if (error.code != heif_error_Ok) return imagedecoders_fail(IMAGEDECODERS_UNSUPPORTED, "libheif: %s", error.message);
  return IMAGEDECODERS_DONE;
}

const char *imagedecoders_format(unsigned number) {
  // LibRaw, libjxl and our own readers are always there. libvips and libheif are built with decoders or without.
  static const struct {
    const char *name;
    const char *loader;
    enum heif_compression_format compression;
  } formats[] = {
      {"image/jpeg", "jpegload_buffer", 0},
      {"image/png", "pngload_buffer", 0},
      {"image/webp", "webpload_buffer", 0},
      {"image/gif", "gifload_buffer", 0},
      {"image/tiff", "tiffload_buffer", 0},
      {"image/jp2", "jp2kload_buffer", 0},
      {"image/heic", NULL, heif_compression_HEVC},
      {"image/avif", NULL, heif_compression_AV1},
      {"image/jxl", NULL, 0},
      {"image/vnd.adobe.photoshop", NULL, 0},
      {"image/bmp", NULL, 0},
      {"image/x-adobe-dng", NULL, 0},
  };
  for (size_t index = 0; index < sizeof formats / sizeof formats[0]; index++) {
    if (formats[index].loader && !vips_type_find("VipsOperation", formats[index].loader)) continue;
    if (formats[index].compression && !heif_have_decoder_for_format(formats[index].compression)) continue;
    if (number-- == 0) return formats[index].name;
  }
  return NULL;
}

/// libvips reports an error as lines, and repeats some. The last one has the cause.
static char *joined_lines(const char *text) {
  char **lines = g_strsplit(text, "\n", -1);
  GString *joined = g_string_new(NULL);
  for (char **line = lines; *line; line++) {
    int is_known = **line == 0;
    for (char **former = lines; former < line && !is_known; former++) is_known = strcmp(*former, *line) == 0;
    if (!is_known) g_string_append_printf(joined, "%s%s", joined->len ? "; " : "", *line);
  }
  g_strfreev(lines);
  return g_string_free(joined, FALSE);
}

static enum imagedecoders_result fail_of_vips(void) {
  char *text = vips_error_buffer_copy();
  int is_memory = strstr(text, "out of memory") != NULL || strstr(text, "unable to allocate") != NULL;
  int is_unknown = strstr(text, "not in a known format") != NULL || strstr(text, "operation is blocked") != NULL;
  char *joined = joined_lines(text);
  enum imagedecoders_result result =
      is_memory ? IMAGEDECODERS_NO_MEMORY : is_unknown ? IMAGEDECODERS_UNSUPPORTED : IMAGEDECODERS_DAMAGED;
  imagedecoders_fail(result, "%s", joined);
  g_free(joined);
  g_free(text);
  return result;
}

/// The format of a file whose loader libvips was built without. NULL if it has the loader, or the format is another one.
static const char *format_without_loader(const uint8_t *bytes, size_t count) {
  static const struct {
    const char *name;
    const char *loader;
    size_t offset;
    const char *mark;
    size_t length;
  } formats[] = {
      {"JPEG", "jpegload_buffer", 0, "\xFF\xD8\xFF", 3},
      {"PNG", "pngload_buffer", 0, "\x89PNG", 4},
      {"WebP", "webpload_buffer", 8, "WEBP", 4},
      {"GIF", "gifload_buffer", 0, "GIF8", 4},
      {"TIFF", "tiffload_buffer", 0, "II*\0", 4},
      {"TIFF", "tiffload_buffer", 0, "MM\0*", 4},
      {"JPEG 2000", "jp2kload_buffer", 4, "jP  ", 4},
      {"JPEG 2000", "jp2kload_buffer", 0, "\xFF\x4F\xFF\x51", 4},
  };
  for (size_t index = 0; index < sizeof formats / sizeof formats[0]; index++) {
    size_t end = formats[index].offset + formats[index].length;
    if (count < end || memcmp(bytes + formats[index].offset, formats[index].mark, formats[index].length) != 0) continue;
    return vips_type_find("VipsOperation", formats[index].loader) ? NULL : formats[index].name;
  }
  return NULL;
}

enum imagedecoders_result imagedecoders_read_header(
    const void *bytes, size_t count, struct imagedecoders_header *header) {
  VipsImage *image = vips_image_new_from_buffer(bytes, count, "", NULL);
  if (!image) {
    const char *format = format_without_loader(bytes, count);
    if (!format) return fail_of_vips();
    vips_error_clear();
    return imagedecoders_fail(
        IMAGEDECODERS_UNSUPPORTED,
        "libvips has no loader for %s: install a libvips with one, which is the package libvips42 on Debian", format);
  }
  header->width = vips_image_get_width(image);
  header->height = vips_image_get_height(image);
  header->orientation = vips_image_get_orientation(image);
  header->has_several_scans = vips_image_get_typeof(image, "jpeg-multiscan") != 0;
  g_object_unref(image);
  return IMAGEDECODERS_DONE;
}

/// Takes over one reference of the image. Converts what is not sRGB yet, and copies the pixels into memory.
static enum imagedecoders_result finish(VipsImage *image, struct imagedecoders_pixels *result) {
  VipsImage *owner = vips_image_new();
  VipsImage **steps = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 3);
  VipsImage *last = image;
  enum imagedecoders_result failure = IMAGEDECODERS_DONE;
  if (vips_image_get_interpretation(last) != VIPS_INTERPRETATION_sRGB || vips_image_get_bands(last) < 3) {
    if (vips_colourspace(last, &steps[0], VIPS_INTERPRETATION_sRGB, NULL)) goto failed;
    last = steps[0];
  }
  if (vips_image_get_format(last) != VIPS_FORMAT_UCHAR) {
    if (vips_cast(last, &steps[1], VIPS_FORMAT_UCHAR, NULL)) goto failed;
    last = steps[1];
  }
  if (vips_image_get_bands(last) > 4) {
    if (vips_extract_band(last, &steps[2], 0, "n", 4, NULL)) goto failed;
    last = steps[2];
  }
  int bands = vips_image_get_bands(last);
  if (bands < 3) {
    failure = imagedecoders_fail(IMAGEDECODERS_UNSUPPORTED, "the picture has %d channels", bands);
    goto failed;
  }
  *result = (struct imagedecoders_pixels){
      vips_image_get_width(last), vips_image_get_height(last), bands == 3 ? IMAGEDECODERS_RGB : IMAGEDECODERS_RGBA, 8,
      NULL, 0};
  // GLib's memory is that of malloc.
  result->bytes = vips_image_write_to_memory(last, &result->count);
  if (!result->bytes) goto failed;
  g_object_unref(owner);
  g_object_unref(image);
  return IMAGEDECODERS_DONE;
failed:
  if (failure == IMAGEDECODERS_DONE) failure = fail_of_vips();
  g_object_unref(owner);
  g_object_unref(image);
  return failure;
}

/// Scales a picture after all of it was decoded.
static enum imagedecoders_result decode_whole(
    const void *bytes, size_t count, int width, int height, int uses_profile, struct imagedecoders_pixels *result) {
  VipsImage *whole = vips_image_new_from_buffer(bytes, count, "", "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
  if (!whole) return fail_of_vips();
  VipsImage *plain = NULL;
  int failed = vips_copy(whole, &plain, NULL);
  g_object_unref(whole);
  if (failed) return fail_of_vips();
  VipsImage *image = NULL;
  if (uses_profile) {
    failed = vips_thumbnail_image(
        plain, &image, width, "height", height, "size", VIPS_SIZE_FORCE, "no_rotate", TRUE, "export_profile", "srgb",
        "intent", VIPS_INTENT_RELATIVE, NULL);
  } else {
    vips_image_remove(plain, VIPS_META_ICC_NAME);
    failed = vips_thumbnail_image(
        plain, &image, width, "height", height, "size", VIPS_SIZE_FORCE, "no_rotate", TRUE, NULL);
  }
  g_object_unref(plain);
  return failed ? fail_of_vips() : finish(image, result);
}

/// Decodes a picture as small as its format allows, and scales it.
static enum imagedecoders_result decode_small(
    const void *bytes, size_t count, int width, int height, int uses_profile, struct imagedecoders_pixels *result) {
  VipsImage *image = NULL;
  // Without a profile, an export would convert sRGB to XYZ and back, and change saturated colours.
  int failed = uses_profile
      ? vips_thumbnail_buffer(
            (void *)bytes, count, &image, width, "height", height, "size", VIPS_SIZE_FORCE, "no_rotate", TRUE,
            "export_profile", "srgb", "intent", VIPS_INTENT_RELATIVE, "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL)
      : vips_thumbnail_buffer(
            (void *)bytes, count, &image, width, "height", height, "size", VIPS_SIZE_FORCE, "no_rotate", TRUE,
            "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
  return failed ? fail_of_vips() : finish(image, result);
}

enum imagedecoders_result imagedecoders_decode(
    const void *bytes, size_t count, int width, int height, struct imagedecoders_pixels *result) {
  VipsImage *opened = vips_image_new_from_buffer(bytes, count, "", NULL);
  if (!opened) return fail_of_vips();
  int has_profile = vips_image_get_typeof(opened, VIPS_META_ICC_NAME) != 0;
  const char *loader = NULL;
  // libvips 8.14 decodes tiles of a smaller JPEG 2000 at wrong places, and leaves pixels of others unset.
  int is_whole = vips_image_get_typeof(opened, VIPS_META_LOADER) != 0 &&
      !vips_image_get_string(opened, VIPS_META_LOADER, &loader) && strncmp(loader, "jp2k", 4) == 0;
  g_object_unref(opened);
  enum imagedecoders_result done = is_whole ? decode_whole(bytes, count, width, height, has_profile, result)
                                            : decode_small(bytes, count, width, height, has_profile, result);
  if (done != IMAGEDECODERS_DAMAGED || !has_profile) return done;
  // The profile may be damaged, although the picture is not.
  return decode_whole(bytes, count, width, height, 0, result);
}

/// The image refers to the pixels.
static VipsImage *image_of(const struct imagedecoders_pixels *pixels) {
  VipsImage *image = vips_image_new_from_memory(
      pixels->bytes, pixels->count, pixels->width, pixels->height, imagedecoders_bands(pixels->model),
      pixels->bits > 8 ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR);
  if (!image) return NULL;
  int is_wide = pixels->bits > 8;
  switch (pixels->model) {
  case IMAGEDECODERS_GREY:
  case IMAGEDECODERS_GREY_ALPHA:
    image->Type = is_wide ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W;
    break;
  case IMAGEDECODERS_RGB:
  case IMAGEDECODERS_RGBA:
    image->Type = is_wide ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB;
    break;
  case IMAGEDECODERS_CMYK: image->Type = VIPS_INTERPRETATION_CMYK; break;
  }
  return image;
}

static enum imagedecoders_result convert(
    const struct imagedecoders_pixels *pixels, const uint8_t *profile, size_t profile_count, const char *fallback,
    int width, int height, struct imagedecoders_pixels *result) {
  VipsImage *image = image_of(pixels);
  if (!image) return fail_of_vips();
  if (profile) vips_image_set_blob_copy(image, VIPS_META_ICC_NAME, profile, profile_count);
  VipsImage *scaled = NULL;
  int failed = fallback
      ? vips_thumbnail_image(
            image, &scaled, width, "height", height, "size", VIPS_SIZE_FORCE, "no_rotate", TRUE, "import_profile",
            fallback, "export_profile", "srgb", "intent", VIPS_INTENT_RELATIVE, NULL)
      : profile
      ? vips_thumbnail_image(
            image, &scaled, width, "height", height, "size", VIPS_SIZE_FORCE, "no_rotate", TRUE, "export_profile",
            "srgb", "intent", VIPS_INTENT_RELATIVE, NULL)
      : vips_thumbnail_image(
            image, &scaled, width, "height", height, "size", VIPS_SIZE_FORCE, "no_rotate", TRUE, NULL);
  enum imagedecoders_result done = failed ? fail_of_vips() : finish(scaled, result);
  g_object_unref(image);
  return done;
}

/// Whether libvips can be left out for these pixels. It takes twice as long for so few, and wakes threads of its own.
static int are_few(const struct imagedecoders_pixels *pixels) {
  size_t count = (size_t)pixels->width * (size_t)pixels->height;
  return pixels->model == IMAGEDECODERS_RGB && pixels->bits == 8 && count <= 1u << 18;
}

/// Scales few pixels with the kernel of libvips, and keeps their colours.
static enum imagedecoders_result scale_few(
    const struct imagedecoders_pixels *pixels, int width, int height, struct imagedecoders_pixels *result) {
  *result = (struct imagedecoders_pixels){width, height, IMAGEDECODERS_RGB, 8, NULL, 0};
  enum imagedecoders_result done = imagedecoders_allocate(result);
  if (done != IMAGEDECODERS_DONE) return done;
  if (jpegcodec_scale(pixels->bytes, pixels->width, pixels->height, width, height, result->bytes) == JPEGCODEC_DONE)
    return done;
  imagedecoders_free(result->bytes);
  return imagedecoders_fail(IMAGEDECODERS_NO_MEMORY, "%s", jpegcodec_message());
}

enum imagedecoders_result imagedecoders_convert(
    const struct imagedecoders_pixels *pixels, const struct imagedecoders_colors *colors, int width, int height,
    struct imagedecoders_pixels *result) {
  int is_quick = are_few(pixels) && width <= pixels->width && height <= pixels->height;
  if (colors->profile && pixels->model == IMAGEDECODERS_RGB && pixels->bits == 8) {
    enum imagedecoders_result done = is_quick ? scale_few(pixels, width, height, result)
                                              : convert(pixels, NULL, 0, NULL, width, height, result);
    if (done != IMAGEDECODERS_DONE) return done;
    if (result->model == IMAGEDECODERS_RGB &&
        imagedecoders_apply_profile(colors->profile, colors->profile_count, result))
      return done;
    imagedecoders_free(result->bytes);
  }
  if (colors->profile) {
    enum imagedecoders_result done =
        convert(pixels, colors->profile, colors->profile_count, NULL, width, height, result);
    if (done != IMAGEDECODERS_DAMAGED) return done;
  }
  // 11 and 12 are the primaries of DCI P3 and Display P3. libvips has the profile of the latter.
  const char *fallback = !colors->profile && (colors->primaries == 12 || colors->primaries == 11) ? "p3" : NULL;
  if (is_quick && !colors->profile && !fallback) return scale_few(pixels, width, height, result);
  return convert(pixels, NULL, 0, fallback, width, height, result);
}

enum imagedecoders_result imagedecoders_scale(
    const struct imagedecoders_pixels *pixels, int width, int height, struct imagedecoders_pixels *result) {
  VipsImage *image = image_of(pixels);
  if (!image) return fail_of_vips();
  VipsImage *scaled = NULL;
  int failed =
      vips_resize(image, &scaled, (double)width / pixels->width, "vscale", (double)height / pixels->height, NULL);
  if (failed) {
    g_object_unref(image);
    return fail_of_vips();
  }
  *result = *pixels;
  result->width = vips_image_get_width(scaled);
  result->height = vips_image_get_height(scaled);
  result->bytes = vips_image_write_to_memory(scaled, &result->count);
  g_object_unref(scaled);
  g_object_unref(image);
  return result->bytes ? IMAGEDECODERS_DONE : fail_of_vips();
}

enum imagedecoders_result imagedecoders_encode(
    const struct imagedecoders_pixels *pixels, struct imagedecoders_area area, int orientation, int quality,
    uint8_t **bytes, size_t *count) {
  int is_part = area.left || area.top || area.width != pixels->width || area.height != pixels->height;
  // From a quality of 90 on, libvips keeps all values of the colours.
  if (are_few(pixels) && quality && quality < 90 && orientation <= 1 && !is_part) {
    if (jpegcodec_encode(pixels->bytes, pixels->width, pixels->height, quality, bytes, count) == JPEGCODEC_DONE)
      return IMAGEDECODERS_DONE;
    return imagedecoders_fail(IMAGEDECODERS_NO_MEMORY, "%s", jpegcodec_message());
  }
  // An image from memory has no metadata.
  VipsImage *image = image_of(pixels);
  if (!image) return fail_of_vips();
  VipsImage *owner = vips_image_new();
  VipsImage **steps = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 3);
  VipsImage *last = image;
  enum imagedecoders_result result = IMAGEDECODERS_DONE;
  if (is_part) {
    if (vips_extract_area(last, &steps[0], area.left, area.top, area.width, area.height, NULL)) goto failed;
    last = steps[0];
  }
  if (quality && vips_image_hasalpha(last)) {
    VipsArrayDouble *white = vips_array_double_newv(3, 255.0, 255.0, 255.0);
    int failed = vips_flatten(last, &steps[1], "background", white, NULL);
    vips_area_unref(VIPS_AREA(white));
    if (failed) goto failed;
    last = steps[1];
  }
  if (orientation > 1) {
    if (vips_copy(last, &steps[2], NULL)) goto failed;
    vips_image_set_int(steps[2], VIPS_META_ORIENTATION, orientation);
    VipsImage *rotated = NULL;
    if (vips_autorot(steps[2], &rotated, NULL)) goto failed;
    g_object_unref(steps[2]);
    steps[2] = rotated;
    last = rotated;
  }
  void *made = NULL;
  size_t made_count = 0;
  if (quality ? vips_jpegsave_buffer(last, &made, &made_count, "Q", quality, "strip", TRUE, NULL)
              : vips_pngsave_buffer(last, &made, &made_count, "strip", TRUE, NULL))
    goto failed;
  *bytes = made;
  *count = made_count;
  g_object_unref(owner);
  g_object_unref(image);
  return IMAGEDECODERS_DONE;
failed:
  result = fail_of_vips();
  g_object_unref(owner);
  g_object_unref(image);
  return result;
}
