// Calls of the system on files, in the place of the C library's: the program that links them sees
// one fail, or all from one on, where its environment asks for it, and so do the libraries that it
// uses, LMDB's among them. Without that they do what the C library does.
//
//   ARBOR_FAULTS_FOLDER   only calls on what is below this folder count, by their absolute path
//   ARBOR_FAULTS_CALL     the number of the call that fails, from 1 on; 0 for none
//   ARBOR_FAULTS_KIND     eio, enospc (calls that may need room), short (reads and writes do half
//                         of what was asked for) or eintr (calls that a signal may interrupt)
//   ARBOR_FAULTS_LASTING  1: every call from that one on fails
//   ARBOR_FAULTS_REPORT   a file, which gets the name of each call that fails, and at the end the
//                         number of all calls
//
//   ARBOR_FAULTS_RECORD   instead of all that but the folder: a file, which gets everything that is
//                         done to the folder's files but locks, and what the program says on its
//                         standard output in between; see `struct record`
//
//   ARBOR_FAULTS_BOOT     a file to be read for the name of the machine's start, as if what was
//                         recorded were found after another one
//
// Only the calls that could fail in the way that is asked for are counted. A sanitizer has calls of
// its own in these places, so its builds do without.
#include "faults.h"

#if defined(__linux__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { ANY = 1, ROOM = 2, TRANSFER = 4, INTERRUPTED = 8 };

/// What is done to files, with the data or the name behind it; to be read by the machine that wrote
/// it.
struct record {
  uint32_t kind, is_durable;
  /// The number of the file's inode.
  uint64_t file, offset, length;
};
enum { WRITTEN = 1, SYNCED, RESIZED, SAID, MADE, RENAMED, REMOVED, FOLDER_SYNCED, LINKED };

static char folder[4096];
static const char *boot;
static size_t folder_length;
static int wanted, failure, lasting, report = -1, recording = -1;
static long target;
static atomic_long calls;
/// By descriptor, whether it leads into the folder, and where to.
enum { FILE_IN_FOLDER = 1, DURABLE_FILE, FOLDER };
static atomic_uchar watched[4096];
static uint64_t inodes[4096];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

long arbor_faults_calls(void) { return calls; }

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("ARBOR_FAULTS_FOLDER"), *kind = getenv("ARBOR_FAULTS_KIND");
  const char *call = getenv("ARBOR_FAULTS_CALL"), *file = getenv("ARBOR_FAULTS_REPORT");
  const char *rest = getenv("ARBOR_FAULTS_LASTING"), *record = getenv("ARBOR_FAULTS_RECORD");
  boot = getenv("ARBOR_FAULTS_BOOT");
  if (path && record && strlen(path) < sizeof folder) {
    int opened = (int)syscall(SYS_openat, AT_FDCWD, record, O_WRONLY | O_CREAT | O_APPEND, 0600);
    recording = (int)syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, 900);
    syscall(SYS_close, opened);
    strcpy(folder, path);
    folder_length = strlen(path);
    return;
  }
  if (!path || !kind || !call || !file || strlen(path) >= sizeof folder) return;
  target = atol(call);
  lasting = rest && !strcmp(rest, "1");
  wanted = ANY, failure = EIO;
  if (!strcmp(kind, "enospc")) wanted = ROOM, failure = ENOSPC;
  if (!strcmp(kind, "short")) wanted = TRANSFER, failure = 0;
  if (!strcmp(kind, "eintr")) wanted = INTERRUPTED, failure = EINTR;
  int opened = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  // Out of the way of programs that expect low numbers.
  report = (int)syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, 900);
  syscall(SYS_close, opened);
  strcpy(folder, path);
  folder_length = strlen(path);
}

static void note(const char *word, long number) {
  char line[80];
  int length = snprintf(line, sizeof line, "%s %ld\n", word, number);
  syscall(SYS_write, report, line, (size_t)length);
}

__attribute__((destructor)) static void end(void) {
  if (report >= 0) note("calls", calls);
}

static int is_below(const char *path) {
  return folder_length && path && !strncmp(path, folder, folder_length);
}

static int is_watched(int descriptor) {
  return folder_length && descriptor >= 0 && descriptor < 4096 && watched[descriptor];
}

