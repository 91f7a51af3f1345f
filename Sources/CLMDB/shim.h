#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>

// Calls of the system that Swift's own modules leave out, for the layer that deals with files.
#ifdef __linux__
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Changes the lock that one opening of a file holds on a range of it, apart from what `flock`
/// locks. `type`: 0 shared, 1 exclusive, which needs a descriptor for writing, 2 none. Returns -1
/// with EAGAIN where another opening holds it against this one, or waits for that.
static inline int arbor_lock_range(
    int descriptor, short type, long start, long length, int waits) {
  // The system's `struct flock` of 64 bits, whose header would hide Swift's own names.
  struct { short type, whence; long start, length; int process; } lock = {0};
  lock.type = type; /* F_RDLCK, F_WRLCK, F_UNLCK */
  lock.start = start;
  lock.length = length;
  int command = waits ? 38 /* F_OFD_SETLKW */ : 37 /* F_OFD_SETLK */;
  return (int)syscall(SYS_fcntl, descriptor, command, &lock);
}

/// Lets a descriptor lead to what another one leads to; -1 where the system refuses.
static inline int arbor_redirect(int descriptor, int target) {
  return (int)syscall(SYS_dup3, target, descriptor, 02000000 /* O_CLOEXEC */);
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
#include <unistd.h>

/// Changes the lock that one opening of a file holds on a range of it, apart from what `flock`
/// locks. `type`: 0 shared, 1 exclusive, which needs a descriptor for writing, 2 none. Returns -1
/// with EAGAIN where another opening holds it against this one, or waits for that.
static inline int arbor_lock_range(
    int descriptor, short type, long start, long length, int waits) {
  struct flock lock = {0};
  lock.l_type = type == 0 ? F_RDLCK : type == 1 ? F_WRLCK : F_UNLCK;
  lock.l_start = start;
  lock.l_len = length;
  return fcntl(descriptor, waits ? 91 /* F_OFD_SETLKW */ : 90 /* F_OFD_SETLK */, &lock);
}

/// Lets a descriptor lead to what another one leads to; -1 where the system refuses.
static inline int arbor_redirect(int descriptor, int target) {
  if (dup2(target, descriptor) < 0) return -1;
  return fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}
#endif

/// Begins to bring all of a page near to the processor.
static inline void arbor_prefetch_page(const void *page) {
  for (int offset = 0; offset < 4096; offset += 64)
    __builtin_prefetch((const char *)page + offset);
}

// Memory that is made by whoever needs it first, and seen by others with what it held then.

static inline uint32_t *arbor_load_words(uint32_t *const *words) {
  return __atomic_load_n(words, __ATOMIC_ACQUIRE);
}

static inline bool arbor_publish_words(uint32_t **words, uint32_t *made) {
  uint32_t *none = 0;
  return __atomic_compare_exchange_n(words, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

// Words that threads share without an order among them.

static inline uint64_t arbor_load_relaxed_64(const uint64_t *word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void arbor_store_relaxed_64(uint64_t *word, uint64_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline uint32_t arbor_load_relaxed(const uint32_t *word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void arbor_store_relaxed(uint32_t *word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}
