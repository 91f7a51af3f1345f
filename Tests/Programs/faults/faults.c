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
//   ARBOR_FAULTS_FLIGHT   `kill N` or `stop N`: ends or stops the program while its Nth direct write
//                         is under way
//
// Only the calls that could fail in the way that is asked for are counted. A sanitizer has calls of
// its own in these places, so its builds do without. The calls themselves are in descriptors.c and
// paths.c.
#include "faults.h"

#include "calls.h"

#ifdef ARBOR_FAULTS
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

/// In seconds.
enum { LONGEST_RUN = 120 };

static char folder[4096];
static size_t folder_length;
static const char *boot;
static int wanted, failure, lasting, report = -1, recording = -1;
static long target;
static atomic_long calls;
static atomic_uchar watched[4096];
static uint64_t inodes[4096];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

long arbor_faults_calls(void) { return calls; }

/// Opens a file to add to, out of the way of programs that expect low numbers.
static int open_report(const char *path) {
  int opened = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  int moved = (int)syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, 900);
  syscall(SYS_close, opened);
  return moved;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("ARBOR_FAULTS_FOLDER"), *kind = getenv("ARBOR_FAULTS_KIND");
  const char *call = getenv("ARBOR_FAULTS_CALL"), *file = getenv("ARBOR_FAULTS_REPORT");
  const char *rest = getenv("ARBOR_FAULTS_LASTING"), *record = getenv("ARBOR_FAULTS_RECORD");
  boot = getenv("ARBOR_FAULTS_BOOT");
  if (!path || strlen(path) >= sizeof folder) return;
  if (record) {
    recording = open_report(record);
  } else {
    if (!kind || !call || !file) return;
    target = atol(call);
    lasting = rest && !strcmp(rest, "1");
    wanted = ANY, failure = EIO;
    if (!strcmp(kind, "enospc")) wanted = ROOM, failure = ENOSPC;
    if (!strcmp(kind, "short")) wanted = TRANSFER, failure = 0;
    if (!strcmp(kind, "eintr")) wanted = INTERRUPTED, failure = EINTR;
    report = open_report(file);
    // A program that waits for ever for what has failed ends by a signal, and its test sees that.
    alarm(LONGEST_RUN);
  }
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

// Which calls count.

int is_below(const char *path) {
  return folder_length && path && !strncmp(path, folder, folder_length);
}

static int can_count(int descriptor) {
  return folder_length && descriptor >= 0 && descriptor < 4096;
}

int target_of(int descriptor) { return can_count(descriptor) ? watched[descriptor] : 0; }

void watch(int descriptor, int target) {
  if (can_count(descriptor)) watched[descriptor] = (unsigned char)target;
}

void watch_as(int descriptor, int other) {
  if (!can_count(descriptor)) return;
  watch(descriptor, target_of(other));
  if (target_of(other)) inodes[descriptor] = inodes[other];
}

const char *path_opened(const char *path) {
  return boot && path && !strcmp(path, "/proc/sys/kernel/random/boot_id") ? boot : path;
}

static int is_lock(const char *path) {
  size_t length = strlen(path);
  return length > 5 && !strcmp(path + length - 5, "-lock");
}

void watch_opened(int descriptor, const char *path, int flags, int existed) {
  if (!can_count(descriptor)) return;
  if (!is_recording()) return watch(descriptor, FILE_IN_FOLDER);
  struct stat status;
  if (syscall(SYS_newfstatat, descriptor, "", &status, AT_EMPTY_PATH) != 0) abort();
  // Lock files are nobody's concern after a loss of power.
  if (is_lock(path)) return watch(descriptor, 0);
  inodes[descriptor] = status.st_ino;
  int is_folder = (status.st_mode & S_IFMT) == S_IFDIR;
  watch(descriptor, is_folder ? FOLDER : flags & O_DSYNC ? DURABLE_FILE : FILE_IN_FOLDER);
  if (!existed && !is_folder) record(MADE, descriptor, 0, strlen(path) + 1, path);
  if (existed && flags & O_TRUNC) record(RESIZED, descriptor, 0, 0, NULL);
}

// Failing.

int fails(int is_counted, const char *name, int ways) {
  if (!is_counted || is_recording() || !(ways & wanted)) return 0;
  long number = atomic_fetch_add(&calls, 1) + 1;
  if (!target || number < target || (number > target && !lasting)) return 0;
  note(name, number);
  errno = failure;
  return 1;
}

int fails_on(int descriptor, const char *name, int ways) {
  return fails(target_of(descriptor) != 0, name, ways);
}

int fails_at(const char *path, const char *name, int ways) {
  return fails(is_below(path), name, ways);
}

long allowed(int descriptor, const char *name, int ways, size_t size) {
  if (!fails_on(descriptor, name, ways | ANY | INTERRUPTED | TRANSFER)) return (long)size;
  if (failure) return -1;
  return size > 1 ? (long)(size / 2) : (long)size;
}

// Recording.

int is_recording(void) { return recording >= 0; }

void record(int kind, int descriptor, uint64_t offset, uint64_t length, const void *data) {
  if (!is_recording()) return;
  int is_file = can_count(descriptor);
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

void record_written(int descriptor, const void *data, long length) {
  if (length <= 0) return;
  if (descriptor == 1) record(SAID, -1, 0, (uint64_t)length, data);
  if (!target_of(descriptor)) return;
  uint64_t end = (uint64_t)syscall(SYS_lseek, descriptor, 0L, SEEK_CUR);
  record(WRITTEN, descriptor, end - (uint64_t)length, (uint64_t)length, data);
}

void record_names(int kind, const char *from, const char *to) {
  if (!is_recording() || !is_below(from) || is_lock(from)) return;
  char names[2 * 4096];
  size_t first = strlen(from) + 1, second = to ? strlen(to) + 1 : 0;
  memcpy(names, from, first);
  if (to) memcpy(names + first, to, second);
  record(kind, -1, 0, first + second, names);
}
#else
long arbor_faults_calls(void) { return 0; }
#endif