static void watch(int descriptor, int place) {
  if (folder_length && descriptor >= 0 && descriptor < 4096)
    watched[descriptor] = (unsigned char)place;
}

/// Whether a call that could fail in these ways is to fail now.
static int fails(int is_counted, const char *name, int ways) {
  if (!is_counted || recording >= 0 || !(ways & wanted)) return 0;
  long number = atomic_fetch_add(&calls, 1) + 1;
  if (!target || number < target || (number > target && !lasting)) return 0;
  note(name, number);
  errno = failure;
  return 1;
}

static int fails_on(int descriptor, const char *name, int ways) {
  return fails(is_watched(descriptor), name, ways);
}

static int fails_at(const char *path, const char *name, int ways) {
  return fails(is_below(path), name, ways);
}

// Recording.

static void record(int kind, int descriptor, uint64_t offset, uint64_t length, const void *data) {
  if (recording < 0) return;
  int is_file = descriptor >= 0 && descriptor < 4096;
  struct record record = {
      (uint32_t)kind, is_file && watched[descriptor] == DURABLE_FILE,
      is_file ? inodes[descriptor] : 0, offset, length};
  struct iovec parts[2] = {{&record, sizeof record}, {(void *)data, data ? length : 0}};
  int error = errno;
  pthread_mutex_lock(&mutex);
  if (syscall(SYS_writev, recording, parts, 2) < (long)(sizeof record)) abort();
  pthread_mutex_unlock(&mutex);
  errno = error;
}

/// Notes what was written where the descriptor stood.
static void record_written(int descriptor, const void *data, long length) {
  if (length <= 0) return;
  if (descriptor == 1) record(SAID, -1, 0, (uint64_t)length, data);
  if (!is_watched(descriptor)) return;
  uint64_t end = (uint64_t)syscall(SYS_lseek, descriptor, 0L, SEEK_CUR);
  record(WRITTEN, descriptor, end - (uint64_t)length, (uint64_t)length, data);
}

static void record_names(int kind, const char *from, const char *to) {
  char names[2 * 4096];
  size_t first = strlen(from) + 1, second = to ? strlen(to) + 1 : 0;
  memcpy(names, from, first);
  if (to) memcpy(names + first, to, second);
  record(kind, -1, 0, first + second, names);
}

static int is_lock(const char *path) {
  size_t length = strlen(path);
  return length > 5 && !strcmp(path + length - 5, "-lock");
}

/// Notes where a descriptor leads to; lock files are nobody's concern after a loss of power.
static void watch_opened(int descriptor, const char *path, int flags, int existed) {
  if (descriptor < 0 || descriptor >= 4096) return;
  if (recording < 0) return watch(descriptor, FILE_IN_FOLDER);
  struct stat status;
  if (syscall(SYS_newfstatat, descriptor, "", &status, AT_EMPTY_PATH) != 0) abort();
  if (is_lock(path)) return watch(descriptor, 0);
  inodes[descriptor] = status.st_ino;
  int is_folder = (status.st_mode & S_IFMT) == S_IFDIR;
  watch(descriptor, is_folder ? FOLDER : flags & O_DSYNC ? DURABLE_FILE : FILE_IN_FOLDER);
  if (!existed && !is_folder) record(MADE, descriptor, 0, strlen(path) + 1, path);
  if (existed && flags & O_TRUNC) record(RESIZED, descriptor, 0, 0, NULL);
}

// Opening and closing.

static int open_at(int at, const char *path, int flags, unsigned mode) {
  if (boot && path && !strcmp(path, "/proc/sys/kernel/random/boot_id")) path = boot;
  int is_ours = is_below(path) || (path && path[0] != '/' && is_watched(at));
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

int close(int descriptor) {
  watch(descriptor, 0);
  return (int)syscall(SYS_close, descriptor);
}

int fcntl(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  unsigned long argument = va_arg(rest, unsigned long);
  va_end(rest);
  int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK;
  if (locks && fails_on(descriptor, "fcntl", ANY)) return -1;
  int result = (int)syscall(SYS_fcntl, descriptor, command, argument);
  if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && result >= 0 && result < 4096) {
    int is = is_watched(descriptor);
    watch(result, is ? watched[descriptor] : 0);
    if (is) inodes[result] = inodes[descriptor];
  }
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
  if (fails_on(descriptor, "flock", ANY)) return -1;
  return (int)syscall(SYS_flock, descriptor, operation);
}

