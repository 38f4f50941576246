// SPDX-License-Identifier: GPL-2.0-or-later
//
// libvips, libheif, LibRaw and libjxl behind functions that Swift can call: libvips takes variable arguments, and LibRaw's
// header is C++ in part. Each function that returns an `imagedecoders_result` sets `imagedecoders_message` if it fails.
#ifndef PHOTOD_IMAGEDECODERS_H
#define PHOTOD_IMAGEDECODERS_H

#include <stddef.h>
#include <stdint.h>

enum imagedecoders_result {
  IMAGEDECODERS_DONE,
  /// The file is damaged.
  IMAGEDECODERS_DAMAGED,
  /// The library does not know the format or this variant of it.
  IMAGEDECODERS_UNSUPPORTED,
  IMAGEDECODERS_NO_MEMORY,
  /// The picture exceeds a limit of the library.
  IMAGEDECODERS_TOO_LARGE,
  /// The file has no such picture.
  IMAGEDECODERS_ABSENT,
};

/// The reason of the last failure.
const char *imagedecoders_message(void);

/// Initialises all libraries. It must be called before the sandbox, because they read their plugins.
enum imagedecoders_result imagedecoders_start(void);

/// The media types that can be decoded, one after another. NULL after the last one.
const char *imagedecoders_format(unsigned number);

/// The colours of pixels.
enum imagedecoders_model {
  IMAGEDECODERS_GREY = 1,
  IMAGEDECODERS_GREY_ALPHA = 2,
  IMAGEDECODERS_RGB = 3,
  IMAGEDECODERS_RGBA = 4,
  IMAGEDECODERS_CMYK = 5,
};

/// Pixels in memory, row after row without padding.
struct imagedecoders_pixels {
  int width;
  int height;
  enum imagedecoders_model model;
  /// 8, or the used bits of values of 16 bits.
  int bits;
  /// From malloc(3). The owner calls `imagedecoders_free`.
  uint8_t *bytes;
  size_t count;
};

/// The meaning of the values of pixels.
struct imagedecoders_colors {
  /// The ICC profile. NULL if there is none. The owner calls `imagedecoders_free`.
  uint8_t *profile;
  size_t profile_count;
  /// ITU-T H.273. 2 if there is none.
  int primaries;
  int transfer;
};

void imagedecoders_free(void *memory);

// MARK: Encoded pictures that libvips reads: JPEG, PNG, WebP, TIFF, GIF, JPEG 2000

struct imagedecoders_header {
  int width;
  int height;
  /// EXIF 1...8
  int orientation;
  /// Whether a JPEG has several scans. It can't be decoded row by row then.
  int has_several_scans;
};

enum imagedecoders_result imagedecoders_read_header(
    const void *bytes, size_t count, struct imagedecoders_header *header);

/// Decodes a picture at exactly this size, not rotated, in sRGB. It is not larger than the file's. The result is
/// RGB or RGBA with 8 bits.
enum imagedecoders_result imagedecoders_decode(
    const void *bytes, size_t count, int width, int height, struct imagedecoders_pixels *result);

// MARK: Pixels

/// Scales pixels to exactly this size, and converts them to sRGB with 8 bits.
enum imagedecoders_result imagedecoders_convert(
    const struct imagedecoders_pixels *pixels, const struct imagedecoders_colors *colors, int width, int height,
    struct imagedecoders_pixels *result);

/// Scales pixels to exactly this size, and keeps their bits and colours.
enum imagedecoders_result imagedecoders_scale(
    const struct imagedecoders_pixels *pixels, int width, int height, struct imagedecoders_pixels *result);

struct imagedecoders_area {
  int left;
  int top;
  int width;
  int height;
};

/// Cuts an area out of RGB or RGBA pixels with 8 bits, rotates it by its EXIF orientation, and encodes it without any
/// metadata. JPEG shows transparency over white.
///
/// - quality: of JPEG. 0 means PNG.
enum imagedecoders_result imagedecoders_encode(
    const struct imagedecoders_pixels *pixels, struct imagedecoders_area area, int orientation, int quality,
    uint8_t **bytes, size_t *count);

// MARK: HEIF (HEIC, AVIF)

struct imagedecoders_heif;

/// The bytes must stay valid until the file is closed.
enum imagedecoders_result imagedecoders_heif_open(
    const void *bytes, size_t count, struct imagedecoders_heif **file, int *width, int *height);
void imagedecoders_heif_close(struct imagedecoders_heif *file);

/// Chooses one of the thumbnails, and returns its size. It is the smallest one whose longer side has so many pixels, else
/// the largest. A thumbnail that takes long to decode is chosen only if there is no other. ABSENT if there is none.
enum imagedecoders_result imagedecoders_heif_thumbnail(
    struct imagedecoders_heif *file, int least_side, int *width, int *height);

/// Decodes the primary picture, or its chosen thumbnail, upright. Values of PQ and HLG keep their bits.
///
/// A thumbnail with a margin loses it. If the picture is turned, the side of the margin is not known: ABSENT.
enum imagedecoders_result imagedecoders_heif_decode(
    struct imagedecoders_heif *file, int is_thumbnail, int is_turned, struct imagedecoders_pixels *pixels,
    struct imagedecoders_colors *colors);

// MARK: RAW

struct imagedecoders_raw;

/// The size is not rotated. The bytes must stay valid until the file is closed.
enum imagedecoders_result imagedecoders_raw_open(
    const void *bytes, size_t count, struct imagedecoders_raw **file, int *width, int *height, int *orientation);
void imagedecoders_raw_close(struct imagedecoders_raw *file);

/// Reads the preview that LibRaw chooses. It is an encoded JPEG (`*jpeg` is set), or pixels. ABSENT if there is none.
enum imagedecoders_result imagedecoders_raw_preview(
    struct imagedecoders_raw *file, uint8_t **jpeg, size_t *count, struct imagedecoders_pixels *pixels);

/// Develops the picture in sRGB, not rotated. Half the size is four times as fast.
enum imagedecoders_result imagedecoders_raw_develop(
    struct imagedecoders_raw *file, int is_half_size, struct imagedecoders_pixels *pixels);

// MARK: JPEG XL

/// Reads the size, upright.
enum imagedecoders_result imagedecoders_jxl_size(const void *bytes, size_t count, int *width, int *height);

/// Decodes the first frame, upright. Values of PQ and HLG have 16 bits.
enum imagedecoders_result imagedecoders_jxl_decode(
    const void *bytes, size_t count, struct imagedecoders_pixels *pixels, struct imagedecoders_colors *colors);

#endif
