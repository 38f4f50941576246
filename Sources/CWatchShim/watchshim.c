// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "watchshim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

// Some dates in file systems do not fit in 64 bits of nanoseconds since 1970 (before 1677, after 2262). The nearest
// date that fits replaces them.
static int64_t nanoseconds(struct statx_timestamp time) {
  int64_t value;
  if (__builtin_mul_overflow((int64_t)time.tv_sec, INT64_C(1000000000), &value) ||
      __builtin_add_overflow(value, (int64_t)time.tv_nsec, &value))
    return time.tv_sec < 0 ? INT64_MIN : INT64_MAX;
  return value;
}

static int look(int directory, const char *name, int flags, struct watchshim_stat *result) {
  struct statx x;
  if (statx(directory, name, flags | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME, &x) != 0) return errno;
  result->device = makedev(x.stx_dev_major, x.stx_dev_minor);
  result->inode = x.stx_ino;
  result->birth_time = (x.stx_mask & STATX_BTIME) ? nanoseconds(x.stx_btime) : 0;
  result->byte_count = (int64_t)x.stx_size;
  result->modification_time = nanoseconds(x.stx_mtime);
  result->change_time = nanoseconds(x.stx_ctime);
  result->mode = x.stx_mode;
  result->link_count = x.stx_nlink;
  return 0;
}

int watchshim_stat_at(int directory, const char *name, struct watchshim_stat *result) {
  return look(directory, name, AT_SYMLINK_NOFOLLOW, result);
}

int watchshim_stat_descriptor(int descriptor, struct watchshim_stat *result) {
  return look(descriptor, "", AT_EMPTY_PATH, result);
}

int watchshim_file_system_type(int descriptor, uint32_t *type) {
  struct statfs s;
  if (fstatfs(descriptor, &s) != 0) return errno;
  *type = (uint32_t)s.f_type;
  return 0;
}

long watchshim_read_directory(int directory, void *buffer, size_t byte_count) {
  ssize_t count = getdents64(directory, buffer, byte_count);
  return count < 0 ? -errno : count;
}

int watchshim_watch_descriptor(int inotify, int descriptor, uint32_t mask) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  int watch = inotify_add_watch(inotify, path, mask);
  return watch < 0 ? -errno : watch;
}

int watchshim_inotify_descriptors(int *descriptors, int capacity) {
  DIR *directory = opendir("/proc/self/fd");
  if (!directory) return -errno;
  int count = 0;
  struct dirent *entry;
  while (count < capacity && (entry = readdir(directory))) {
    char path[300], target[64];
    snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) continue;
    target[length] = 0;
    if (strcmp(target, "anon_inode:inotify") == 0) descriptors[count++] = atoi(entry->d_name);
  }
  closedir(directory);
  return count;
}

const uint8_t *watchshim_event_name(const struct inotify_event *event) { return (const uint8_t *)event->name; }

void watchshim_close_others(int kept) {
  if (kept > 3) close_range(3, (unsigned)kept - 1, 0);
  close_range((unsigned)kept < 3 ? 3 : (unsigned)kept + 1, ~0u, 0);
}

int watchshim_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 ? 0 : errno; }

static volatile sig_atomic_t termination_noted;

static void note_termination(int signal) {
  (void)signal;
  termination_noted = 1;
}

int watchshim_note_termination(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = note_termination;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGTERM, &action, NULL) || sigaction(SIGINT, &action, NULL)) return errno;
  sigset_t noted;
  sigemptyset(&noted);
  sigaddset(&noted, SIGTERM);
  sigaddset(&noted, SIGINT);
  if (sigprocmask(SIG_BLOCK, &noted, NULL)) return errno;
  action.sa_handler = SIG_IGN;
  if (sigaction(SIGHUP, &action, NULL) || sigaction(SIGPIPE, &action, NULL)) return errno;
  return 0;
}

int watchshim_poll(struct pollfd *polled, unsigned count, int milliseconds) {
  struct timespec timeout = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  sigset_t none;
  sigemptyset(&none);
  return ppoll(polled, count, milliseconds < 0 ? NULL : &timeout, &none);
}

int watchshim_termination_noted(void) { return termination_noted; }

int64_t watchshim_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
