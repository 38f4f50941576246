#pragma once

#include <stdint.h>

// Returns the birth time of the open file in nanoseconds since 1970, or 0 if its file system keeps none. Swift does not
// import statx(2).
int64_t filebirth_of(int descriptor);
