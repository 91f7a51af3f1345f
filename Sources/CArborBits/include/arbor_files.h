#ifndef ARBOR_FILES_H
#define ARBOR_FILES_H

#include <sys/types.h>

// System calls on files that Swift's C library modules don't include, or that differ between
// systems.

/// Renames `source` to `target` atomically, unless `target` exists. Returns 0 or an errno value,
/// EEXIST if it exists.
int arbor_rename_exclusive(const char *source, const char *target);

/// Changes the *open file description lock* on a range of a file, which is independent of `flock`.
/// `kind`: 0 shared, 1 exclusive, which needs a descriptor for writing, 2 none. If another open file
/// description holds a conflicting lock, returns -1 with EAGAIN, or waits if `waits` is not 0.
int arbor_lock_range(int descriptor, int kind, off_t start, off_t length, int waits);

/// Returns 1 if another open file description holds a lock on a range of a file, otherwise 0.
int arbor_is_locked(int descriptor, off_t start, off_t length);

/// Makes a descriptor refer to the same file as another one, with close-on-exec. Returns -1 on
/// failure.
int arbor_redirect(int descriptor, int target);

/// Waits until the data of a file is on the medium, including its size but not its times. Continues
/// after signals. Returns -1 on failure.
int arbor_flush(int descriptor);

#ifdef __linux__
/// Reserves space for a file's first bytes without changing its size. Returns -1 on failure.
int arbor_reserve(int descriptor, off_t size);

/// Creates an anonymous file in memory, with close-on-exec. Returns -1 if the system doesn't support
/// it.
int arbor_memory_file(const char *name);
#endif

#endif
