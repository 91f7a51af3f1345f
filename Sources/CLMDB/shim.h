#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __linux__
// Declarations that Swift's C library module doesn't include.
#include <sys/statfs.h>
#endif

/// Prefetches all cache lines of a page.
static inline void arbor_prefetch_page(const void *page) {
  for (int offset = 0; offset < 4096; offset += 64)
    __builtin_prefetch((const char *)page + offset);
}

// Memory that the first thread that needs it publishes with its contents.

static inline uint32_t *arbor_load_words(uint32_t *const *words) {
  return __atomic_load_n(words, __ATOMIC_ACQUIRE);
}

static inline bool arbor_publish_words(uint32_t **words, uint32_t *made) {
  uint32_t *none = 0;
  return __atomic_compare_exchange_n(words, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

// Words that threads access with relaxed ordering.

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
