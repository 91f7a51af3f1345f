#ifndef ARBOR_GATE_H
#define ARBOR_GATE_H

#include <stdint.h>

#ifdef __linux__
// A mutex in memory that processes share, which says who holds it and since when, and which the
// system releases when its holder dies.

/// The number of bytes of a gate, which must begin at a multiple of 8.
#define ARBOR_GATE_SIZE 60

/// Prepares a gate for use. Has no effect if it has been prepared since the machine booted, because
/// another process may be using it. Only one process at a time may call this function for a gate.
/// Returns -1 if the system doesn't support such a gate.
int arbor_gate_prepare(void *gate);

/// Enters the gate in the name of a process. Returns 0, ETIMEDOUT if another thread still holds it
/// after `milliseconds`, or another error. With 0 milliseconds, the function doesn't wait.
int arbor_gate_enter(void *gate, uint32_t milliseconds, uint32_t process);

/// Leaves the gate. Only the thread that entered it may call this function.
void arbor_gate_leave(void *gate);

/// Returns the process that holds the gate, or 0, and the time at which it entered, in seconds
/// since 1970. The two are not read at the same moment.
uint32_t arbor_gate_holder(const void *gate, uint32_t *since);
#endif

#endif
