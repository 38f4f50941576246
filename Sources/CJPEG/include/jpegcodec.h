// SPDX-License-Identifier: GPL-2.0-or-later
//
// JPEG by libjpeg alone: what a program needs that shows the small pictures of cameras, and starts in a few milliseconds.
// Each function that returns a `jpegcodec_result` sets `jpegcodec_message` if it fails.
#ifndef PHOTOD_JPEGCODEC_H
#define PHOTOD_JPEGCODEC_H

#include <stddef.h>
#include <stdint.h>

enum jpegcodec_result {
  JPEGCODEC_DONE,
  /// The file is damaged or cut off.
  JPEGCODEC_DAMAGED,
  /// It has colours that are not converted here: CMYK, or those of an ICC profile.
  JPEGCODEC_UNSUPPORTED,
  JPEGCODEC_NO_MEMORY,
};

/// The reason of the last failure: a clause in plain English.
const char *jpegcodec_message(void);

/// Decodes a picture at exactly this size, not rotated. It is not larger than the file's.
///
/// - pixels: width × height × 3 bytes, RGB without padding.
enum jpegcodec_result jpegcodec_decode(const void *bytes, size_t count, int width, int height, uint8_t *pixels);

/// Scales RGB pixels down, or keeps their size (Lanczos, 3 lobes).
///
/// - pixels: width × height × 3 bytes for the result.
enum jpegcodec_result jpegcodec_scale(
    const uint8_t *source, int source_width, int source_height, int width, int height, uint8_t *pixels);

/// Encodes RGB pixels without any metadata. The owner of the bytes calls free(3).
///
/// - quality: 1...100
enum jpegcodec_result jpegcodec_encode(
    const uint8_t *pixels, int width, int height, int quality, uint8_t **bytes, size_t *count);

#endif
