// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

static char message[500];

const char *jpegcodec_message(void) { return message; }

static void leave(j_common_ptr jpeg) { longjmp(((struct jpegcodec_errors *)jpeg->err)->place, 1); }

static void ignore_message(j_common_ptr jpeg) { (void)jpeg; }

/// Level -1 is a warning: the data is damaged, and libjpeg goes on.
static void note_warning(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  jpeg->err->num_warnings++;
  if (jpeg->err->msg_code == JWRN_HIT_MARKER) ((struct jpegcodec_errors *)jpeg->err)->is_cut_off = 1;
}

struct jpeg_error_mgr *jpegcodec_catch(struct jpegcodec_errors *errors) {
  struct jpeg_error_mgr *manager = jpeg_std_error(&errors->manager);
  manager->error_exit = leave;
  manager->output_message = ignore_message;
  manager->emit_message = note_warning;
  errors->is_cut_off = 0;
  return manager;
}

enum jpegcodec_result jpegcodec_fail(enum jpegcodec_result result, const char *text) {
  snprintf(message, sizeof message, "%s", text);
  return result;
}

enum jpegcodec_result jpegcodec_fail_of(j_common_ptr jpeg, const char *text) {
  if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY) return jpegcodec_fail(JPEGCODEC_NO_MEMORY, "there is not enough memory");
  char reason[JMSG_LENGTH_MAX] = "";
  jpeg->err->format_message(jpeg, reason);
  snprintf(message, sizeof message, "%s (libjpeg: %s)", text, reason);
  return JPEGCODEC_DAMAGED;
}
