#define _GNU_SOURCE
#include "arbor_bits.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// The polynomial of CRC-32C, bit-reversed (RFC 3720, appendix B.4).
#define CASTAGNOLI 0x82F63B78u

static uint32_t crc_bytewise(uint32_t crc, const unsigned char *p, size_t n) {
  static uint32_t table[256];
  static int ready;
  if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
    // Concurrent threads compute the same values, so filling the table twice is harmless.
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; bit++) c = (c >> 1) ^ (c & 1 ? CASTAGNOLI : 0);
      __atomic_store_n(&table[i], c, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  }
  while (n--) crc = (crc >> 8) ^ __atomic_load_n(&table[(crc ^ *p++) & 255], __ATOMIC_RELAXED);
  return crc;
}

#if defined(__clang__)
#define CHANCE(condition) __builtin_unpredictable(condition)
#else
#define CHANCE(condition) (condition)
#endif

#if defined(__x86_64__)
#define HARDWARE __attribute__((target("sse4.2")))
HARDWARE static inline uint64_t step8(uint64_t crc, uint64_t word) {
  return __builtin_ia32_crc32di(crc, word);
}
HARDWARE static inline uint32_t step2(uint32_t crc, uint16_t word) {
  return __builtin_ia32_crc32hi(crc, word);
}
HARDWARE static inline uint32_t step1(uint32_t crc, unsigned char byte) {
  return __builtin_ia32_crc32qi(crc, byte);
}
static int has_hardware(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define HARDWARE
static inline uint64_t step8(uint64_t crc, uint64_t word) { return __crc32cd((uint32_t)crc, word); }
static inline uint32_t step2(uint32_t crc, uint16_t word) { return __crc32ch(crc, word); }
static inline uint32_t step1(uint32_t crc, unsigned char byte) { return __crc32cb(crc, byte); }
static int has_hardware(void) { return 1; }
#else
#define HARDWARE
static inline uint64_t step8(uint64_t crc, uint64_t word) { return crc ^ word; }
static inline uint32_t step2(uint32_t crc, uint16_t word) { return crc ^ word; }
static inline uint32_t step1(uint32_t crc, unsigned char byte) { return crc ^ byte; }
static int has_hardware(void) { return 0; }
#endif

HARDWARE static inline uint64_t load8(const unsigned char *p) {
  uint64_t word;
  memcpy(&word, p, 8);
  return word;
}

HARDWARE static inline uint32_t crc_hardware(uint32_t crc, const unsigned char *p, size_t n) {
  uint64_t wide = crc;
  if (n < 8) {
    for (; n > 0; n--) wide = step1((uint32_t)wide, *p++);
    return (uint32_t)wide;
  }
  const unsigned char *last = p + n - 8;
  for (; n >= 64; p += 64, n -= 64)
    for (int offset = 0; offset < 64; offset += 8) wide = step8(wide, load8(p + offset));
  // Record lengths are unpredictable, and a mispredicted branch costs more than all steps of a
  // short record. So all seven possible steps are executed, each on bytes of the record, and the
  // result of the last applicable one is selected.
  uint64_t state = wide;
  for (int offset = 0; offset < 56; offset += 8) {
    const unsigned char *word = p + offset < last ? p + offset : last;
    state = step8(state, load8(word));
    wide = CHANCE(n >= (size_t)offset + 8) ? state : wide;
  }
  // The last 0 to 7 bytes are the high ones of the last word. Shifting state and bytes to its high
  // end skips the steps of the missing bytes.
  unsigned bits = 8 * (unsigned)(n & 7);
  uint64_t tail = ((((load8(last) >> (63 - bits)) >> 1) ^ wide) << (63 - bits)) << 1;
  return (uint32_t)((wide >> bits) ^ step8(0, tail));
}

HARDWARE static inline uint32_t record_crc_hardware(uint64_t key, uint16_t entity,
                                                    const void *bytes, size_t count) {
  return ~crc_hardware(step2((uint32_t)step8(~0u, key), entity), bytes, count);
}

typedef uint32_t (*record_checksum)(uint64_t key, uint16_t entity, const void *bytes,
                                    size_t count);

// Inlined for each checksum function, to avoid calls through a pointer.
__attribute__((always_inline)) static inline uint64_t intact(const arbor_record *records, size_t n,
                                                             uint16_t entity, uint32_t seed,
                                                             record_checksum checksum) {
  uint64_t whole = 0;
  for (size_t i = 0; i < n; i++) {
    const unsigned char *bytes = records[i].base;
    if (records[i].count < 12) continue;
    size_t count = records[i].count - 4;
    uint32_t stored;
    memcpy(&stored, bytes + count, 4);
    whole |= (uint64_t)(checksum(records[i].key, entity, bytes, count) == (stored ^ seed)) << i;
  }
  return whole;
}

HARDWARE static uint64_t intact_hardware(const arbor_record *records, size_t n, uint16_t entity,
                                         uint32_t seed) {
  return intact(records, n, entity, seed, record_crc_hardware);
}

uint32_t arbor_crc32c(uint32_t seed, const void *bytes, size_t count) {
  uint32_t crc = ~seed;
  crc = has_hardware() ? crc_hardware(crc, bytes, count) : crc_bytewise(crc, bytes, count);
  return ~crc;
}

uint32_t arbor_record_crc32c(uint64_t key, uint16_t entity, const void *bytes, size_t count) {
  if (has_hardware()) return record_crc_hardware(key, entity, bytes, count);
  unsigned char prefix[10];
  for (int i = 0; i < 8; i++) prefix[i] = (unsigned char)(key >> (8 * i));
  prefix[8] = (unsigned char)entity;
  prefix[9] = (unsigned char)(entity >> 8);
  return ~crc_bytewise(crc_bytewise(~0u, prefix, 10), bytes, count);
}

uint64_t arbor_records_intact(const arbor_record *records, size_t n, uint16_t entity,
                              uint32_t seed) {
  if (has_hardware()) return intact_hardware(records, n, entity, seed);
  return intact(records, n, entity, seed, arbor_record_crc32c);
}

// The library's search prepares tables, which costs more than scanning a short string.
#define SHORT_HAYSTACK 256

static int holds(const unsigned char *start, const unsigned char *needle, size_t count) {
  return start[0] == needle[0] && start[count - 1] == needle[count - 1] &&
         memcmp(start, needle, count) == 0;
}

static const void *find_in_short(const unsigned char *haystack, size_t haystack_count,
                                 const unsigned char *needle, size_t needle_count) {
  size_t end = haystack_count - needle_count + 1;
  size_t offset = 0;
#if defined(__SSE2__)
  // Sixteen offsets at a time: if the first and the last byte match, the rest is compared.
  __m128i first = _mm_set1_epi8((char)needle[0]);
  __m128i last = _mm_set1_epi8((char)needle[needle_count - 1]);
  for (; offset + 16 <= end; offset += 16) {
    const unsigned char *start = haystack + offset;
    __m128i begins = _mm_cmpeq_epi8(first, _mm_loadu_si128((const __m128i *)start));
    __m128i ends =
        _mm_cmpeq_epi8(last, _mm_loadu_si128((const __m128i *)(start + needle_count - 1)));
    unsigned fits = (unsigned)_mm_movemask_epi8(_mm_and_si128(begins, ends));
    for (; fits; fits &= fits - 1) {
      const unsigned char *found = start + __builtin_ctz(fits);
      if (memcmp(found, needle, needle_count) == 0) return found;
    }
  }
  if (offset + 8 <= end) {
    const unsigned char *start = haystack + offset;
    __m128i begins = _mm_cmpeq_epi8(first, _mm_loadl_epi64((const __m128i *)start));
    __m128i ends =
        _mm_cmpeq_epi8(last, _mm_loadl_epi64((const __m128i *)(start + needle_count - 1)));
    unsigned fits = (unsigned)_mm_movemask_epi8(_mm_and_si128(begins, ends)) & 255;
    for (; fits; fits &= fits - 1) {
      const unsigned char *found = start + __builtin_ctz(fits);
      if (memcmp(found, needle, needle_count) == 0) return found;
    }
    offset += 8;
  }
#endif
  for (; offset < end; offset++) {
    if (holds(haystack + offset, needle, needle_count)) return haystack + offset;
  }
  return NULL;
}

const void *arbor_find(const void *haystack, size_t haystack_count, const void *needle,
                       size_t needle_count) {
  if (needle_count == 0 || haystack_count < needle_count || haystack_count > SHORT_HAYSTACK) {
    return memmem(haystack, haystack_count, needle, needle_count);
  }
  return find_in_short(haystack, haystack_count, needle, needle_count);
}

// Words with as many set as unset bits and without small divisors.
#define HASH_0 0xa0761d6478bd642full
#define HASH_1 0xe7037ed1a0b428dbull
#define HASH_2 0x8ebc6af09c88c6e3ull
#define HASH_3 0x589965cc75374cc3ull

static inline uint64_t load_word(const unsigned char *p) {
  uint64_t word;
  memcpy(&word, p, 8);
  return word;
}

/// Multiplies two words and folds the 128 bits of the product into 64.
static inline uint64_t fold(uint64_t a, uint64_t b) {
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_bytes(uint64_t seed, const unsigned char *p, size_t count) {
  uint64_t hash = seed ^ HASH_0;
  size_t rest = count;
  if (rest > 32) {
    // Two independent chains, because each step depends on the previous one of its chain.
    uint64_t other = hash;
    for (; rest > 32; rest -= 32, p += 32) {
      hash = fold(load_word(p) ^ HASH_1, load_word(p + 8) ^ hash);
      other = fold(load_word(p + 16) ^ HASH_2, load_word(p + 24) ^ other);
    }
    hash ^= other;
  }
  if (rest > 16) {
    hash = fold(load_word(p) ^ HASH_3, load_word(p + 8) ^ hash);
    rest -= 16;
    p += 16;
  }
  // The last 0 to 16 bytes as two words, which overlap or are padded with zeros.
  uint64_t low = 0, high = 0;
  if (rest >= 8) {
    low = load_word(p);
    high = load_word(p + rest - 8);
  } else if (rest > 0) {
    memcpy(&low, p, rest);
  }
  return fold(HASH_1 ^ count, fold(low ^ HASH_1, high ^ hash) ^ HASH_2);
}

uint64_t arbor_hash(uint64_t seed, const void *bytes, size_t count) {
  return hash_bytes(seed, bytes, count);
}

uint64_t arbor_entry_hash(uint64_t seed, const void *key, size_t key_count, const void *value,
                          size_t value_count) {
  uint64_t hash = hash_bytes(seed, key, key_count);
  if (value_count <= ARBOR_HASHED_WHOLE) return hash_bytes(hash, value, value_count);
  const unsigned char *end = (const unsigned char *)value + value_count;
  hash = hash_bytes(hash ^ value_count, value, ARBOR_HASHED_END);
  return hash_bytes(hash, end - ARBOR_HASHED_END, ARBOR_HASHED_END);
}
