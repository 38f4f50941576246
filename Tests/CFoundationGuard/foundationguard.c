// `Process.run()` of Foundation copies 256 bytes from the start of each name in /proc/self/fd, however short the name is.
// The last entry may be at the end of the C library's buffer, and that may be at the end of a mapping: with some 1,360 open
// descriptors, the copy ended the tests with signal 11. This readdir(3) takes the place of the C library's. It returns a
// copy of the entry, with room for the longest name behind it.
#define _GNU_SOURCE
#include "foundationguard.h"

#include <dirent.h>
#include <dlfcn.h>
#include <string.h>

void foundationguard_use(void) {}

struct dirent *readdir(DIR *directory) {
  static struct dirent *(*original)(DIR *);
  static _Thread_local struct dirent copy;
  if (!original) original = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
  struct dirent *entry = original(directory);
  if (!entry) return NULL;
  size_t size = entry->d_reclen < sizeof copy ? entry->d_reclen : sizeof copy;
  memcpy(&copy, entry, size);
  memset((char *)&copy + size, 0, sizeof copy - size);
  return &copy;
}
