// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

// It must come before jpeglib.h, which needs FILE.
#include <stdio.h>

#include <jpeglib.h>

// It needs jpeglib.h.
#include <jerror.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

// FFmpeg's own encoder of JPEG has the tables of MPEG-1 and another scale of quality. libjpeg gives pictures like those of
// photod-image, and is small.

/// `place` is where an encoding continues after it failed.
struct jpeg_failure {
  struct jpeg_error_mgr manager;
  jmp_buf place;
};

static void fail_of_jpeg(j_common_ptr jpeg) { longjmp(((struct jpeg_failure *)jpeg->err)->place, 1); }

static void ignore_message(j_common_ptr jpeg) { (void)jpeg; }

/// The encoded bytes. `bytes` always points to the present block, so it can be freed after a failure. With the destination
/// of libjpeg, the caller's pointer may point to a block that was freed when the bytes grew.
struct jpeg_bytes {
  struct jpeg_destination_mgr manager;
  uint8_t *bytes;
  size_t capacity;
};

static void grow_bytes(j_compress_ptr jpeg, size_t used, size_t capacity) {
  struct jpeg_bytes *target = (struct jpeg_bytes *)jpeg->dest;
  uint8_t *bytes = realloc(target->bytes, capacity);
  if (!bytes) ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
  target->bytes = bytes;
  target->capacity = capacity;
  target->manager.next_output_byte = bytes + used;
  target->manager.free_in_buffer = capacity - used;
}

static void begin_bytes(j_compress_ptr jpeg) { grow_bytes(jpeg, 0, 64 << 10); }

/// libjpeg calls it when the whole block is used. Then the two fields of the manager are not set.
static boolean double_bytes(j_compress_ptr jpeg) {
  size_t capacity = ((struct jpeg_bytes *)jpeg->dest)->capacity;
  grow_bytes(jpeg, capacity, 2 * capacity);
  return TRUE;
}

static void end_bytes(j_compress_ptr jpeg) { (void)jpeg; }

/// Returns 0 if it fails. Then `jpeg->err` has the reason. All that changes here belongs to the caller, because local
/// variables are undefined after a longjmp(3).
static int write_jpeg(
    const uint8_t *pixels, int width, int height, int quality, struct jpeg_bytes *target,
    struct jpeg_compress_struct *jpeg) {
  if (setjmp(((struct jpeg_failure *)jpeg->err)->place)) return 0;
  jpeg_create_compress(jpeg);
  jpeg->dest = &target->manager;
  jpeg->image_width = (JDIMENSION)width;
  jpeg->image_height = (JDIMENSION)height;
  jpeg->input_components = 3;
  jpeg->in_color_space = JCS_RGB;
  jpeg_set_defaults(jpeg);
  jpeg_set_quality(jpeg, quality, TRUE);
  jpeg_start_compress(jpeg, TRUE);
  while (jpeg->next_scanline < jpeg->image_height) {
    JSAMPROW row = (JSAMPROW)pixels + (size_t)jpeg->next_scanline * (size_t)width * 3;
    jpeg_write_scanlines(jpeg, &row, 1);
  }
  jpeg_finish_compress(jpeg);
  return 1;
}

static enum videodecoder_result encode_jpeg(
    const uint8_t *pixels, int width, int height, int quality, uint8_t **bytes, size_t *count) {
  struct jpeg_compress_struct jpeg = {0};
  struct jpeg_failure failure;
  struct jpeg_bytes target = {
      .manager = {.init_destination = begin_bytes, .empty_output_buffer = double_bytes, .term_destination = end_bytes}};
  jpeg.err = jpeg_std_error(&failure.manager);
  failure.manager.error_exit = fail_of_jpeg;
  failure.manager.output_message = ignore_message;
  enum videodecoder_result result = VIDEODECODER_DONE;
  if (write_jpeg(pixels, width, height, quality, &target, &jpeg)) {
    *bytes = target.bytes;
    *count = target.capacity - target.manager.free_in_buffer;
  } else {
    free(target.bytes);
    if (failure.manager.msg_code == JERR_OUT_OF_MEMORY) {
      result = videodecoder_fail_of(VIDEODECODER_NO_MEMORY, AVERROR(ENOMEM), "");
    } else {
      char text[JMSG_LENGTH_MAX] = "";
      failure.manager.format_message((j_common_ptr)&jpeg, text);
      result = videodecoder_fail(VIDEODECODER_DAMAGED, "the picture can't be encoded (libjpeg: %s)", text);
    }
  }
  jpeg_destroy_compress(&jpeg);
  return result;
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
