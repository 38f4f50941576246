// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>

static char message[500];

const char *videodecoder_message(void) { return message; }

enum videodecoder_result videodecoder_fail(enum videodecoder_result result, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return result;
}

enum videodecoder_result videodecoder_fail_of(enum videodecoder_result result, int error, const char *text) {
  if (error == AVERROR(ENOMEM)) return videodecoder_fail(VIDEODECODER_NO_MEMORY, "there is not enough memory");
  if (error == 0) return videodecoder_fail(result, "%s", text);
  char reason[AV_ERROR_MAX_STRING_SIZE] = "no reason given";
  av_strerror(error, reason, sizeof reason);
  return videodecoder_fail(result, "%s (FFmpeg: %s)", text, reason);
}
