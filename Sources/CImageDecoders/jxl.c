// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <jxl/decode.h>
#include <stdlib.h>

// libvips can read JPEG XL, too, but gives the decoder one thread for each core.

static enum imagedecoders_result damaged(void) {
  return imagedecoders_fail(IMAGEDECODERS_DAMAGED, "libjxl: the file is damaged or cut off");
}

static JxlDecoder *begin(const void *bytes, size_t count, int events) {
  JxlDecoder *decoder = JxlDecoderCreate(NULL);
  if (!decoder) return NULL;
  JxlDecoderSubscribeEvents(decoder, events);
  JxlDecoderSetInput(decoder, bytes, count);
  JxlDecoderCloseInput(decoder);
  return decoder;
}

enum imagedecoders_result imagedecoders_jxl_size(const void *bytes, size_t count, int *width, int *height) {
  JxlDecoder *decoder = begin(bytes, count, JXL_DEC_BASIC_INFO);
  if (!decoder) return imagedecoders_fail(IMAGEDECODERS_NO_MEMORY, "the file can't be opened");
  JxlBasicInfo info;
  int is_read = JxlDecoderProcessInput(decoder) == JXL_DEC_BASIC_INFO &&
      JxlDecoderGetBasicInfo(decoder, &info) == JXL_DEC_SUCCESS;
  JxlDecoderDestroy(decoder);
  if (!is_read || info.xsize > 1u << 30 || info.ysize > 1u << 30) return damaged();
  int is_turned = info.orientation > 4;
  *width = (int)(is_turned ? info.ysize : info.xsize);
  *height = (int)(is_turned ? info.xsize : info.ysize);
  return IMAGEDECODERS_DONE;
}

static void read_colors(JxlDecoder *decoder, struct imagedecoders_colors *colors) {
  JxlColorEncoding encoding;
  size_t count = 0;
#if JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
  int is_encoded = JxlDecoderGetColorAsEncodedProfile(decoder, JXL_COLOR_PROFILE_TARGET_DATA, &encoding) == JXL_DEC_SUCCESS;
  JxlDecoderGetICCProfileSize(decoder, JXL_COLOR_PROFILE_TARGET_DATA, &count);
#else
  static const JxlPixelFormat any = {3, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
  int is_encoded =
      JxlDecoderGetColorAsEncodedProfile(decoder, &any, JXL_COLOR_PROFILE_TARGET_DATA, &encoding) == JXL_DEC_SUCCESS;
  JxlDecoderGetICCProfileSize(decoder, &any, JXL_COLOR_PROFILE_TARGET_DATA, &count);
#endif
  if (is_encoded) {
    colors->primaries = encoding.primaries == JXL_PRIMARIES_2100 ? 9 : encoding.primaries == JXL_PRIMARIES_P3 ? 12 : 1;
    // Both enumerations have the numbers of H.273.
    colors->transfer = (int)encoding.transfer_function;
  }
  if (count == 0 || count > 8u << 20 || !(colors->profile = malloc(count))) return;
  colors->profile_count = count;
#if JPEGXL_NUMERIC_VERSION >= JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
  int is_read =
      JxlDecoderGetColorAsICCProfile(decoder, JXL_COLOR_PROFILE_TARGET_DATA, colors->profile, count) == JXL_DEC_SUCCESS;
#else
  int is_read = JxlDecoderGetColorAsICCProfile(
                    decoder, &any, JXL_COLOR_PROFILE_TARGET_DATA, colors->profile, count) == JXL_DEC_SUCCESS;
#endif
  if (!is_read) {
    free(colors->profile);
    colors->profile = NULL;
  }
}

enum imagedecoders_result imagedecoders_jxl_decode(
    const void *bytes, size_t count, struct imagedecoders_pixels *pixels, struct imagedecoders_colors *colors) {
  *pixels = (struct imagedecoders_pixels){0};
  *colors = (struct imagedecoders_colors){.primaries = 2, .transfer = 2};
  JxlDecoder *decoder = begin(bytes, count, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE);
  if (!decoder) return imagedecoders_fail(IMAGEDECODERS_NO_MEMORY, "the file can't be opened");
  JxlPixelFormat format = {3, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
  enum imagedecoders_result result = IMAGEDECODERS_DONE;
  while (result == IMAGEDECODERS_DONE) {
    JxlDecoderStatus status = JxlDecoderProcessInput(decoder);
    if (status == JXL_DEC_FULL_IMAGE || status == JXL_DEC_SUCCESS) {
      if (!pixels->bytes) result = damaged();
      break;
    }
    switch (status) {
    case JXL_DEC_BASIC_INFO: {
      JxlBasicInfo info;
      if (JxlDecoderGetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS) {
        result = damaged();
        break;
      }
      int is_grey = info.num_color_channels == 1;
      format.num_channels = info.num_color_channels + (info.alpha_bits > 0);
      int is_turned = info.orientation > 4;
      pixels->width = (int)(is_turned ? info.ysize : info.xsize);
      pixels->height = (int)(is_turned ? info.xsize : info.ysize);
      pixels->model = is_grey ? (info.alpha_bits ? IMAGEDECODERS_GREY_ALPHA : IMAGEDECODERS_GREY)
                              : (info.alpha_bits ? IMAGEDECODERS_RGBA : IMAGEDECODERS_RGB);
      pixels->bits = 8;
      break;
    }
    case JXL_DEC_COLOR_ENCODING:
      read_colors(decoder, colors);
      if ((colors->transfer == 16 || colors->transfer == 18) && pixels->model >= IMAGEDECODERS_RGB) {
        format.num_channels = 3;
        format.data_type = JXL_TYPE_UINT16;
        pixels->model = IMAGEDECODERS_RGB;
        pixels->bits = 16;
      }
      break;
    case JXL_DEC_NEED_IMAGE_OUT_BUFFER: {
      size_t needed = 0;
      // A second frame reuses the buffer.
      if (!pixels->bytes) result = imagedecoders_allocate(pixels);
      if (result == IMAGEDECODERS_DONE &&
          (JxlDecoderImageOutBufferSize(decoder, &format, &needed) != JXL_DEC_SUCCESS || needed != pixels->count ||
           JxlDecoderSetImageOutBuffer(decoder, &format, pixels->bytes, pixels->count) != JXL_DEC_SUCCESS))
        result = damaged();
      break;
    }
    default: result = damaged();
    }
  }
  JxlDecoderDestroy(decoder);
  if (result != IMAGEDECODERS_DONE) {
    free(pixels->bytes);
    free(colors->profile);
    pixels->bytes = NULL;
    colors->profile = NULL;
  }
  return result;
}
