#ifndef ARBOR_FLIGHT_H
#define ARBOR_FLIGHT_H

#include <stdint.h>
#include <sys/types.h>

// Durable writes that go on while the thread does something else, by the kernel's asynchronous I/O
// (io_submit). The system supports them for descriptors that bypass its cache. Elsewhere, these
// functions fail.

/// Opens a file for writes that bypass the system's cache: buffers, offsets and sizes are multiples
/// of 4,096. Returns -1 if the file system doesn't support that.
int arbor_flight_open(const char *path);

/// Creates a context for one write at a time. Returns -1 if the system doesn't support it.
int arbor_flight_begin(uint64_t *context);

/// Waits for the context's write, if there is one, and frees the context.
void arbor_flight_end(uint64_t context);

/// Begins a write that is on the medium once it is done. The bytes must not change until then.
/// Returns -1, without writing anything, if the system doesn't support it. Some file systems report
/// that only as the result of the write.
int arbor_flight_submit(uint64_t context, int descriptor, const void *bytes, size_t count,
                        off_t offset);

/// Waits for the write and returns the number of bytes written, or a negative errno value. The
/// kernel also completes a write whose process has died, before it closes the process's files.
long arbor_flight_wait(uint64_t context);

#endif
