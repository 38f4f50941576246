// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef PHOTOD_IMAGEDECODERS_INTERNAL_H
#define PHOTOD_IMAGEDECODERS_INTERNAL_H

#include "include/imagedecoders.h"

/// Sets the message, and returns the result.
enum imagedecoders_result imagedecoders_fail(enum imagedecoders_result result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Allocates the bytes of pixels whose other fields are set.
enum imagedecoders_result imagedecoders_allocate(struct imagedecoders_pixels *pixels);

/// The number of values of a pixel.
int imagedecoders_bands(enum imagedecoders_model model);

#endif
