// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <errno.h>
#include <libavutil/avstring.h>
#include <libavutil/dovi_meta.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/// How many bytes are read at a time.
enum { BLOCK = 64 << 10 };

/// The containers that are read. FFmpeg knows hundreds more, such as playlists, which refer to other files.
static const char containers[] = "mov,matroska,avi,mpegts,mpeg,mpegvideo,m4v,h264,hevc,asf,flv,ogg,mxf,dv,rm,ivf";

void videodecoder_start(void) { av_log_set_level(AV_LOG_QUIET); }

const char *videodecoder_format(unsigned number) {
  static const struct {
    const char *name;
    const char *container;
    enum AVCodecID codec;
  } formats[] = {
      {"video/mp4", "mov", AV_CODEC_ID_H264},          {"video/quicktime", "mov", AV_CODEC_ID_HEVC},
      {"video/x-m4v", "mov", AV_CODEC_ID_H264},        {"video/3gpp", "mov", AV_CODEC_ID_MPEG4},
      {"video/3gpp2", "mov", AV_CODEC_ID_MPEG4},       {"video/x-matroska", "matroska", AV_CODEC_ID_H264},
      {"video/webm", "matroska", AV_CODEC_ID_VP9},     {"video/x-msvideo", "avi", AV_CODEC_ID_MJPEG},
      {"video/mp2t", "mpegts", AV_CODEC_ID_H264},      {"video/mpeg", "mpeg", AV_CODEC_ID_MPEG2VIDEO},
      {"video/x-ms-wmv", "asf", AV_CODEC_ID_VC1},      {"video/x-ms-asf", "asf", AV_CODEC_ID_VC1},
      {"video/x-flv", "flv", AV_CODEC_ID_FLV1},        {"video/ogg", "ogg", AV_CODEC_ID_THEORA},
  };
  for (size_t index = 0; index < sizeof formats / sizeof formats[0]; index++) {
    if (!av_find_input_format(formats[index].container) || !avcodec_find_decoder(formats[index].codec)) continue;
    if (number-- == 0) return formats[index].name;
  }
  return NULL;
}

enum videodecoder_result videodecoder_check_size(struct videodecoder *video, int width, int height) {
  if (width <= 0 || height <= 0 || (uint64_t)width * (uint64_t)height <= video->maximum_pixels) return VIDEODECODER_DONE;
  return videodecoder_fail(
      VIDEODECODER_TOO_LARGE, "the video has %d × %d pixels, and at most %llu are allowed", width, height,
      (unsigned long long)video->maximum_pixels);
}

// MARK: Reading

static int read_bytes(void *opaque, uint8_t *buffer, int count) {
  struct videodecoder *video = opaque;
  ssize_t read = 0;
  do {
    read = pread(video->descriptor, buffer, (size_t)count, video->offset);
  } while (read < 0 && errno == EINTR);
  if (read < 0) {
    video->read_error = errno;
    return AVERROR(errno);
  }
  video->offset += read;
  return read == 0 ? AVERROR_EOF : (int)read;
}

static int64_t seek_bytes(void *opaque, int64_t offset, int origin) {
  struct videodecoder *video = opaque;
  switch (origin & ~AVSEEK_FORCE) {
  case AVSEEK_SIZE: return video->byte_count;
  case SEEK_SET: break;
  case SEEK_CUR: offset += video->offset; break;
  case SEEK_END: offset += video->byte_count; break;
  default: return AVERROR(EINVAL);
  }
  if (offset < 0) return AVERROR(EINVAL);
  return video->offset = offset;
}

/// Some containers can name other files.
static int refuse_other_file(
    struct AVFormatContext *format, AVIOContext **io, const char *url, int flags, AVDictionary **options) {
  (void)format, (void)io, (void)url, (void)flags, (void)options;
  return AVERROR(EPERM);
}

/// The size in the container may differ from that in the video. So each frame is checked before its memory is taken, as
/// `learn_streams` does while the file is opened.
static int get_buffer(AVCodecContext *codec, AVFrame *frame, int flags) {
  struct videodecoder *video = codec->opaque;
  if (videodecoder_check_size(video, frame->width, frame->height) != VIDEODECODER_DONE) {
    video->refused_width = frame->width;
    video->refused_height = frame->height;
    return AVERROR(EINVAL);
  }
  return avcodec_default_get_buffer2(codec, frame, flags);
}

// MARK: Opening

