// SPDX-License-Identifier: GPL-2.0-or-later
//
// One frame of a video, by FFmpeg's libraries, and its encoding as JPEG or PNG. Each function that returns a
// `videodecoder_result` sets `videodecoder_message` if it fails.
#ifndef PHOTOD_VIDEODECODER_H
#define PHOTOD_VIDEODECODER_H

#include <stddef.h>
#include <stdint.h>

enum videodecoder_result {
  VIDEODECODER_DONE,
  /// The file is damaged, or has no video.
  VIDEODECODER_DAMAGED,
  /// FFmpeg has no decoder for it.
  VIDEODECODER_UNSUPPORTED,
  VIDEODECODER_NO_MEMORY,
  /// A frame has more pixels than are allowed.
  VIDEODECODER_TOO_LARGE,
  /// The file can't be read, for example because its disk failed.
  VIDEODECODER_READ_FAILED,
};

/// The reason of the last failure: a clause in plain English.
const char *videodecoder_message(void);

/// Silences FFmpeg, whose messages quote the file.
void videodecoder_start(void);

/// The media types that can be decoded, one after another. NULL after the last one.
const char *videodecoder_format(unsigned number);

struct videodecoder;

/// Opens a video.
///
/// - descriptor: open for reading. It must stay open, and its offset is not moved.
/// - byte_count: the size of the file.
/// - maximum_pixels: a video with larger frames is TOO_LARGE.
enum videodecoder_result videodecoder_open(
    int descriptor, int64_t byte_count, uint64_t maximum_pixels, struct videodecoder **video);
void videodecoder_close(struct videodecoder *video);

/// A frame that was found.
struct videodecoder_frame {
  /// The size at which it is displayed, before its rotation: its samples are made square by enlarging one side.
  int width;
  int height;
  /// EXIF 1...8
  int orientation;
  /// ITU-T H.273
  int primaries;
  int transfer;
};

/// Finds the frame that is displayed at a time. After the end, it is the last one.
///
/// - milliseconds: the time since the start of the video. A negative one means the first frame that is not black: more
///   than 2 % of its pixels are brighter than an eighth of the way from black to white. If all of the first 10 s is
///   black, it is the frame with the most such pixels. The search ends after 8 s of work.
enum videodecoder_result videodecoder_find(
    struct videodecoder *video, int64_t milliseconds, struct videodecoder_frame *frame);

/// Converts the found frame to RGB at this size, before its rotation. The matrix and the range of its colours are undone,
/// their primaries and transfer stay.
///
/// - bits: 8, or 16 with the lower byte first.
/// - pixels: width × height × 3 values, without padding.
enum videodecoder_result videodecoder_convert(
    struct videodecoder *video, int width, int height, int bits, uint8_t *pixels);

/// Encodes RGB with 8 bits. The owner of the bytes calls free(3).
///
/// - quality: of JPEG. 0 means PNG.
enum videodecoder_result videodecoder_encode(
    const uint8_t *pixels, int width, int height, int quality, uint8_t **bytes, size_t *count);

#endif
