#define _GNU_SOURCE
#include "arbor_gate.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  pthread_mutex_t mutex;
  /// Identifies the boot of the machine since which the mutex is valid.
  uint32_t boot;
  uint32_t holder;
  uint32_t since;
} arbor_gate;

_Static_assert(offsetof(arbor_gate, since) + sizeof(uint32_t) <= ARBOR_GATE_SIZE,
               "The gate doesn't fit its space.");

/// The digest of the machine's boot ID, or 0 if the system doesn't provide one.
static uint32_t boot_digest(void) {
  static uint32_t known;
  uint32_t digest = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (digest) return digest;
  int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  char text[36];
  ssize_t count = read(descriptor, text, sizeof text);
  close(descriptor);
  if (count != (ssize_t)sizeof text) return 0;
  // FNV-1a.
  digest = 2166136261u;
  for (size_t index = 0; index < sizeof text; index++)
    digest = (digest ^ (unsigned char)text[index]) * 16777619u;
  if (!digest) digest = 1;
  __atomic_store_n(&known, digest, __ATOMIC_RELAXED);
  return digest;
}

int arbor_gate_prepare(void *memory) {
  arbor_gate *gate = memory;
  uint32_t boot = boot_digest();
  if (!boot) return -1;
  if (__atomic_load_n(&gate->boot, __ATOMIC_ACQUIRE) == boot) return 0;
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return -1;
  // Not an error-checking mutex: it compares thread numbers, which processes in different
  // containers may have in common.
  int failed = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) != 0 ||
               pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) != 0;
  if (!failed) {
    memset(&gate->mutex, 0, sizeof gate->mutex);
    gate->holder = 0;
    gate->since = 0;
    failed = pthread_mutex_init(&gate->mutex, &attributes) != 0;
  }
  pthread_mutexattr_destroy(&attributes);
  if (failed) return -1;
  __atomic_store_n(&gate->boot, boot, __ATOMIC_RELEASE);
  return 0;
}

static int lock_within(pthread_mutex_t *mutex, uint32_t milliseconds) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 30)
  clockid_t clock = CLOCK_MONOTONIC;
#else
  clockid_t clock = CLOCK_REALTIME;
#endif
  struct timespec end;
  clock_gettime(clock, &end);
  end.tv_sec += milliseconds / 1000;
  end.tv_nsec += (long)(milliseconds % 1000) * 1000000;
  if (end.tv_nsec >= 1000000000) {
    end.tv_sec += 1;
    end.tv_nsec -= 1000000000;
  }
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 30)
  return pthread_mutex_clocklock(mutex, clock, &end);
#else
  return pthread_mutex_timedlock(mutex, &end);
#endif
}

int arbor_gate_enter(void *memory, uint32_t milliseconds, uint32_t process) {
  arbor_gate *gate = memory;
  int code = pthread_mutex_trylock(&gate->mutex);
  if (code == EBUSY) code = milliseconds ? lock_within(&gate->mutex, milliseconds) : ETIMEDOUT;
  // The holder has died. LMDB repairs what it left when the next transaction begins.
  if (code == EOWNERDEAD) code = pthread_mutex_consistent(&gate->mutex);
  if (code != 0) return code;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  __atomic_store_n(&gate->since, (uint32_t)now.tv_sec, __ATOMIC_RELAXED);
  __atomic_store_n(&gate->holder, process, __ATOMIC_RELAXED);
  return 0;
}

void arbor_gate_leave(void *memory) {
  arbor_gate *gate = memory;
  __atomic_store_n(&gate->holder, 0, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&gate->mutex);
}

uint32_t arbor_gate_holder(const void *memory, uint32_t *since) {
  const arbor_gate *gate = memory;
  *since = __atomic_load_n(&gate->since, __ATOMIC_RELAXED);
  return __atomic_load_n(&gate->holder, __ATOMIC_RELAXED);
}
#endif
