// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <libswscale/swscale.h>
#include <string.h>

/// The filters of libswscale are too short to scale to less than this fraction at once.
enum { MOST_REDUCTION = 16 };

/// The matrix from luma and chroma to RGB, as a constant of libswscale. If nothing names it, it is that of BT.709 for high
/// definition and that of BT.601 for less, as in players.
static int matrix_of(const AVFrame *frame) {
  switch (frame->colorspace) {
  case AVCOL_SPC_BT709: return SWS_CS_ITU709;
  case AVCOL_SPC_BT470BG:
  case AVCOL_SPC_SMPTE170M: return SWS_CS_ITU601;
  case AVCOL_SPC_FCC: return SWS_CS_FCC;
  case AVCOL_SPC_SMPTE240M: return SWS_CS_SMPTE240M;
  case AVCOL_SPC_BT2020_NCL:
  case AVCOL_SPC_BT2020_CL: return SWS_CS_BT2020;
  default: return frame->width >= 1280 || frame->height >= 720 ? SWS_CS_ITU709 : SWS_CS_ITU601;
  }
}

/// The formats with a J have the full range. libswscale wants them without.
static enum AVPixelFormat without_range(enum AVPixelFormat format, int *is_full) {
  enum AVPixelFormat plain;
  switch (format) {
  case AV_PIX_FMT_YUVJ420P: plain = AV_PIX_FMT_YUV420P; break;
  case AV_PIX_FMT_YUVJ422P: plain = AV_PIX_FMT_YUV422P; break;
  case AV_PIX_FMT_YUVJ444P: plain = AV_PIX_FMT_YUV444P; break;
  case AV_PIX_FMT_YUVJ440P: plain = AV_PIX_FMT_YUV440P; break;
  case AV_PIX_FMT_YUVJ411P: plain = AV_PIX_FMT_YUV411P; break;
  default: return format;
  }
  *is_full = 1;
  return plain;
}

static int is_interlaced(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
  return frame->interlaced_frame;
#endif
}

/// Scales and converts a frame into a new one.
static int scale(const AVFrame *source, int matrix, int width, int height, enum AVPixelFormat format, AVFrame **result) {
  int is_full = source->color_range == AVCOL_RANGE_JPEG;
  enum AVPixelFormat plain = without_range(source->format, &is_full);
  int rows = source->height;
  int strides[AV_NUM_DATA_POINTERS];
  memcpy(strides, source->linesize, sizeof strides);
  // Two fields were taken one after the other. Only the first is shown, because moving things would have teeth.
  if (is_interlaced(source) && rows % 2 == 0) {
    rows /= 2;
    for (int plane = 0; plane < AV_NUM_DATA_POINTERS; plane++) strides[plane] *= 2;
  }
  if (!sws_isSupportedInput(plain)) return AVERROR(ENOSYS);
  AVFrame *target = av_frame_alloc();
  if (!target) return AVERROR(ENOMEM);
  target->width = width;
  target->height = height;
  target->format = format;
  // libswscale may write a little behind the end of a row, so the rows are padded.
  int error = av_frame_get_buffer(target, 64);
  struct SwsContext *scaler = error < 0 ? NULL
      : sws_getContext(
            source->width, rows, plain, width, height, format,
            SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP, NULL, NULL, NULL);
  if (error >= 0 && !scaler) error = AVERROR(ENOMEM);
  if (error >= 0) {
    const int *coefficients = sws_getCoefficients(matrix);
    sws_setColorspaceDetails(scaler, coefficients, is_full, coefficients, 1, 0, 1 << 16, 1 << 16);
    error = sws_scale(
        scaler, (const uint8_t *const *)source->data, strides, 0, rows, target->data, target->linesize);
  }
  sws_freeContext(scaler);
  if (error < 0) {
    av_frame_free(&target);
    return error;
  }
  *result = target;
  return 0;
}

enum videodecoder_result videodecoder_convert(
    struct videodecoder *video, int width, int height, int bits, uint8_t *pixels) {
  enum AVPixelFormat format = bits == 8 ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_RGB48LE;
  int matrix = matrix_of(video->found);
  AVFrame *last = video->found, *next = NULL;
  int error = 0;
  do {
    int across = (last->width + MOST_REDUCTION - 1) / MOST_REDUCTION;
    int down = (last->height + MOST_REDUCTION - 1) / MOST_REDUCTION;
    error = scale(last, matrix, across > width ? across : width, down > height ? down : height, format, &next);
    if (last != video->found) av_frame_free(&last);
    last = next;
  } while (error >= 0 && (last->width != width || last->height != height));
  if (error == AVERROR(ENOSYS)) {
    return videodecoder_fail(VIDEODECODER_UNSUPPORTED, "the pixels of the video have an unusual format");
  }
  if (error < 0) return videodecoder_fail_of(VIDEODECODER_DAMAGED, error, "the frame can't be converted");
  size_t row = (size_t)width * 3 * (size_t)(bits / 8);
  for (int y = 0; y < height; y++) memcpy(pixels + row * (size_t)y, last->data[0] + (ptrdiff_t)last->linesize[0] * y, row);
  av_frame_free(&last);
  return VIDEODECODER_DONE;
}
