// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later
//
// Descriptors that travel with bytes over a Unix socket (SCM_RIGHTS, unix(7)). Swift does not import the macros of cmsg(3).
#ifndef PHOTOD_DESCRIPTORPASSING_H
#define PHOTOD_DESCRIPTORPASSING_H

#include <stddef.h>

/// The most descriptors of one call.
enum { DESCRIPTORPASSING_MAXIMUM = 32 };

/// Sends bytes, and descriptors with the first of them. The descriptors stay open here.
///
/// Returns the number of bytes sent, which may be fewer, or -1 with errno. If any byte was sent, all descriptors were.
long descriptorpassing_send(
    int socket, const void *bytes, size_t byte_count, const int *descriptors, unsigned descriptor_count);

/// Receives bytes, and the descriptors that came with them. The descriptors are close-on-exec.
///
/// Returns the number of bytes, 0 at the end, or -1 with errno. EMSGSIZE: descriptors were lost, because there were more
/// than `*descriptor_count` or this process may have no more.
long descriptorpassing_receive(
    int socket, void *bytes, size_t byte_count, int *descriptors, unsigned *descriptor_count);

#endif
