// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
#include <math.h>
#include <string.h>
#include <time.h>

/// Microseconds, in which all times here are.
static const AVRational microseconds = {1, 1000000};
/// A frame at the border of two milliseconds is the later one, because the requested time was rounded.
static const int64_t rounding = 500;
/// How much of the video is searched for a frame that is not black.
static const int64_t longest_black = 10 * INT64_C(1000000);
/// How long that search may take.
static const int64_t longest_search = 8 * INT64_C(1000000);
/// The share of bright pixels that makes a frame not black.
static const double bright_share = 0.02;

/// After so many failures of a decoder in a row, the rest of the video is given up.
enum { MOST_FAILURES = 1000 };

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

// MARK: Decoding

/// If the video does not describe its colours, the container may.
static void describe_colors(struct videodecoder *video) {
  AVFrame *frame = video->frame;
  AVCodecParameters *parameters = video->stream->codecpar;
  if (frame->color_primaries == AVCOL_PRI_UNSPECIFIED) frame->color_primaries = parameters->color_primaries;
  if (frame->color_trc == AVCOL_TRC_UNSPECIFIED) frame->color_trc = parameters->color_trc;
  if (frame->colorspace == AVCOL_SPC_UNSPECIFIED) frame->colorspace = parameters->color_space;
  if (frame->color_range == AVCOL_RANGE_UNSPECIFIED) frame->color_range = parameters->color_range;
}

/// Decodes the next frame. Damaged parts are skipped.
/// Returns 0, or AVERROR_EOF after the last frame, or AVERROR(ENOMEM), or AVERROR(EINVAL) if a frame was refused.
static int decode(struct videodecoder *video) {
  video->has_read = 1;
  for (int failures = 0; failures < MOST_FAILURES;) {
    int error = avcodec_receive_frame(video->codec, video->frame);
    if (error == 0) describe_colors(video);
    if (error == 0 || error == AVERROR_EOF || error == AVERROR(ENOMEM)) return error;
    if (video->refused_width) return AVERROR(EINVAL);
    if (error != AVERROR(EAGAIN)) {
      video->error = error;
      failures++;
      continue;
    }
    error = av_read_frame(video->format, video->packet);
    if (error == AVERROR(ENOMEM)) return error;
    if (error < 0) {
      if (error != AVERROR_EOF) video->error = error;
      if (video->is_draining) return AVERROR_EOF;
      video->is_draining = 1;
      avcodec_send_packet(video->codec, NULL);
      continue;
    }
    if (video->packet->stream_index == video->stream->index) {
      error = avcodec_send_packet(video->codec, video->packet);
      if (error < 0) video->error = error;
    }
    av_packet_unref(video->packet);
    if (error == AVERROR(ENOMEM)) return error;
    if (video->refused_width) return AVERROR(EINVAL);
  }
  return AVERROR_EOF;
}

/// The time of the last frame after a search. If the next frame has no time, it counts as too late.
static const int64_t unknown_time = INT64_MAX;

/// How long a frame is displayed.
static int64_t frame_time(struct videodecoder *video) {
  AVRational rate = video->stream->avg_frame_rate;
  return rate.num > 0 && rate.den > 0 ? av_rescale_q(1, av_inv_q(rate), microseconds) : 40000;
}

/// The time at which the frame that was decoded last is displayed, since the start of the video.
static int64_t time_of(struct videodecoder *video) {
  int64_t stamp = video->frame->best_effort_timestamp;
  if (stamp == AV_NOPTS_VALUE) return video->time == unknown_time ? unknown_time : video->time + frame_time(video);
  int64_t start = video->format->start_time == AV_NOPTS_VALUE ? 0 : video->format->start_time;
  return av_rescale_q(stamp, video->stream->time_base, microseconds) - start - video->delay;
}

static void keep(struct videodecoder *video) {
  av_frame_unref(video->found);
  av_frame_move_ref(video->found, video->frame);
}

/// Continues with the key frame before this time. Returns 0 if it can't.
static int seek(struct videodecoder *video, int64_t time) {
  int64_t start = video->format->start_time == AV_NOPTS_VALUE ? 0 : video->format->start_time;
  int64_t place =
      av_rescale_q_rnd(time + start + video->delay, microseconds, video->stream->time_base, AV_ROUND_DOWN);
  int error = avformat_seek_file(video->format, video->stream->index, INT64_MIN, place, place, 0);
  avcodec_flush_buffers(video->codec);
  video->is_draining = 0;
  video->time = unknown_time;
  return error >= 0;
}

