// Sends the replies for several files with one system call, unless one of the files takes long or ends the process.
//
// If each reply is sent by itself, that is a sixth of the work, and photod wakes for each. But a reply must not wait for the
// next file, which may be damaged: photod would blame the wrong one. So finished replies are kept here. A signal handler
// sends them if the work takes longer than 10 ms, or if a fault ends the process.
#ifndef PHOTOD_REPLYBUFFER_H
#define PHOTOD_REPLYBUFFER_H

#include <stddef.h>

/// Prepares the process, which has one thread and one buffer. Call it before the process gives up its rights.
///
/// From then on, SIGKILL ends the process if one file takes longer than `longest_seconds`. Returns 0, or -1 with errno.
int replybuffer_prepare(int socket, unsigned longest_seconds);

/// Begins the work on some files. Until `replybuffer_end`, replies may wait.
void replybuffer_begin(void);

/// Begins the next file, whose time counts from here.
void replybuffer_next(void);

/// Adds the bytes of a reply. They are sent now if the work has taken longer than 10 ms, or if there is no room.
/// Returns 0, or -1 with errno if the socket can't be written.
int replybuffer_add(const void *bytes, size_t byte_count);

/// Sends what is left, and ends the work. Returns as `replybuffer_add`.
int replybuffer_end(void);

#endif