/// Chooses the largest of the tracks that a player shows. A cover picture is a track of its own.
static AVStream *choose_stream(AVFormatContext *format, int *has_sound, int *has_cover) {
  AVStream *chosen = NULL;
  int64_t best = -1;
  for (unsigned index = 0; index < format->nb_streams; index++) {
    AVStream *stream = format->streams[index];
    if (stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO) *has_sound = 1;
    if (stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO) continue;
    if (stream->disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS)) {
      *has_cover = 1;
      continue;
    }
    int64_t rank = (int64_t)stream->codecpar->width * stream->codecpar->height;
    if (stream->disposition & AV_DISPOSITION_DEFAULT) rank |= INT64_C(1) << 62;
    if (rank > best) {
      chosen = stream;
      best = rank;
    }
  }
  return chosen;
}

/// Whether the container describes its tracks well enough, so that no packets need to be decoded to learn about them.
static int is_described(AVFormatContext *format) {
  if (strncmp(format->iformat->name, "mov,", 4) != 0 && strncmp(format->iformat->name, "matroska", 8) != 0) return 0;
  for (unsigned index = 0; index < format->nb_streams; index++) {
    AVCodecParameters *parameters = format->streams[index]->codecpar;
    if (parameters->codec_type != AVMEDIA_TYPE_VIDEO) continue;
    if (parameters->codec_id == AV_CODEC_ID_NONE || parameters->width <= 0 || parameters->height <= 0) return 0;
  }
  return 1;
}

/// Decodes packets to learn about the tracks. FFmpeg uses decoders of its own, which know no `get_buffer`, so they get the
/// limit as an option. They ignore larger frames, and the video's own decoder refuses them. Tracks that are found only while
/// packets are read get no options. Their frames have at most the size that FFmpeg allows.
static int learn_streams(struct videodecoder *video) {
  unsigned count = video->format->nb_streams;
  AVDictionary **options = av_calloc(count ? count : 1, sizeof *options);
  int error = options ? 0 : AVERROR(ENOMEM);
  int64_t limit = video->maximum_pixels < INT_MAX ? (int64_t)video->maximum_pixels : INT_MAX;
  for (unsigned index = 0; index < count && error >= 0; index++) {
    error = av_dict_set_int(&options[index], "max_pixels", limit, 0);
  }
  if (error >= 0) error = avformat_find_stream_info(video->format, options);
  for (unsigned index = 0; options && index < count; index++) av_dict_free(&options[index]);
  av_free(options);
  return error;
}

static enum videodecoder_result open_container(struct videodecoder *video) {
  const AVInputFormat *container = NULL;
  int error = av_probe_input_buffer2(video->io, &container, "", NULL, 0, 0);
  if (video->read_error) {
    return videodecoder_fail(VIDEODECODER_READ_FAILED, "the file can't be read: %s", strerror(video->read_error));
  }
  if (error == AVERROR(ENOMEM)) return videodecoder_fail_of(VIDEODECODER_NO_MEMORY, error, "");
  if (error < 0 || !container || !av_match_list(container->name, containers, ',')) {
    return videodecoder_fail(VIDEODECODER_UNSUPPORTED, "the format of the video is not known");
  }
  video->format = avformat_alloc_context();
  if (!video->format) return videodecoder_fail_of(VIDEODECODER_NO_MEMORY, AVERROR(ENOMEM), "");
  video->format->pb = video->io;
  video->format->flags |= AVFMT_FLAG_CUSTOM_IO;
  video->format->io_open = refuse_other_file;
  // It frees the context if it fails.
  error = avformat_open_input(&video->format, "", container, NULL);
  if (error < 0 && video->read_error) {
    return videodecoder_fail(VIDEODECODER_READ_FAILED, "the file can't be read: %s", strerror(video->read_error));
  }
  if (error < 0) {
    return videodecoder_fail_of(
        VIDEODECODER_DAMAGED, error, "the file is damaged or cut off: the description of its tracks can't be read");
  }
  if (!is_described(video->format)) {
    error = learn_streams(video);
    if (error == AVERROR(ENOMEM)) return videodecoder_fail_of(VIDEODECODER_NO_MEMORY, error, "");
  }
  return VIDEODECODER_DONE;
}

/// The container's description of Dolby Vision. NULL if there is none.
static const AVDOVIDecoderConfigurationRecord *dolby_vision(const AVStream *stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
  const AVPacketSideData *data = av_packet_side_data_get(
      stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DOVI_CONF);
  return data ? (const AVDOVIDecoderConfigurationRecord *)data->data : NULL;
#else
  return (const AVDOVIDecoderConfigurationRecord *)av_stream_get_side_data(stream, AV_PKT_DATA_DOVI_CONF, NULL);
#endif
}

