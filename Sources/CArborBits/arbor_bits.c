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
    // Threads that meet here compute the same values, so a second fill does no harm.
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

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_hardware(uint32_t crc, const unsigned char *p,
                                                               size_t n) {
  uint64_t wide = crc;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = (uint32_t)wide;
  // Each step waits for the one before it, so the last bytes are taken as widely as they can be.
  if (n & 4) {
    uint32_t word;
    memcpy(&word, p, 4);
    crc = __builtin_ia32_crc32si(crc, word);
    p += 4;
  }
  if (n & 2) {
    uint16_t word;
    memcpy(&word, p, 2);
    crc = __builtin_ia32_crc32hi(crc, word);
    p += 2;
  }
  if (n & 1) crc = __builtin_ia32_crc32qi(crc, *p);
  return crc;
}
__attribute__((target("sse4.2"))) static uint32_t crc_key(uint64_t key, uint16_t entity) {
  return __builtin_ia32_crc32hi((uint32_t)__builtin_ia32_crc32di(~0u, key), entity);
}
static int has_hardware(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
static uint32_t crc_hardware(uint32_t crc, const unsigned char *p, size_t n) {
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    crc = __crc32cd(crc, word);
  }
  while (n--) crc = __crc32cb(crc, *p++);
  return crc;
}
static uint32_t crc_key(uint64_t key, uint16_t entity) {
  return __crc32ch(__crc32cd(~0u, key), entity);
}
static int has_hardware(void) { return 1; }
#else
static uint32_t crc_hardware(uint32_t crc, const unsigned char *p, size_t n) {
  return crc_bytewise(crc, p, n);
}
static uint32_t crc_key(uint64_t key, uint16_t entity) { return ~0u; }
static int has_hardware(void) { return 0; }
#endif

uint32_t arbor_crc32c(uint32_t seed, const void *bytes, size_t count) {
  uint32_t crc = ~seed;
  crc = has_hardware() ? crc_hardware(crc, bytes, count) : crc_bytewise(crc, bytes, count);
  return ~crc;
}

uint32_t arbor_record_crc32c(uint64_t key, uint16_t entity, const void *bytes, size_t count) {
  if (has_hardware()) return ~crc_hardware(crc_key(key, entity), bytes, count);
  unsigned char prefix[10];
  for (int i = 0; i < 8; i++) prefix[i] = (unsigned char)(key >> (8 * i));
  prefix[8] = (unsigned char)entity;
  prefix[9] = (unsigned char)(entity >> 8);
  return ~crc_bytewise(crc_bytewise(~0u, prefix, 10), bytes, count);
}

// A library's search prepares tables, which costs more than looking through a short text.
#define SHORT_HAYSTACK 256

static int holds(const unsigned char *place, const unsigned char *needle, size_t count) {
  return place[0] == needle[0] && place[count - 1] == needle[count - 1] &&
         memcmp(place, needle, count) == 0;
}

static const void *find_in_short(const unsigned char *haystack, size_t haystack_count,
                                 const unsigned char *needle, size_t needle_count) {
  size_t places = haystack_count - needle_count + 1;
  size_t place = 0;
#if defined(__SSE2__)
  // Sixteen places at a time: where the first and the last byte fit, the rest is compared.
  __m128i first = _mm_set1_epi8((char)needle[0]);
  __m128i last = _mm_set1_epi8((char)needle[needle_count - 1]);
  for (; place + 16 <= places; place += 16) {
    const unsigned char *start = haystack + place;
    __m128i begins = _mm_cmpeq_epi8(first, _mm_loadu_si128((const __m128i *)start));
    __m128i ends =
        _mm_cmpeq_epi8(last, _mm_loadu_si128((const __m128i *)(start + needle_count - 1)));
    unsigned fits = (unsigned)_mm_movemask_epi8(_mm_and_si128(begins, ends));
    for (; fits; fits &= fits - 1) {
      const unsigned char *found = start + __builtin_ctz(fits);
      if (memcmp(found, needle, needle_count) == 0) return found;
    }
  }
  if (place + 8 <= places) {
    const unsigned char *start = haystack + place;
    __m128i begins = _mm_cmpeq_epi8(first, _mm_loadl_epi64((const __m128i *)start));
    __m128i ends =
        _mm_cmpeq_epi8(last, _mm_loadl_epi64((const __m128i *)(start + needle_count - 1)));
    unsigned fits = (unsigned)_mm_movemask_epi8(_mm_and_si128(begins, ends)) & 255;
    for (; fits; fits &= fits - 1) {
      const unsigned char *found = start + __builtin_ctz(fits);
      if (memcmp(found, needle, needle_count) == 0) return found;
    }
    place += 8;
  }
#endif
  for (; place < places; place++) {
    if (holds(haystack + place, needle, needle_count)) return haystack + place;
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
