#ifndef ARBOR_FILES_H
#define ARBOR_FILES_H

#include <sys/types.h>

// Calls of the system on files that Swift's own modules of the C library leave out, or that differ
// between systems.

/// Renames `source` to `target` in one step, only if there is nothing at `target`. Returns 0 or an
/// errno value; EEXIST where there is something.
int arbor_rename_exclusive(const char *source, const char *target);

/// Changes the lock that one opening of a file holds on a range of it (an *open file description
/// lock*), apart from what `flock` locks. `kind`: 0 shared, 1 exclusive, which needs a descriptor
/// for writing, 2 none. Returns -1 with EAGAIN where another opening holds it against this one, or
/// waits for that.
int arbor_lock_range(int descriptor, int kind, off_t start, off_t length, int waits);

/// Lets a descriptor lead to what another one leads to, closed in programs that this one starts; -1
/// where the system refuses.
int arbor_redirect(int descriptor, int target);

#ifdef __linux__
/// Reserves the room of a file's first bytes without a change of its size; -1 where the system
/// refuses.
int arbor_reserve(int descriptor, off_t size);

/// A file in memory without a name, closed in programs that this one starts; -1 where the system
/// has none.
int arbor_memory_file(const char *name);
#endif

#endif
