// Lets libheif and libvips be without the decoders of all formats. It is loaded into photod-image before them (LD_PRELOAD).
#include <stddef.h>

/// As in <libheif/heif.h>: a feature that is not supported, because of its codec.
struct error {
  int code;
  int subcode;
  const char *message;
};

int heif_have_decoder_for_format(int format) {
  (void)format;
  return 0;
}

struct error heif_decode_image(
    const void *handle, void **image, int colors, int chroma, const void *options) {
  (void)handle, (void)image, (void)colors, (void)chroma, (void)options;
  return (struct error){4, 3003, "Unsupported feature: Unsupported codec"};
}

void vips_error(const char *domain, const char *format, ...);

size_t vips_type_find(const char *base, const char *name) {
  (void)base, (void)name;
  return 0;
}

void *vips_image_new_from_buffer(const void *bytes, size_t count, const char *options, ...) {
  (void)bytes, (void)count, (void)options;
  vips_error("VipsForeignLoad", "buffer is not in a known format");
  return NULL;
}
