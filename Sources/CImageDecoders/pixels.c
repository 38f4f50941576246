// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char message[500];

const char *imagedecoders_message(void) { return message; }

enum imagedecoders_result imagedecoders_fail(enum imagedecoders_result result, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return result;
}

int imagedecoders_bands(enum imagedecoders_model model) { return model == IMAGEDECODERS_CMYK ? 4 : (int)model; }

enum imagedecoders_result imagedecoders_allocate(struct imagedecoders_pixels *pixels) {
  if (pixels->width < 1 || pixels->height < 1) return imagedecoders_fail(IMAGEDECODERS_DAMAGED, "the picture is empty");
  pixels->count = (size_t)pixels->width * (size_t)pixels->height * (size_t)imagedecoders_bands(pixels->model);
  if (pixels->bits > 8) pixels->count *= 2;
  pixels->bytes = malloc(pixels->count);
  if (!pixels->bytes) return imagedecoders_fail(IMAGEDECODERS_NO_MEMORY, "the pixels need %zu bytes", pixels->count);
  return IMAGEDECODERS_DONE;
}

void imagedecoders_free(void *memory) { free(memory); }
