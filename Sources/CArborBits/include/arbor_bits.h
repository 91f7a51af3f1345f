#ifndef ARBOR_BITS_H
#define ARBOR_BITS_H

#include <stddef.h>
#include <stdint.h>

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `count` bytes, continuing from `seed`
/// (0 for a new checksum). Uses the processor's instruction if available.
uint32_t arbor_crc32c(uint32_t seed, const void *bytes, size_t count);

/// The checksum of a stored record: CRC-32C over its key (8 bytes), its entity's number (2 bytes),
/// both little-endian, and `count` bytes.
uint32_t arbor_record_crc32c(uint64_t key, uint16_t entity, const void *bytes, size_t count);

/// A stored record: its key, and its bytes, the last four of which are its checksum.
typedef struct {
  uint64_t key;
  const void *base;
  size_t count;
} arbor_record;

/// Returns a bit mask of the records, at most 64, that end with the checksum of their preceding
/// bytes, XORed with `seed`. The lowest bit is that of the first record. Records of fewer than 12
/// bytes never do.
uint64_t arbor_records_intact(const arbor_record *records, size_t n, uint16_t entity,
                              uint32_t seed);

/// The hash of bytes, continuing from `seed`: words are multiplied and folded as in wyhash
/// (https://github.com/wangyi-fudan/wyhash). It detects accidental changes, not those of
/// an adversary. Part of the file format, so it never changes.
uint64_t arbor_hash(uint64_t seed, const void *bytes, size_t count);

/// For longer values, only the first and the last ARBOR_HASHED_END bytes and the length are hashed,
/// because such a value is stored on separate pages and has its own checksum.
#define ARBOR_HASHED_WHOLE 16384
#define ARBOR_HASHED_END 64

/// Returns the hash of a database entry, computed from its key and its value.
uint64_t arbor_entry_hash(uint64_t seed, const void *key, size_t key_count, const void *value,
                          size_t value_count);

/// Returns the first occurrence of `needle` in `haystack`, or NULL. An empty needle is found at the
/// start.
const void *arbor_find(const void *haystack, size_t haystack_count, const void *needle,
                       size_t needle_count);

/// Prefetches the cache line at an address, which need not be valid.
static inline void arbor_prefetch(const void *address) { __builtin_prefetch(address); }

/// Retains a Swift object `count` times at the cost of a single retain. Source: the Swift runtime, which
/// declares it in HeapObject.h.
extern void *swift_retain_n(void *object, uint32_t count);

/// Retains a Swift object that no other thread can have a reference to. Source: as above.
extern void *swift_nonatomic_retain(void *object);

#endif
