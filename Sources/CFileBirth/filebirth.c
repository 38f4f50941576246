#define _GNU_SOURCE
#include "filebirth.h"

#include <fcntl.h>
#include <sys/stat.h>

int64_t filebirth_of(int descriptor) {
  struct statx status;
  if (statx(descriptor, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_BTIME, &status) != 0) return 0;
  if (!(status.stx_mask & STATX_BTIME)) return 0;
  int64_t nanoseconds;
  if (__builtin_mul_overflow((int64_t)status.stx_btime.tv_sec, INT64_C(1000000000), &nanoseconds) ||
      __builtin_add_overflow(nanoseconds, (int64_t)status.stx_btime.tv_nsec, &nanoseconds))
    return 0;
  return nanoseconds;
}
