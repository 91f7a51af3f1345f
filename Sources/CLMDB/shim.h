#include <lmdb.h>

// Calls of the system that Swift's own modules leave out, for the layer that deals with files.
#ifdef __linux__
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Locks a whole file for one opening of it, apart from what `flock` locks; -1 where another
/// opening holds it against this one. Exclusive needs a descriptor for writing.
static inline int arbor_lock_opening(int descriptor, int exclusive) {
  // The system's `struct flock` of 64 bits, whose header would hide Swift's own names.
  struct { short type, whence; long start, length; int process; } lock = {0};
  lock.type = exclusive ? 1 : 0; /* F_WRLCK, F_RDLCK */
  return (int)syscall(SYS_fcntl, descriptor, 37 /* F_OFD_SETLK */, &lock);
}

/// Reserves the room of a file's first bytes without a change of its size.
static inline int arbor_reserve(int descriptor, off_t size) {
  return (int)syscall(SYS_fallocate, descriptor, 1 /* FALLOC_FL_KEEP_SIZE */, (off_t)0, size);
}

/// A file in memory without a name, closed in programs that this one starts; -1 where the system
/// has none.
static inline int arbor_memory_file(const char *name) {
  return (int)syscall(SYS_memfd_create, name, 1u /* MFD_CLOEXEC */);
}
#else
#include <fcntl.h>

/// Locks a whole file for one opening of it, apart from what `flock` locks; -1 where another
/// opening holds it against this one. Exclusive needs a descriptor for writing.
static inline int arbor_lock_opening(int descriptor, int exclusive) {
  struct flock lock = {0};
  lock.l_type = exclusive ? F_WRLCK : F_RDLCK;
  return fcntl(descriptor, 90 /* F_OFD_SETLK */, &lock);
}
#endif

/// Begins to bring all of a page near to the processor.
static inline void arbor_prefetch_page(const void *page) {
  for (int offset = 0; offset < 4096; offset += 64)
    __builtin_prefetch((const char *)page + offset);
}
