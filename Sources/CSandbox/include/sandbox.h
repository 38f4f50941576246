// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later
//
// Gives up the rights of a process that reads untrusted files: paths, network, programs, other processes.
#ifndef PHOTOD_SANDBOX_H
#define PHOTOD_SANDBOX_H

/// Closes every inherited descriptor except 0 to 2 and `kept`.
void sandbox_close_others(int kept);

/// The steps of `sandbox_enter`, for messages.
enum sandbox_step {
  SANDBOX_DONE,
  SANDBOX_LIMITS,
  SANDBOX_PRIVILEGES,
  SANDBOX_LANDLOCK,
  SANDBOX_SECCOMP,
};

/// Gives up all rights except to receive descriptors from the socket, to read them, to answer on the socket, and to write
/// to standard error. Nothing can give them back.
///
/// - Limits (setrlimit(2)): no core files, few descriptors, 1 GiB of addresses.
/// - Landlock (landlock(7)), if the kernel has it: no path of any file system, no TCP, no abstract sockets, no signals to
///   other processes.
/// - seccomp (seccomp(2)): a list of allowed system calls. Each other call fails with EPERM. Memory can't become
///   executable.
///
/// Returns SANDBOX_DONE, or the step that failed, with errno. Then nothing may be read.
enum sandbox_step sandbox_enter(int socket);

/// The same for a process that decodes pictures. It differs in these points:
///
/// - It may have 2 GiB of addresses. libheif hangs with fewer.
/// - It may begin threads, because libvips and the decoders of HEIC and AVIF need them. It may not begin processes.
/// - It may ask for the size of an open file, and name its threads.
enum sandbox_step sandbox_enter_as_decoder(int socket);

/// The size of a regular file, in bytes, by a system call that a decoder may make. -1 with errno if it is not known.
long long sandbox_file_size(int descriptor);

/// Tries one thing that the sandbox forbids. Returns its name, and its errno in `*error`, which is 0 if it was possible.
/// Returns NULL after the last one. It is for tests.
const char *sandbox_try(unsigned number, int *error);

/// The number above all numbers of system calls.
#define SANDBOX_CALL_LIMIT 1024

/// Makes the system call with this number, with zeros as arguments. Returns whether the filter refuses it. It is for tests.
int sandbox_refuses(unsigned number);

/// The name of a system call that a filter allows whatever its arguments are, or NULL. It is for tests.
const char *sandbox_call_name(unsigned number);

/// Gives up the rights that Landlock controls, and no others. Returns 1, or 0 if the kernel has no Landlock, or -1 with
/// errno. It is for tests.
int sandbox_enter_landlock(void);

/// As `sandbox_try`, for the things that Landlock forbids by itself.
const char *sandbox_try_path(unsigned number, int *error);

#endif
