#include "fileattribute.h"

#include <errno.h>
#include <sys/xattr.h>

int fileattribute_set(int descriptor, const char *name, uint64_t number) {
  return fsetxattr(descriptor, name, &number, sizeof number, 0) == 0 ? 0 : errno;
}

int fileattribute_get(int descriptor, const char *name, uint64_t *number) {
  uint64_t found;
  long count = fgetxattr(descriptor, name, &found, sizeof found);
  if (count < 0) return errno;
  if (count != sizeof found) return EINVAL;
  *number = found;
  return 0;
}
