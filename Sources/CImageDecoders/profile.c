// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <lcms2.h>
#include <stdlib.h>
#include <string.h>

/// The conversion of the profile that was used last. To make one takes 5 ms, as long as all the rest of a thumbnail in
/// HEIC. Most photos of a library have the same profile.
static struct {
  uint8_t *profile;
  size_t count;
  cmsHTRANSFORM conversion;
} last;

static void forget_last(void) {
  if (last.conversion) cmsDeleteTransform(last.conversion);
  free(last.profile);
  memset(&last, 0, sizeof last);
}

/// NULL if the profile is damaged, or not of RGB.
static cmsHTRANSFORM conversion_of(const uint8_t *profile, size_t count) {
  if (last.conversion && last.count == count && memcmp(last.profile, profile, count) == 0) return last.conversion;
  forget_last();
  cmsHPROFILE source = cmsOpenProfileFromMem(profile, (cmsUInt32Number)count);
  cmsHPROFILE target = cmsCreate_sRGBProfile();
  if (source && target && cmsGetColorSpace(source) == cmsSigRgbData) {
    last.conversion = cmsCreateTransform(source, TYPE_RGB_8, target, TYPE_RGB_8, INTENT_RELATIVE_COLORIMETRIC, 0);
  }
  if (source) cmsCloseProfile(source);
  if (target) cmsCloseProfile(target);
  last.profile = malloc(count);
  last.count = count;
  if (last.profile) {
    memcpy(last.profile, profile, count);
  } else {
    forget_last();
  }
  return last.conversion;
}

int imagedecoders_apply_profile(const uint8_t *profile, size_t count, struct imagedecoders_pixels *pixels) {
  cmsHTRANSFORM conversion = conversion_of(profile, count);
  if (!conversion) return 0;
  cmsDoTransform(conversion, pixels->bytes, pixels->bytes, (cmsUInt32Number)pixels->width * (cmsUInt32Number)pixels->height);
  return 1;
}