// Reading and writing.

/// Bytes of a transfer; -1 where it fails.
static long allowed(int descriptor, const char *name, int ways, size_t size) {
  if (!fails_on(descriptor, name, ways | ANY | INTERRUPTED | TRANSFER)) return (long)size;
  if (failure) return -1;
  return size > 1 ? (long)(size / 2) : (long)size;
}

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
  if (recording >= 0) record_written(descriptor, bytes, written);
  return written;
}
ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
  long most = allowed(descriptor, "pwrite", ROOM, size);
  if (most < 0) return -1;
  long written = syscall(SYS_pwrite64, descriptor, bytes, most, offset);
  if (written > 0 && is_watched(descriptor))
    record(WRITTEN, descriptor, (uint64_t)offset, (uint64_t)written, bytes);
  return written;
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off_t offset) {
  return pwrite(descriptor, bytes, size, offset);
}
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  long most = allowed(descriptor, "writev", ROOM, 2);
  if (most < 0) return -1;
  if (recording >= 0 && is_watched(descriptor)) {
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

// Making durable, and room.

int fsync(int descriptor) {
  if (fails_on(descriptor, "fsync", ANY | ROOM | INTERRUPTED)) return -1;
  if (recording >= 0 && is_watched(descriptor)) {
    record(watched[descriptor] == FOLDER ? FOLDER_SYNCED : SYNCED, descriptor, 0, 0, NULL);
    return 0;
  }
  return (int)syscall(SYS_fsync, descriptor);
}
int fdatasync(int descriptor) {
  if (fails_on(descriptor, "fdatasync", ANY | ROOM | INTERRUPTED)) return -1;
  if (recording >= 0 && is_watched(descriptor)) {
    record(SYNCED, descriptor, 0, 0, NULL);
    return 0;
  }
  return (int)syscall(SYS_fdatasync, descriptor);
}
int ftruncate(int descriptor, off_t size) {
  if (fails_on(descriptor, "ftruncate", ANY | ROOM)) return -1;
  int result = (int)syscall(SYS_ftruncate, descriptor, size);
  if (result == 0 && is_watched(descriptor)) record(RESIZED, descriptor, (uint64_t)size, 0, NULL);
  return result;
}
int ftruncate64(int descriptor, off_t size) { return ftruncate(descriptor, size); }

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

// Names and what is known of files.

int rename(const char *from, const char *to) {
  if (fails_at(from, "rename", ANY | ROOM)) return -1;
  int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0 && is_below(from) && !is_lock(from)) record_names(RENAMED, from, to);
  return result;
}
int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  if (fails_at(from, "renameat2", ANY | ROOM)) return -1;
  int result = (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
  if (result == 0 && is_below(from) && !is_lock(from)) record_names(RENAMED, from, to);
  return result;
}
int link(const char *from, const char *to) {
  if (fails_at(from, "link", ANY | ROOM)) return -1;
  int result = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0 && is_below(from) && !is_lock(from)) record_names(LINKED, from, to);
  return result;
}
int unlink(const char *path) {
  if (fails_at(path, "unlink", ANY)) return -1;
  int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (result == 0 && is_below(path) && !is_lock(path)) record_names(REMOVED, path, NULL);
  return result;
}
int mkdir(const char *path, mode_t mode) {
  if (fails_at(path, "mkdir", ANY | ROOM)) return -1;
  return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}
int fstat(int descriptor, struct stat *status) {
  if (fails_on(descriptor, "fstat", ANY)) return -1;
  return (int)syscall(SYS_newfstatat, descriptor, "", status, AT_EMPTY_PATH);
}
int stat(const char *path, struct stat *status) {
  if (fails_at(path, "stat", ANY)) return -1;
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0);
}
int lstat(const char *path, struct stat *status) {
  if (fails_at(path, "lstat", ANY)) return -1;
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
int fstatfs(int descriptor, struct statfs *status) {
  if (fails_on(descriptor, "fstatfs", ANY)) return -1;
  return (int)syscall(SYS_fstatfs, descriptor, status);
}
#else
long arbor_faults_calls(void) { return 0; }
#endif
