// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later
#define _GNU_SOURCE
#include "cthread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int cthread_start(void *(*body)(void *), void *context) {
  pthread_t thread;
  int number = pthread_create(&thread, NULL, body, context);
  if (number == 0) pthread_detach(thread);
  return number;
}

void cthread_set_name(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }

// The first version of `struct sched_attr` of sched_setattr(2). Only newer C libraries declare it and its calls.
struct attributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime;
  uint64_t deadline;
  uint64_t period;
};

// SCHED_FLAG_RESET_ON_FORK of linux/sched.h.
#define RESET_ON_FORK 1

static int get(pid_t thread, struct attributes *attributes) {
  return (int)syscall(SYS_sched_getattr, thread, attributes, sizeof *attributes, 0);
}

int cthread_request_slice(uint64_t nanoseconds) {
  struct attributes attributes = {.size = sizeof attributes};
  if (get(0, &attributes) != 0) return errno;
  // With another policy, these numbers have another meaning.
  if (attributes.policy != SCHED_OTHER) return EINVAL;
  attributes.flags |= RESET_ON_FORK;
  attributes.runtime = nanoseconds;
  attributes.deadline = 0;
  attributes.period = 0;
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 ? 0 : errno;
}

uint64_t cthread_slice_of(pid_t thread) {
  struct attributes attributes = {.size = sizeof attributes};
  return get(thread, &attributes) == 0 && attributes.policy == SCHED_OTHER ? attributes.runtime : 0;
}

// POSIX gives a process one nice value. Linux gives each thread its own, and 0 means the calling thread.
int cthread_nice(void) { return getpriority(PRIO_PROCESS, 0); }

int cthread_raise_nice(int by) { return setpriority(PRIO_PROCESS, 0, cthread_nice() + by) == 0 ? 0 : errno; }
