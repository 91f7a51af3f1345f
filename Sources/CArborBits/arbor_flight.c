#define _GNU_SOURCE
#include "arbor_flight.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

// Weak, so that a test program can replace the functions to record or fail the calls.
#define REPLACEABLE __attribute__((weak))

#ifdef __linux__
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <sys/syscall.h>

REPLACEABLE int arbor_flight_open(const char *path) {
  return open(path, O_RDWR | O_DIRECT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

REPLACEABLE int arbor_flight_begin(uint64_t *context) {
  aio_context_t begun = 0;
  if (syscall(SYS_io_setup, 1, &begun) != 0) return -1;
  *context = begun;
  return 0;
}

REPLACEABLE void arbor_flight_end(uint64_t context) { syscall(SYS_io_destroy, context); }

REPLACEABLE int arbor_flight_submit(uint64_t context, int descriptor, const void *bytes,
                                    size_t count, off_t offset) {
  struct iocb block;
  memset(&block, 0, sizeof block);
  block.aio_fildes = (uint32_t)descriptor;
  block.aio_lio_opcode = IOCB_CMD_PWRITE;
  block.aio_buf = (uint64_t)(uintptr_t)bytes;
  block.aio_nbytes = count;
  block.aio_offset = offset;
  block.aio_rw_flags = RWF_DSYNC;
  struct iocb *blocks[1] = {&block};
  long submitted = syscall(SYS_io_submit, (aio_context_t)context, 1L, blocks);
  if (submitted == 1) return 0;
  if (submitted == 0) errno = EAGAIN;
  return -1;
}

REPLACEABLE long arbor_flight_wait(uint64_t context) {
  struct io_event event;
  for (;;) {
    long count = syscall(SYS_io_getevents, (aio_context_t)context, 1L, 1L, &event, NULL);
    if (count == 1) return (long)event.res;
    if (count < 0 && errno != EINTR) return -errno;
  }
}
#else
REPLACEABLE int arbor_flight_open(const char *path) {
  (void)path;
  errno = ENOSYS;
  return -1;
}
REPLACEABLE int arbor_flight_begin(uint64_t *context) {
  (void)context;
  errno = ENOSYS;
  return -1;
}
REPLACEABLE void arbor_flight_end(uint64_t context) { (void)context; }
REPLACEABLE int arbor_flight_submit(uint64_t context, int descriptor, const void *bytes,
                                    size_t count, off_t offset) {
  (void)context, (void)descriptor, (void)bytes, (void)count, (void)offset;
  errno = ENOSYS;
  return -1;
}
REPLACEABLE long arbor_flight_wait(uint64_t context) {
  (void)context;
  return -ENOSYS;
}
#endif
