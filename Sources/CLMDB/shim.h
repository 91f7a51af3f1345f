#include <lmdb.h>

// Calls of the system that Swift's own modules leave out, for the layer that deals with files.
#ifdef __linux__
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Reserves the room of a file's first bytes without a change of its size.
static inline int arbor_reserve(int descriptor, off_t size) {
  return (int)syscall(SYS_fallocate, descriptor, 1 /* FALLOC_FL_KEEP_SIZE */, (off_t)0, size);
}

/// A file in memory without a name, closed in programs that this one starts; -1 where the system
/// has none.
static inline int arbor_memory_file(const char *name) {
  return (int)syscall(SYS_memfd_create, name, 1u /* MFD_CLOEXEC */);
}
#endif
