#pragma once
// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

#include <stdint.h>
#include <sys/types.h>

// Threads, and the system calls about them that Swift does not import.

// Starts a thread that calls this function, and ends with it. Returns 0, or the error number.
int cthread_start(void *(*body)(void *), void *context);

// Names the calling thread, for ps(1) and top(1). The kernel keeps 15 bytes.
void cthread_set_name(const char *name);

// The shortest time slice that Linux grants, in nanoseconds.
static const uint64_t cthread_shortest_slice = 100000;

// Requests time slices of this many nanoseconds for the calling thread. Its policy and its niceness stay. The threads
// and processes that it starts have the default slice. Linux before 6.12 accepts the request and ignores it.
// Returns 0, or the error number, such as EPERM from a seccomp filter.
int cthread_request_slice(uint64_t nanoseconds);

// Returns the time slice of a thread in nanoseconds. 0 means the calling thread. The result is 0 if there is no such
// thread, and on Linux before 6.12.
uint64_t cthread_slice_of(pid_t thread);

// Raises the nice value of the calling thread by this number, but not above 19. The other threads of the process keep
// theirs. Returns 0, or the error number.
int cthread_raise_nice(int by);

// Returns the nice value of the calling thread.
int cthread_nice(void);