/// AVI has no times for display. FFmpeg gives frames the times at which they are decoded, so all of them are late if they
/// are decoded in another order. The first frame shows by how much.
static void measure_delay(struct videodecoder *video) {
  if (strcmp(video->format->iformat->name, "avi") != 0 || video->delay) return;
  video->time = -frame_time(video);
  if (decode(video) == 0) video->delay = time_of(video);
  av_frame_unref(video->frame);
}

/// Decodes frames until one is displayed later than the time, and keeps the last one before.
///
/// - is_start: whether the video is read from its start, so that its first frame is the right one for earlier times.
static int decode_until(struct videodecoder *video, int64_t time, int is_start) {
  int has_found = 0, error;
  while ((error = decode(video)) == 0) {
    video->time = time_of(video);
    int is_late = video->time > time;
    if (is_late && (has_found || !is_start)) break;
    keep(video);
    has_found = 1;
    if (is_late) break;
  }
  av_frame_unref(video->frame);
  if (error == AVERROR(ENOMEM) || error == AVERROR(EINVAL)) return error;
  return has_found ? 0 : AVERROR_EOF;
}

/// Finds the last frame that is not displayed later than the time.
static int find_at(struct videodecoder *video, int64_t time) {
  // A container may only know the order in which frames are decoded, so the key frame that it finds may be a little
  // late. Then an earlier one is tried.
  static const int64_t steps[] = {0, 1000000, 5000000, 30000000};
  // A stream of packets gives the first frames after a search wrong times, so it is read from an earlier place.
  size_t step = video->format->iformat->flags & AVFMT_TS_DISCONT ? 1 : 0;
  measure_delay(video);
  for (; step < sizeof steps / sizeof steps[0] && steps[step] < time; step++) {
    if (!seek(video, time - steps[step])) continue;
    int error = decode_until(video, time, 0);
    if (error != AVERROR_EOF) return error;
  }
  if (video->has_read && videodecoder_restart(video) != VIDEODECODER_DONE) return AVERROR_EOF;
  video->time = -frame_time(video);
  return decode_until(video, time, 1);
}

// MARK: Black frames

/// The value from which a pixel is bright: an eighth of the way from black to white in BT.709, or as much light in PQ and
/// HLG.
static double bright_value(const AVFrame *frame) {
  switch (frame->color_trc) {
  case AVCOL_TRC_SMPTE2084: return 0.25;
  case AVCOL_TRC_ARIB_STD_B67: return 0.15;
  default: return 0.125;
  }
}

/// The share of bright pixels in a grid.
static double brightness(const AVFrame *frame) {
  enum { GRID = 96 };
  const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
  // No camera writes pixels that can't be read like this.
  if (!format || format->flags & AV_PIX_FMT_FLAG_HWACCEL || format->comp[0].depth > 16) return 1;
  int is_palette = format->flags & AV_PIX_FMT_FLAG_PAL;
  int is_rgb = is_palette || format->flags & AV_PIX_FMT_FLAG_RGB;
  int components = is_rgb ? 3 : 1;
  double most = (double)((1 << (is_palette ? 8 : format->comp[0].depth)) - 1);
  // Video leaves room below black and above white, unless it says otherwise.
  int is_full = is_rgb || frame->color_range == AVCOL_RANGE_JPEG || strncmp(format->name, "yuvj", 4) == 0;
  double black = is_full ? 0 : most * 16 / 255, white = is_full ? most : most * 235 / 255;
  double limit = black + (white - black) * bright_value(frame);
  int bright = 0, count = 0;
  for (int row = 0; row < GRID; row++) {
    int y = (int)((int64_t)(2 * row + 1) * frame->height / (2 * GRID));
    for (int column = 0; column < GRID; column++) {
      int x = (int)((int64_t)(2 * column + 1) * frame->width / (2 * GRID));
      int value = 0;
      for (int component = 0; component < components; component++) {
        uint16_t sample = 0;
        av_read_image_line2(
            &sample, (const uint8_t **)frame->data, frame->linesize, format, x, y, component, 1, is_palette != 0,
            sizeof sample);
        if (sample > value) value = sample;
      }
      bright += value > limit;
      count++;
    }
  }
  return (double)bright / count;
}

