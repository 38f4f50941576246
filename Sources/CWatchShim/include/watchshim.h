// SPDX-License-Identifier: GPL-2.0-or-later
// What Swift on Linux does not import: statx, getdents64, flexible array members, variadic prctl, descriptor tricks.
#ifndef PHOTOD_WATCHSHIM_H
#define PHOTOD_WATCHSHIM_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>

/// What one statx(2) said. Times are nanoseconds since 1970; birth_time is 0 where the file system keeps none.
struct watchshim_stat {
  uint64_t device;
  uint64_t inode;
  int64_t birth_time;
  int64_t byte_count;
  int64_t modification_time;
  int64_t change_time;
  uint32_t mode;
  uint32_t link_count;
};

/// Looks at `name` in `directory` without following a link; 0 or an errno.
int watchshim_stat_at(int directory, const char *name, struct watchshim_stat *result);
/// Looks at what `descriptor` is open on; 0 or an errno.
int watchshim_stat_descriptor(int descriptor, struct watchshim_stat *result);

/// statfs(2)'s type of the file system that `descriptor` is on; 0 or an errno.
int watchshim_file_system_type(int descriptor, uint32_t *type);

/// getdents64(2): bytes read, 0 at the end, or minus an errno.
long watchshim_read_directory(int directory, void *buffer, size_t byte_count);

/// Watches what `descriptor` is open on: a watch descriptor, or minus an errno.
int watchshim_watch_descriptor(int inotify, int descriptor, uint32_t mask);

/// The descriptors of this process that are inotify instances; their number, at most `capacity`, or minus an errno.
int watchshim_inotify_descriptors(int *descriptors, int capacity);

/// The name of an event; valid as long as the event is.
const uint8_t *watchshim_event_name(const struct inotify_event *event);

/// Closes every descriptor that was inherited, but 0 to 2 and `kept`.
void watchshim_close_others(int kept);

/// SIGTERM for this process when its parent's thread ends; 0 or an errno.
int watchshim_die_with_parent(void);
/// Makes SIGTERM and SIGINT only be noted, so that what is on disk is cleaned up, and ignores SIGHUP and SIGPIPE; 0 or an
/// errno.
int watchshim_note_termination(void);
/// poll(2), the only place where those signals come: none is missed between a look at `watchshim_termination_noted` and
/// sleep.
int watchshim_poll(struct pollfd *polled, unsigned count, int milliseconds);
/// Whether one of these signals has come.
int watchshim_termination_noted(void);

/// CLOCK_MONOTONIC in nanoseconds.
int64_t watchshim_now(void);

#endif
