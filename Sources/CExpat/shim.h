#include <expat.h>
#include <stddef.h>

/* string.h declares it for _GNU_SOURCE only, which Swift's importer doesn't define. */
void *memmem(const void *haystack, size_t haystack_length, const void *needle, size_t needle_length);
