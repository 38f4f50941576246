// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later
#define _GNU_SOURCE
#include "descriptorpassing.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int) * DESCRIPTORPASSING_MAXIMUM)];
};

long descriptorpassing_send(
    int socket, const void *bytes, size_t byte_count, const int *descriptors, unsigned descriptor_count) {
  if (descriptor_count > DESCRIPTORPASSING_MAXIMUM) {
    errno = EINVAL;
    return -1;
  }
  struct iovec part = {(void *)bytes, byte_count};
  struct msghdr message = {0};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  union control control;
  if (descriptor_count > 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count);
    memcpy(CMSG_DATA(header), descriptors, sizeof(int) * descriptor_count);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

long descriptorpassing_receive(
    int socket, void *bytes, size_t byte_count, int *descriptors, unsigned *descriptor_count) {
  unsigned capacity = *descriptor_count;
  *descriptor_count = 0;
  struct iovec part = {bytes, byte_count};
  union control control;
  struct msghdr message = {0};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control;
  ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (count < 0) return -1;
  int lost = (message.msg_flags & MSG_CTRUNC) != 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t received = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t index = 0; index < received; index++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + index * sizeof(int), sizeof(int));
      if (*descriptor_count < capacity) {
        descriptors[(*descriptor_count)++] = descriptor;
      } else {
        close(descriptor);
        lost = 1;
      }
    }
  }
  if (lost) {
    for (unsigned index = 0; index < *descriptor_count; index++) close(descriptors[index]);
    *descriptor_count = 0;
    errno = EMSGSIZE;
    return -1;
  }
  return count;
}
