#define _GNU_SOURCE
#include "arbor_bits.h"

#include <string.h>

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
  while (n--) crc = __builtin_ia32_crc32qi(crc, *p++);
  return crc;
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
static int has_hardware(void) { return 1; }
#else
static uint32_t crc_hardware(uint32_t crc, const unsigned char *p, size_t n) {
  return crc_bytewise(crc, p, n);
}
static int has_hardware(void) { return 0; }
#endif

uint32_t arbor_crc32c(uint32_t seed, const void *bytes, size_t count) {
  uint32_t crc = ~seed;
  crc = has_hardware() ? crc_hardware(crc, bytes, count) : crc_bytewise(crc, bytes, count);
  return ~crc;
}

const void *arbor_find(const void *haystack, size_t haystack_count, const void *needle,
                       size_t needle_count) {
  return memmem(haystack, haystack_count, needle, needle_count);
}
