#define _GNU_SOURCE
#include "arbor_bits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int arbor_rename_exclusive(const char *source, const char *target) {
#if defined(__APPLE__)
  if (renamex_np(source, target, RENAME_EXCL) == 0) return 0;
  if (errno != ENOTSUP && errno != EINVAL) return errno;
#elif defined(RENAME_NOREPLACE)
  if (renameat2(AT_FDCWD, source, AT_FDCWD, target, RENAME_NOREPLACE) == 0) return 0;
  // Old kernels and some file systems know no such flag.
  if (errno != EINVAL && errno != ENOSYS) return errno;
#endif
  // A second name fails where there is one already; then the first name goes.
  if (link(source, target) != 0) return errno;
  return unlink(source) == 0 ? 0 : errno;
}