/// Refuses a video whose frames only a player with Dolby Vision can show. Its colours are IPT with PQ, which libswscale
/// would take for YCbCr and show green and violet. Profile 5 always has them, and profile 10 (AV1) if its frames are
/// compatible with nothing. The frames of the other profiles are SDR, PQ or HLG.
static enum videodecoder_result check_colors(const AVStream *stream) {
  const AVDOVIDecoderConfigurationRecord *record = dolby_vision(stream);
  if (!record) return VIDEODECODER_DONE;
  int is_incompatible =
      record->dv_profile == 5 || (record->dv_profile == 10 && record->dv_bl_signal_compatibility_id == 0);
  if (!is_incompatible) return VIDEODECODER_DONE;
  return videodecoder_fail(
      VIDEODECODER_UNSUPPORTED, "the colours of Dolby Vision profile %d are not supported", record->dv_profile);
}

static enum videodecoder_result open_stream(struct videodecoder *video) {
  int has_sound = 0, has_cover = 0;
  video->stream = choose_stream(video->format, &has_sound, &has_cover);
  if (!video->stream) {
    return videodecoder_fail(
        VIDEODECODER_DAMAGED, "the file has no video, only %s",
        has_sound && has_cover ? "sound and a cover picture"
        : has_sound            ? "sound"
        : has_cover            ? "a cover picture"
                               : "a description");
  }
  for (unsigned index = 0; index < video->format->nb_streams; index++) {
    AVStream *stream = video->format->streams[index];
    if (stream != video->stream) stream->discard = AVDISCARD_ALL;
  }
  AVCodecParameters *parameters = video->stream->codecpar;
  enum videodecoder_result result = videodecoder_check_size(video, parameters->width, parameters->height);
  if (result == VIDEODECODER_DONE) result = check_colors(video->stream);
  if (result != VIDEODECODER_DONE) return result;
  const AVCodec *decoder = avcodec_find_decoder(parameters->codec_id);
  if (!decoder || decoder->capabilities & AV_CODEC_CAP_HARDWARE) {
    return videodecoder_fail(
        VIDEODECODER_UNSUPPORTED, "FFmpeg has no decoder for the video's format (%s)",
        avcodec_get_name(parameters->codec_id));
  }
  video->codec = avcodec_alloc_context3(decoder);
  int error = video->codec ? avcodec_parameters_to_context(video->codec, parameters) : AVERROR(ENOMEM);
  if (error >= 0) {
    video->codec->opaque = video;
    video->codec->get_buffer2 = get_buffer;
    video->codec->pkt_timebase = video->stream->time_base;
    // Each process has one core.
    video->codec->thread_count = 1;
    error = avcodec_open2(video->codec, decoder, NULL);
  }
  if (error < 0) return videodecoder_fail_of(VIDEODECODER_DAMAGED, error, "the video's decoder can't be started");
  return VIDEODECODER_DONE;
}

static enum videodecoder_result start(struct videodecoder *video) {
  uint8_t *buffer = av_malloc(BLOCK);
  if (buffer) video->io = avio_alloc_context(buffer, BLOCK, 0, video, read_bytes, NULL, seek_bytes);
  if (!video->io) {
    av_free(buffer);
    return videodecoder_fail_of(VIDEODECODER_NO_MEMORY, AVERROR(ENOMEM), "");
  }
  video->offset = 0;
  video->has_read = video->is_draining = 0;
  enum videodecoder_result result = open_container(video);
  return result == VIDEODECODER_DONE ? open_stream(video) : result;
}

static void end(struct videodecoder *video) {
  avcodec_free_context(&video->codec);
  avformat_close_input(&video->format);
  if (video->io) av_freep(&video->io->buffer);
  avio_context_free(&video->io);
}

enum videodecoder_result videodecoder_restart(struct videodecoder *video) {
  end(video);
  return start(video);
}

enum videodecoder_result videodecoder_open(
    int descriptor, int64_t byte_count, uint64_t maximum_pixels, struct videodecoder **opened) {
  struct videodecoder *video = av_mallocz(sizeof *video);
  if (!video) return videodecoder_fail_of(VIDEODECODER_NO_MEMORY, AVERROR(ENOMEM), "");
  video->descriptor = descriptor;
  video->byte_count = byte_count;
  video->maximum_pixels = maximum_pixels;
  video->packet = av_packet_alloc();
  video->frame = av_frame_alloc();
  video->found = av_frame_alloc();
  enum videodecoder_result result = video->packet && video->frame && video->found
      ? start(video)
      : videodecoder_fail_of(VIDEODECODER_NO_MEMORY, AVERROR(ENOMEM), "");
  if (result == VIDEODECODER_DONE) {
    *opened = video;
  } else {
    videodecoder_close(video);
  }
  return result;
}

void videodecoder_close(struct videodecoder *video) {
  end(video);
  av_frame_free(&video->found);
  av_frame_free(&video->frame);
  av_packet_free(&video->packet);
  av_free(video);
}
