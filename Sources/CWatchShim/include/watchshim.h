// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that Swift on Linux does not import: statx, getdents64, flexible array members, variadic prctl,
// descriptors.
#ifndef PHOTOD_WATCHSHIM_H
#define PHOTOD_WATCHSHIM_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>

/// The result of one statx(2) call. Times are in nanoseconds since 1970. birth_time is 0 if the file system keeps none.
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

/// Looks at `name` in `directory` without following a symbolic link. Returns 0 or an errno.
int watchshim_stat_at(int directory, const char *name, struct watchshim_stat *result);
/// Looks at the file that `descriptor` is open on. Returns 0 or an errno.
int watchshim_stat_descriptor(int descriptor, struct watchshim_stat *result);

/// Gets the type from statfs(2) of the file system that `descriptor` is on. Returns 0 or an errno.
int watchshim_file_system_type(int descriptor, uint32_t *type);

/// Calls getdents64(2). Returns the number of bytes read, 0 at the end, or a negative errno.
long watchshim_read_directory(int directory, void *buffer, size_t byte_count);

/// Watches the directory that `descriptor` is open on. Returns a watch descriptor or a negative errno.
int watchshim_watch_descriptor(int inotify, int descriptor, uint32_t mask);

/// Finds the descriptors of this process that are inotify instances. Returns their number, at most `capacity`, or a
/// negative errno.
int watchshim_inotify_descriptors(int *descriptors, int capacity);

/// The name of an event, valid as long as the event.
const uint8_t *watchshim_event_name(const struct inotify_event *event);

/// Closes every inherited descriptor except 0 to 2 and `kept`.
void watchshim_close_others(int kept);

/// Has SIGTERM sent to this process when its parent's thread ends. Returns 0 or an errno.
int watchshim_die_with_parent(void);
/// Has SIGTERM and SIGINT only recorded, so that files on disk can be cleaned up. Ignores SIGHUP and SIGPIPE. Returns 0
/// or an errno.
int watchshim_note_termination(void);
/// Calls poll(2), the only place where those signals arrive. So none is missed between a check of
/// `watchshim_termination_noted` and the sleep.
int watchshim_poll(struct pollfd *polled, unsigned count, int milliseconds);
/// Whether one of these signals has arrived.
int watchshim_termination_noted(void);

/// CLOCK_MONOTONIC in nanoseconds.
int64_t watchshim_now(void);

#endif
