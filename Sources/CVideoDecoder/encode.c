// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <jpegcodec.h>
#include <stdlib.h>
#include <string.h>

/// FFmpeg's own encoder of JPEG has the tables of MPEG-1 and another scale of quality. libjpeg gives pictures like those of
/// photod-image, and is small.
static enum videodecoder_result encode_jpeg(
    const uint8_t *pixels, int width, int height, int quality, uint8_t **bytes, size_t *count) {
  switch (jpegcodec_encode(pixels, width, height, quality, bytes, count)) {
  case JPEGCODEC_DONE: return VIDEODECODER_DONE;
  case JPEGCODEC_NO_MEMORY: return videodecoder_fail(VIDEODECODER_NO_MEMORY, "%s", jpegcodec_message());
  default: return videodecoder_fail(VIDEODECODER_DAMAGED, "%s", jpegcodec_message());
  }
}

static enum videodecoder_result encode_png(
    const uint8_t *pixels, int width, int height, uint8_t **bytes, size_t *count) {
  const AVCodec *encoder = avcodec_find_encoder(AV_CODEC_ID_PNG);
  if (!encoder) return videodecoder_fail(VIDEODECODER_UNSUPPORTED, "FFmpeg has no encoder for PNG");
  AVCodecContext *codec = avcodec_alloc_context3(encoder);
  AVFrame *frame = av_frame_alloc();
  AVPacket *packet = av_packet_alloc();
  int error = codec && frame && packet ? 0 : AVERROR(ENOMEM);
  if (error == 0) {
    codec->width = frame->width = width;
    codec->height = frame->height = height;
    codec->pix_fmt = AV_PIX_FMT_RGB24;
    frame->format = AV_PIX_FMT_RGB24;
    codec->time_base = (AVRational){1, 1};
    codec->thread_count = 1;
    error = avcodec_open2(codec, encoder, NULL);
  }
  if (error >= 0) error = av_frame_get_buffer(frame, 0);
  if (error >= 0) {
    size_t row = (size_t)width * 3;
    for (int y = 0; y < height; y++) memcpy(frame->data[0] + (ptrdiff_t)frame->linesize[0] * y, pixels + row * (size_t)y, row);
    error = avcodec_send_frame(codec, frame);
  }
  if (error >= 0) error = avcodec_send_frame(codec, NULL);
  if (error >= 0) error = avcodec_receive_packet(codec, packet);
  if (error >= 0) {
    *bytes = malloc((size_t)packet->size);
    if (*bytes) {
      memcpy(*bytes, packet->data, (size_t)packet->size);
      *count = (size_t)packet->size;
    } else {
      error = AVERROR(ENOMEM);
    }
  }
  av_packet_free(&packet);
  av_frame_free(&frame);
  avcodec_free_context(&codec);
  return error < 0 ? videodecoder_fail_of(VIDEODECODER_DAMAGED, error, "the picture can't be encoded")
                   : VIDEODECODER_DONE;
}

enum videodecoder_result videodecoder_encode(
    const uint8_t *pixels, int width, int height, int quality, uint8_t **bytes, size_t *count) {
  return quality ? encode_jpeg(pixels, width, height, quality, bytes, count)
                 : encode_png(pixels, width, height, bytes, count);
}
