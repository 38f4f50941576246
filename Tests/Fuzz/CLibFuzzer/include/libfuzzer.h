// The entry of LLVM's libFuzzer, for which the toolchain has no header (https://llvm.org/docs/LibFuzzer.html).
#ifndef PHOTOD_LIBFUZZER_H
#define PHOTOD_LIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

/// Runs the fuzzer with its options. It calls `run` with one input after another, and `run` returns 0.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*run)(const uint8_t *bytes, size_t byte_count));

#endif
