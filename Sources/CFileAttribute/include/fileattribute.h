#pragma once

#include <stdint.h>

// A number in an extended attribute of an open file. Swift does not import the calls of xattr(7).

// Returns 0, or the error number, such as ENOTSUP if the file system keeps no attributes.
int fileattribute_set(int descriptor, const char *name, uint64_t number);

// Returns 0, or the error number: ENODATA if the file has no such attribute, EINVAL if it is no such number.
int fileattribute_get(int descriptor, const char *name, uint64_t *number);
