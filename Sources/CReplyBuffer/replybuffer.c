#define _GNU_SOURCE
#include "replybuffer.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

// The first tick sends the replies that wait. Later ticks, one a second, measure the time of the file.
static const struct itimerval ticks = {.it_interval = {.tv_sec = 1}, .it_value = {.tv_usec = 10000}};
static const struct itimerval no_ticks;

static int reply_socket = -1;
static unsigned longest;
static char buffer[128 << 10];

// A signal handler may run between any two instructions of the functions below. It only sends bytes before `filled`, and
// changes nothing but `sent`, `is_late` and `seconds`. While `is_sending` is set, it does not touch the buffer.
static volatile sig_atomic_t filled, sent, is_sending, is_late, seconds;

// Sends the bytes between `sent` and `filled`. A signal handler must not wait for photod.
static int send_waiting(int flags) {
  while (sent < filled) {
    ssize_t count = send(reply_socket, buffer + sent, (size_t)(filled - sent), MSG_NOSIGNAL | flags);
    if (count >= 0) {
      sent += (sig_atomic_t)count;
    } else if (errno != EINTR) {
      return -1;
    }
  }
  return 0;
}

static int send_all(void) {
  is_sending = 1;
  atomic_signal_fence(memory_order_seq_cst);
  int result = send_waiting(0);
  if (result == 0) filled = sent = 0;
  atomic_signal_fence(memory_order_seq_cst);
  is_sending = 0;
  return result;
}

static void tick(int number) {
  (void)number;
  int error = errno;
  is_late = 1;
  if (!is_sending) send_waiting(MSG_DONTWAIT);
  seconds++;
  // SIGALRM would end the process by default, but this handler has replaced the default. The sandbox forbids to restore it.
  if ((unsigned)seconds > longest) raise(SIGKILL);
  errno = error;
}

// The signal that ends the process is raised again. It is blocked here, and its handler is reset, so it takes effect when
// this function returns.
static void fault(int number) {
  if (!is_sending) send_waiting(MSG_DONTWAIT);
  raise(number);
}

int replybuffer_prepare(int socket, unsigned longest_seconds) {
  reply_socket = socket;
  longest = longest_seconds;
  // A stack that has overflowed has no room for a handler.
  static char stack[64 << 10] __attribute__((aligned(16)));
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  if (sigaltstack(&other, NULL)) return -1;
  struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGALRM, &action, NULL)) return -1;
  action.sa_handler = fault;
  action.sa_flags = SA_RESETHAND | SA_ONSTACK;
  static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
  for (size_t index = 0; index < sizeof faults / sizeof faults[0]; index++)
    if (sigaction(faults[index], &action, NULL)) return -1;
  return 0;
}

void replybuffer_begin(void) {
  is_late = 0;
  seconds = 0;
  setitimer(ITIMER_REAL, &ticks, NULL);
}

void replybuffer_next(void) { seconds = 0; }

int replybuffer_add(const void *bytes, size_t byte_count) {
  const char *next = bytes;
  while (byte_count > 0) {
    if (filled == (sig_atomic_t)sizeof buffer && send_all()) return -1;
    size_t room = sizeof buffer - (size_t)filled;
    size_t part = byte_count < room ? byte_count : room;
    memcpy(buffer + filled, next, part);
    // The handler must not see the new end before the bytes.
    atomic_signal_fence(memory_order_seq_cst);
    filled += (sig_atomic_t)part;
    next += part;
    byte_count -= part;
  }
  return is_late ? send_all() : 0;
}

int replybuffer_end(void) {
  int result = send_all();
  setitimer(ITIMER_REAL, &no_ticks, NULL);
  return result;
}
