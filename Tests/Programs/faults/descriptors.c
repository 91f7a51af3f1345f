// Calls on open files, and those that open them. See faults.c.
#include "calls.h"

#ifdef ARBOR_FAULTS
#include <dlfcn.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/vfs.h>

// Opening and closing.

static int open_at(int at, const char *asked, int flags, unsigned mode) {
  const char *path = path_opened(asked);
  int is_ours = is_below(path) || (path && path[0] != '/' && target_of(at));
  if (fails(is_ours, "open", ANY | INTERRUPTED | (flags & O_CREAT ? ROOM : 0))) return -1;
  int existed = is_ours && syscall(SYS_faccessat, at, path, F_OK) == 0;
  int descriptor = (int)syscall(SYS_openat, at, path, flags, mode);
  int error = errno;
  watch(descriptor, 0);
  if (is_ours) watch_opened(descriptor, path, flags, existed);
  errno = error;
  return descriptor;
}

#define MODE                                                                                       \
  unsigned mode = 0;                                                                               \
  if (flags & (O_CREAT | __O_TMPFILE)) {                                                           \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    mode = va_arg(rest, unsigned);                                                                 \
    va_end(rest);                                                                                  \
  }

int open(const char *path, int flags, ...) { MODE return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return open_at(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE return open_at(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) {
  MODE return open_at(at, path, flags, mode);
}

/// A descriptor is closed even where that fails.
int close(int descriptor) {
  int is_failing = fails_on(descriptor, "close", ANY | ROOM | INTERRUPTED), error = errno;
  watch(descriptor, 0);
  int result = (int)syscall(SYS_close, descriptor);
  if (!is_failing) return result;
  errno = error;
  return -1;
}

int dup3(int descriptor, int other, int flags) {
  if (fails_on(descriptor, "dup3", ANY | INTERRUPTED)) return -1;
  int result = (int)syscall(SYS_dup3, descriptor, other, flags);
  if (result >= 0) watch_as(other, descriptor);
  return result;
}

// Locks.

int fcntl(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  unsigned long argument = va_arg(rest, unsigned long);
  va_end(rest);
  int waits = command == F_SETLKW || command == F_OFD_SETLKW;
  int locks = waits || command == F_SETLK || command == F_OFD_SETLK || command == F_GETLK;
  int copies = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  int can_fail = locks || copies;
  if (can_fail && fails_on(descriptor, "fcntl", ANY | (waits ? INTERRUPTED : 0))) return -1;
  int result = (int)syscall(SYS_fcntl, descriptor, command, argument);
  if (copies && result >= 0) watch_as(result, descriptor);
  return result;
}
int fcntl64(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  unsigned long argument = va_arg(rest, unsigned long);
  va_end(rest);
  return fcntl(descriptor, command, argument);
}

int flock(int descriptor, int operation) {
  int ways = operation & LOCK_NB ? ANY : ANY | INTERRUPTED;
  if (fails_on(descriptor, "flock", ways)) return -1;
  return (int)syscall(SYS_flock, descriptor, operation);
}

// Reading and writing.

ssize_t read(int descriptor, void *bytes, size_t size) {
  long most = allowed(descriptor, "read", 0, size);
  return most < 0 ? -1 : syscall(SYS_read, descriptor, bytes, most);
}
ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset) {
  long most = allowed(descriptor, "pread", 0, size);
  return most < 0 ? -1 : syscall(SYS_pread64, descriptor, bytes, most, offset);
}
ssize_t pread64(int descriptor, void *bytes, size_t size, off_t offset) {
  return pread(descriptor, bytes, size, offset);
}
ssize_t write(int descriptor, const void *bytes, size_t size) {
  long most = allowed(descriptor, "write", ROOM, size);
  if (most < 0) return -1;
  long written = syscall(SYS_write, descriptor, bytes, most);
  if (is_recording()) record_written(descriptor, bytes, written);
  return written;
}
ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
  long most = allowed(descriptor, "pwrite", ROOM, size);
  if (most < 0) return -1;
  long written = syscall(SYS_pwrite64, descriptor, bytes, most, offset);
  if (written > 0 && target_of(descriptor))
    record(WRITTEN, descriptor, (uint64_t)offset, (uint64_t)written, bytes);
  return written;
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off_t offset) {
  return pwrite(descriptor, bytes, size, offset);
}
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  long most = allowed(descriptor, "writev", ROOM, 2);
  if (most < 0) return -1;
  if (is_recording() && target_of(descriptor)) {
    // One after the other, so that each is noted as far as it was written.
    long written = 0;
    for (int part = 0; part < count; part++) {
      long more = write(descriptor, parts[part].iov_base, parts[part].iov_len);
      if (more < 0) return written ? written : -1;
      written += more;
      if (more < (long)parts[part].iov_len) break;
    }
    return written;
  }
  if (most == 2) return syscall(SYS_writev, descriptor, parts, count);
  return syscall(SYS_write, descriptor, parts[0].iov_base, (parts[0].iov_len + 1) / 2);
}
off_t lseek(int descriptor, off_t offset, int whence) {
  if (fails_on(descriptor, "lseek", ANY)) return -1;
  return syscall(SYS_lseek, descriptor, offset, whence);
}
off_t lseek64(int descriptor, off_t offset, int whence) {
  return lseek(descriptor, offset, whence);
}

// Writes that go on while the program continues, in the place of the library's functions of these
// names. At most one is under way.

