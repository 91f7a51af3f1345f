// What the calls of this folder share: which descriptors count, whether a call fails now, and the
// recording of what is done. See faults.c.
#pragma once

#if defined(__linux__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define ARBOR_FAULTS 1
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The ways a call may fail: with an I/O error, for lack of space, with a partial transfer, or
/// by an interrupting signal.
enum { ANY = 1, ROOM = 2, TRANSFER = 4, INTERRUPTED = 8 };

/// The target of a descriptor; 0 if it is not below the folder.
enum { FILE_IN_FOLDER = 1, DURABLE_FILE, FOLDER };

/// An operation on a file, followed by its data or name. Read by the machine that wrote it.
struct record {
  uint32_t kind, is_durable;
  /// The number of the file's inode.
  uint64_t file, offset, length;
};
enum { WRITTEN = 1, SYNCED, RESIZED, SAID, MADE, RENAMED, REMOVED, FOLDER_SYNCED, LINKED, LANDED };

int is_below(const char *path);
/// Returns the path to open in place of another.
const char *path_opened(const char *path);
/// Returns the target of a descriptor; 0 if it isn't recorded.
int target_of(int descriptor);
void watch(int descriptor, int target);
/// Treats one descriptor like another.
void watch_as(int descriptor, int other);
/// Records the target of a descriptor that was just opened in the folder.
void watch_opened(int descriptor, const char *path, int flags, int existed);

/// Whether a call that could fail in these ways is to fail now; `errno` says how.
int fails(int is_counted, const char *name, int ways);
int fails_on(int descriptor, const char *name, int ways);
int fails_at(const char *path, const char *name, int ways);
/// Bytes of a transfer; -1 where it fails.
long allowed(int descriptor, const char *name, int ways, size_t size);

int is_recording(void);
/// Records what is done to a file; nothing unless a recording was asked for.
void record(int kind, int descriptor, uint64_t offset, uint64_t length, const void *data);
/// Records what was written where the descriptor stood.
void record_written(int descriptor, const void *data, long length);
/// Records a change of names that has succeeded, unless it is of a lock file.
void record_names(int kind, const char *from, const char *to);
#endif
