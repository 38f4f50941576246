// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef PHOTOD_JPEGCODEC_INTERNAL_H
#define PHOTOD_JPEGCODEC_INTERNAL_H

#include "include/jpegcodec.h"

// It must come before jpeglib.h, which needs FILE.
#include <stdio.h>

#include <jpeglib.h>

// It needs jpeglib.h.
#include <jerror.h>
#include <setjmp.h>

/// The errors of libjpeg. `place` is where the work continues after it failed.
struct jpegcodec_errors {
  struct jpeg_error_mgr manager;
  jmp_buf place;
  /// Whether the compressed data ended too early.
  int is_cut_off;
};

/// Sets the functions of the errors. libjpeg prints nothing after that.
struct jpeg_error_mgr *jpegcodec_catch(struct jpegcodec_errors *errors);

/// Sets the message, and returns the result.
enum jpegcodec_result jpegcodec_fail(enum jpegcodec_result result, const char *text);

/// The result of the last error of libjpeg, with this clause before its reason.
enum jpegcodec_result jpegcodec_fail_of(j_common_ptr jpeg, const char *text);

#endif