static struct {
  int descriptor, is_recorded;
  const void *bytes;
  size_t size;
  off_t offset;
} flight;

int arbor_flight_submit(uint64_t context, int descriptor, const void *bytes, size_t size,
                        off_t offset) {
  if (fails_on(descriptor, "io_submit", ANY | ROOM)) return -1;
  flight.descriptor = descriptor, flight.bytes = bytes, flight.size = size, flight.offset = offset;
  flight.is_recorded = is_recording() && target_of(descriptor);
  if (flight.is_recorded) {
    // The file's contents are what the program is to read. The recording says what is durable.
    record(WRITTEN, descriptor, (uint64_t)offset, size, bytes);
    return syscall(SYS_pwrite64, descriptor, bytes, size, offset) == (long)size ? 0 : -1;
  }
  struct iocb block = {0}, *blocks[1] = {&block};
  block.aio_fildes = (uint32_t)descriptor;
  block.aio_lio_opcode = IOCB_CMD_PWRITE;
  block.aio_buf = (uint64_t)(uintptr_t)bytes;
  block.aio_nbytes = size;
  block.aio_offset = offset;
  block.aio_rw_flags = RWF_DSYNC;
  return syscall(SYS_io_submit, context, 1L, blocks) == 1 ? 0 : -1;
}

/// Ends or stops the process while a write is under way, as ARBOR_FAULTS_FLIGHT asks: `kill N` or
/// `stop N`, for the Nth one.
static void interrupt_flight(void) {
  static int left = -1;
  const char *asked = getenv("ARBOR_FAULTS_FLIGHT");
  if (!asked) return;
  if (left < 0) left = atoi(asked + 5);
  if (left > 0 && --left == 0) raise(!strncmp(asked, "kill", 4) ? SIGKILL : SIGSTOP);
}

long arbor_flight_wait(uint64_t context) {
  interrupt_flight();
  if (flight.is_recorded) {
    record(LANDED, flight.descriptor, (uint64_t)flight.offset, flight.size, flight.bytes);
    return (long)flight.size;
  }
  struct io_event event;
  while (syscall(SYS_io_getevents, context, 1L, 1L, &event, NULL) != 1) {
    if (errno != EINTR) return -errno;
  }
  if (fails_on(flight.descriptor, "io_getevents", ANY | ROOM)) return -errno;
  return (long)event.res;
}

// Making durable, and room.

int fsync(int descriptor) {
  if (fails_on(descriptor, "fsync", ANY | ROOM | INTERRUPTED)) return -1;
  if (is_recording() && target_of(descriptor)) {
    record(target_of(descriptor) == FOLDER ? FOLDER_SYNCED : SYNCED, descriptor, 0, 0, NULL);
    return 0;
  }
  return (int)syscall(SYS_fsync, descriptor);
}
int fdatasync(int descriptor) {
  if (fails_on(descriptor, "fdatasync", ANY | ROOM | INTERRUPTED)) return -1;
  if (is_recording() && target_of(descriptor)) {
    record(SYNCED, descriptor, 0, 0, NULL);
    return 0;
  }
  return (int)syscall(SYS_fdatasync, descriptor);
}
int ftruncate(int descriptor, off_t size) {
  if (fails_on(descriptor, "ftruncate", ANY | ROOM | INTERRUPTED)) return -1;
  int result = (int)syscall(SYS_ftruncate, descriptor, size);
  if (result == 0 && target_of(descriptor)) record(RESIZED, descriptor, (uint64_t)size, 0, NULL);
  return result;
}
int ftruncate64(int descriptor, off_t size) { return ftruncate(descriptor, size); }
int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  if (fails_on(descriptor, "fallocate", ANY | ROOM | INTERRUPTED)) return -1;
  return (int)syscall(SYS_fallocate, descriptor, mode, offset, size);
}
int fallocate64(int descriptor, int mode, off_t offset, off_t size) {
  return fallocate(descriptor, mode, offset, size);
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  int is_file = !(flags & MAP_ANONYMOUS);
  if (is_file && fails_on(descriptor, "mmap", ANY)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void *)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
}
void *mmap64(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  return mmap(address, size, protection, flags, descriptor, offset);
}

// What is known of them.

int fstat(int descriptor, struct stat *status) {
  if (fails_on(descriptor, "fstat", ANY)) return -1;
  return (int)syscall(SYS_newfstatat, descriptor, "", status, AT_EMPTY_PATH);
}
int fstat64(int descriptor, struct stat64 *status) {
  return fstat(descriptor, (struct stat *)status);
}
/// Called by libraries that were built with a C library before 2.33.
int __fxstat(int version, int descriptor, struct stat *status) {
  (void)version;
  return fstat(descriptor, status);
}
int fstatfs(int descriptor, struct statfs *status) {
  if (fails_on(descriptor, "fstatfs", ANY)) return -1;
  return (int)syscall(SYS_fstatfs, descriptor, status);
}
int fstatvfs(int descriptor, struct statvfs *status) {
  if (fails_on(descriptor, "fstatvfs", ANY)) return -1;
  int (*next)(int, struct statvfs *) = dlsym(RTLD_NEXT, "fstatvfs");
  return next(descriptor, status);
}
int fchown(int descriptor, uid_t owner, gid_t group) {
  if (fails_on(descriptor, "fchown", ANY)) return -1;
  return (int)syscall(SYS_fchown, descriptor, owner, group);
}
#endif
