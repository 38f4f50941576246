// SPDX-License-Identifier: GPL-2.0-or-later
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// The source values of each result along one side, with their weights.
struct kernel {
  /// The number of weights of each result. The values behind the last source value are 0.
  int taps;
  /// The first source value of each result.
  int *starts;
  float *weights;
};

/// Lanczos with 3 lobes.
static double weight_of(double distance) {
  distance = fabs(distance);
  if (distance < 1e-9) return 1;
  if (distance >= 3) return 0;
  double angle = M_PI * distance;
  return 3 * sin(angle) * sin(angle / 3) / (angle * angle);
}

static void free_kernel(struct kernel *kernel) {
  free(kernel->starts);
  free(kernel->weights);
}

/// Returns 0 if there is not enough memory.
static int make_kernel(struct kernel *kernel, int source, int target) {
  double step = (double)source / target;
  double reach = 3 * step;
  kernel->taps = (int)ceil(2 * reach) + 1;
  kernel->starts = malloc((size_t)target * sizeof *kernel->starts);
  kernel->weights = calloc((size_t)target * (size_t)kernel->taps, sizeof *kernel->weights);
  if (!kernel->starts || !kernel->weights) return 0;
  for (int place = 0; place < target; place++) {
    double center = (place + 0.5) * step;
    int start = (int)floor(center - reach), end = (int)ceil(center + reach);
    if (start < 0) start = 0;
    if (end > source) end = source;
    if (end - start > kernel->taps) end = start + kernel->taps;
    float *weights = kernel->weights + (size_t)place * (size_t)kernel->taps;
    double sum = 0;
    for (int index = start; index < end; index++) sum += weights[index - start] = (float)weight_of((index + 0.5 - center) / step);
    for (int index = start; index < end; index++) weights[index - start] /= (float)sum;
    kernel->starts[place] = start;
  }
  return 1;
}

static uint8_t byte_of(float value) { return value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t)(value + 0.5f); }

/// Scales all rows to the width of the result. `rows` has floats, so that nothing is rounded twice.
static void scale_across(
    const struct kernel *kernel, const uint8_t *source, int source_width, int height, int width, float *rows) {
  for (int y = 0; y < height; y++) {
    const uint8_t *row = source + (size_t)y * (size_t)source_width * 3;
    for (int x = 0; x < width; x++) {
      const float *weights = kernel->weights + (size_t)x * (size_t)kernel->taps;
      int start = kernel->starts[x];
      int count = source_width - start < kernel->taps ? source_width - start : kernel->taps;
      float red = 0, green = 0, blue = 0;
      for (int tap = 0; tap < count; tap++) {
        const uint8_t *pixel = row + 3 * (size_t)(start + tap);
        red += weights[tap] * pixel[0];
        green += weights[tap] * pixel[1];
        blue += weights[tap] * pixel[2];
      }
      float *target = rows + ((size_t)y * (size_t)width + (size_t)x) * 3;
      target[0] = red, target[1] = green, target[2] = blue;
    }
  }
}

static void scale_down(
    const struct kernel *kernel, const float *rows, int source_height, int height, size_t row_values, float *sum,
    uint8_t *pixels) {
  for (int y = 0; y < height; y++) {
    const float *weights = kernel->weights + (size_t)y * (size_t)kernel->taps;
    int start = kernel->starts[y];
    int count = source_height - start < kernel->taps ? source_height - start : kernel->taps;
    memset(sum, 0, row_values * sizeof *sum);
    for (int tap = 0; tap < count; tap++) {
      const float *row = rows + (size_t)(start + tap) * row_values;
      for (size_t index = 0; index < row_values; index++) sum[index] += weights[tap] * row[index];
    }
    for (size_t index = 0; index < row_values; index++) pixels[(size_t)y * row_values + index] = byte_of(sum[index]);
  }
}

enum jpegcodec_result jpegcodec_scale(
    const uint8_t *source, int source_width, int source_height, int width, int height, uint8_t *pixels) {
  if (source_width == width && source_height == height) {
    memcpy(pixels, source, (size_t)width * (size_t)height * 3);
    return JPEGCODEC_DONE;
  }
  struct kernel across = {0}, down = {0};
  size_t row_values = (size_t)width * 3;
  float *rows = malloc((size_t)source_height * row_values * sizeof *rows);
  float *sum = malloc(row_values * sizeof *sum);
  int has_memory = rows && sum && make_kernel(&across, source_width, width) && make_kernel(&down, source_height, height);
  if (has_memory) {
    scale_across(&across, source, source_width, source_height, width, rows);
    scale_down(&down, rows, source_height, height, row_values, sum, pixels);
  }
  free_kernel(&across);
  free_kernel(&down);
  free(rows);
  free(sum);
  return has_memory ? JPEGCODEC_DONE : jpegcodec_fail(JPEGCODEC_NO_MEMORY, "there is not enough memory");
}
