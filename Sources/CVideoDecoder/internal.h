// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef PHOTOD_VIDEODECODER_INTERNAL_H
#define PHOTOD_VIDEODECODER_INTERNAL_H

#include "include/videodecoder.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

struct videodecoder {
  int descriptor;
  int64_t offset;
  int64_t byte_count;
  /// The errno of a read that failed. 0 if there was none.
  int read_error;
  uint64_t maximum_pixels;
  /// The size of a frame that was refused. 0 if none was.
  int refused_width, refused_height;
  AVIOContext *io;
  AVFormatContext *format;
  AVStream *stream;
  AVCodecContext *codec;
  AVPacket *packet;
  /// The frame that was decoded last.
  AVFrame *frame;
  /// The frame that was found.
  AVFrame *found;
  /// Whether packets were read since the file was opened.
  int has_read;
  int is_draining;
  /// The time of the last frame, and how late all times of the container are, in microseconds.
  int64_t time, delay;
  /// The last failure of the decoder.
  int error;
};

/// Sets the message, and returns the result.
enum videodecoder_result videodecoder_fail(enum videodecoder_result result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// The same for an error of FFmpeg, which is appended in parentheses unless it is 0. It is NO_MEMORY if memory is missing.
enum videodecoder_result videodecoder_fail_of(enum videodecoder_result result, int error, const char *text);

/// Opens the file again, so that it is read from its start. Not every container can search for its start.
enum videodecoder_result videodecoder_restart(struct videodecoder *video);

/// TOO_LARGE with its message, if a frame of this size has too many pixels.
enum videodecoder_result videodecoder_check_size(struct videodecoder *video, int width, int height);

#endif
