// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef PHOTOD_IMAGEDECODERS_INTERNAL_H
#define PHOTOD_IMAGEDECODERS_INTERNAL_H

#include "include/imagedecoders.h"

/// Sets the message, and returns the result.
enum imagedecoders_result imagedecoders_fail(enum imagedecoders_result result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Allocates the bytes of pixels whose other fields are set.
enum imagedecoders_result imagedecoders_allocate(struct imagedecoders_pixels *pixels);

/// Converts RGB pixels with 8 bits from the colours of an ICC profile to sRGB. Returns 0 if the profile can't be used. Then
/// nothing is changed.
int imagedecoders_apply_profile(const uint8_t *profile, size_t count, struct imagedecoders_pixels *pixels);

/// The number of values of a pixel.
int imagedecoders_bands(enum imagedecoders_model model);

#endif