/// Whether the decoder had to guess a part of the frame.
static int is_damaged(const AVFrame *frame) { return frame->flags & AV_FRAME_FLAG_CORRUPT || frame->decode_error_flags; }

/// Finds the first frame that is not black. A frame that is damaged is taken only if there is no other.
static int find_visible(struct videodecoder *video) {
  int64_t begun = now(), first = 0;
  double best = -1;
  int error;
  video->time = -frame_time(video);
  while ((error = decode(video)) == 0) {
    video->time = time_of(video);
    if (best < 0) first = video->time;
    double share = brightness(video->frame);
    int is_good = share > bright_share && !is_damaged(video->frame);
    // Damage counts more than darkness.
    double rank = is_damaged(video->frame) ? share / 1000 : share;
    if (is_good || rank > best) {
      keep(video);
      best = rank;
    } else {
      av_frame_unref(video->frame);
    }
    if (is_good || video->time - first > longest_black || now() - begun > longest_search) break;
  }
  if (error == AVERROR(ENOMEM) || (error == AVERROR(EINVAL) && best < 0)) return error;
  return best >= 0 ? 0 : AVERROR_EOF;
}

// MARK: The result

/// The orientation in EXIF of a display matrix. It maps a point (x, y) to (a x + c y, b x + d y).
static int orientation_of(const int32_t *matrix) {
  double a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
  if (fabs(a) + fabs(d) >= fabs(b) + fabs(c)) return a >= 0 ? (d >= 0 ? 1 : 4) : (d >= 0 ? 2 : 3);
  return b >= 0 ? (c >= 0 ? 5 : 6) : (c >= 0 ? 8 : 7);
}

/// The display matrix of the container, else that of the video. NULL if there is none.
static const int32_t *display_matrix(struct videodecoder *video) {
  enum { BYTES = 9 * sizeof(int32_t) };
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
  AVCodecParameters *parameters = video->stream->codecpar;
  const AVPacketSideData *data = av_packet_side_data_get(
      parameters->coded_side_data, parameters->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  if (data && data->size >= BYTES) return (const int32_t *)data->data;
#else
  size_t size = 0;
  const uint8_t *data = av_stream_get_side_data(video->stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  if (data && size >= BYTES) return (const int32_t *)data;
#endif
  AVFrameSideData *of_frame = av_frame_get_side_data(video->found, AV_FRAME_DATA_DISPLAYMATRIX);
  return of_frame && of_frame->size >= BYTES ? (const int32_t *)of_frame->data : NULL;
}

enum videodecoder_result videodecoder_find(
    struct videodecoder *video, int64_t milliseconds, struct videodecoder_frame *result) {
  int error = milliseconds < 0 ? find_visible(video) : find_at(video, milliseconds * 1000 + rounding);
  av_frame_unref(video->frame);
  if (error == AVERROR(ENOMEM)) return videodecoder_fail_of(VIDEODECODER_NO_MEMORY, error, "");
  if (error == AVERROR(EINVAL)) return videodecoder_check_size(video, video->refused_width, video->refused_height);
  if (video->read_error) {
    return videodecoder_fail(VIDEODECODER_READ_FAILED, "the file can't be read: %s", strerror(video->read_error));
  }
  AVFrame *frame = video->found;
  if (error < 0 || frame->width <= 0 || frame->height <= 0) {
    return videodecoder_fail_of(
        VIDEODECODER_DAMAGED, video->error, "the file is damaged or cut off: no frame of its video can be decoded");
  }
  // Not every decoder asks for the memory of its frames.
  enum videodecoder_result allowed = videodecoder_check_size(video, frame->width, frame->height);
  if (allowed != VIDEODECODER_DONE) return allowed;
  AVRational sample = av_guess_sample_aspect_ratio(video->format, video->stream, frame);
  double aspect = sample.num > 0 && sample.den > 0 ? av_q2d(sample) : 1;
  // No camera has samples of such a shape, so the value is damaged.
  if (aspect > 8 || aspect < 0.125) aspect = 1;
  result->width = aspect > 1 ? (int)lround(frame->width * aspect) : frame->width;
  result->height = aspect < 1 ? (int)lround(frame->height / aspect) : frame->height;
  const int32_t *matrix = display_matrix(video);
  result->orientation = matrix ? orientation_of(matrix) : 1;
  result->primaries = frame->color_primaries;
  result->transfer = frame->color_trc;
  return VIDEODECODER_DONE;
}
