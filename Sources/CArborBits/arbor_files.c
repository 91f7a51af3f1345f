#define _GNU_SOURCE
#include "arbor_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int arbor_rename_exclusive(const char *source, const char *target) {
#if defined(__APPLE__)
  if (renamex_np(source, target, RENAME_EXCL) == 0) return 0;
  if (errno != ENOTSUP && errno != EINVAL) return errno;
#elif defined(RENAME_NOREPLACE)
  if (renameat2(AT_FDCWD, source, AT_FDCWD, target, RENAME_NOREPLACE) == 0) return 0;
  // Old kernels and some file systems don't support the flag.
  if (errno != EINVAL && errno != ENOSYS) return errno;
#endif
  // Creating a second name fails if it already exists. Otherwise, the first name is removed.
  if (link(source, target) != 0) return errno;
  return unlink(source) == 0 ? 0 : errno;
}

int arbor_lock_range(int descriptor, int kind, off_t start, off_t length, int waits) {
#if defined(F_OFD_SETLK)
  int command = waits ? F_OFD_SETLKW : F_OFD_SETLK;
#else
  // The values on macOS, whose headers don't declare them.
  int command = waits ? 91 : 90;
#endif
  static const short types[] = {F_RDLCK, F_WRLCK, F_UNLCK};
  struct flock lock = {0};
  lock.l_type = types[kind];
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return fcntl(descriptor, command, &lock);
}

int arbor_is_locked(int descriptor, off_t start, off_t length) {
#if defined(F_OFD_GETLK)
  int command = F_OFD_GETLK;
#else
  int command = 92;
#endif
  struct flock lock = {0};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return fcntl(descriptor, command, &lock) == 0 && lock.l_type != F_UNLCK;
}

int arbor_redirect(int descriptor, int target) {
#ifdef __linux__
  return dup3(target, descriptor, O_CLOEXEC);
#else
  if (dup2(target, descriptor) < 0) return -1;
  return fcntl(descriptor, F_SETFD, FD_CLOEXEC);
#endif
}

int arbor_flush(int descriptor) {
  int result;
  do {
#ifdef __APPLE__
    // fsync leaves the data in the disk's cache.
    result = fcntl(descriptor, F_FULLFSYNC);
#else
    result = fdatasync(descriptor);
#endif
  } while (result != 0 && errno == EINTR);
  return result;
}

#ifdef __linux__
int arbor_reserve(int descriptor, off_t size) {
  return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, size);
}

int arbor_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }
#endif
