// Many clients that observe, as cheap as possible: one thread, epoll(7), and no JSON parser but searches in the text.
//
//   cc -O2 -Wall -Wextra -o observers observers.c
//   observers SOCKET CALLS
//
// Each line of the file CALLS contains the parameters of one Observe, which gets its own connection. When all clients
// have their lists, the program prints "ready". Each line of its standard input contains the parameters of
// PerformChanges. The program makes that call on another connection. It waits until every observer has received one
// whole message, which must be an observation. It then prints a line of JSON, with milliseconds from just before the
// call: until the first observer has its last byte, until the last observer has it, and until the call was answered.
// The line also contains the bytes that all observers received together, and those of the first observer.
//
//   observers -p COUNT BYTES ROUNDS
//
// Measures the best possible result. One process writes the same number of bytes to each of COUNT socket pairs, with
// one write each, and another process reads them in the same way. It prints the milliseconds from the start signal
// until the last byte, one line for each round.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 20, EVENTS = 256 };

static int poller;
static char piece[PIECE];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void refuse(const char *what, const char *text) {
  fprintf(stderr, "observers: %s: %.500s\n", what, text);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

static void write_all(int descriptor, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(descriptor, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("write");
    bytes += written;
    count -= written;
  }
}

static size_t read_some(int descriptor) {
  ssize_t count;
  do count = read(descriptor, piece, PIECE);
  while (count < 0 && errno == EINTR);
  if (count < 0) fail("read");
  if (count == 0) refuse("a connection was closed", "");
  return count;
}

static void watch(int descriptor, uint32_t number) {
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
}

static int connected(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) refuse("the path of the socket is too long", path);
  strcpy(address.sun_path, path);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) fail("socket");
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
  return descriptor;
}

static void send_call(int descriptor, const char *method, const char *parameters, int more) {
  char *call;
  int length = asprintf(&call, "{\"method\":\"org.photod.library.%s\",\"parameters\":%s%s}", method, parameters,
                        more ? ",\"more\":true" : "");
  if (length < 0) fail("asprintf");
  write_all(descriptor, call, length + 1);
  free(call);
}


// Reads the pages of a list. The last page is the one that does not contain `"complete":false`.
static void read_list(int descriptor) {
  char *page = NULL;
  size_t length = 0;
  for (;;) {
    size_t count = read_some(descriptor), start = 0;
    for (size_t end = 0; end < count; end++) {
      if (piece[end] != 0) continue;
      page = realloc(page, length + end - start + 1);
      memcpy(page + length, piece + start, end - start + 1);
      if (strstr(page, "\"error\"")) refuse("the daemon answers", page);
      int is_last = strstr(page, "\"complete\":false") == NULL;
      length = 0;
      start = end + 1;
      if (is_last) {
        if (start != count) refuse("more than a list", piece + start);
        free(page);
        return;
      }
    }
    page = realloc(page, length + count - start + 1);
    if (!page) fail("realloc");
    memcpy(page + length, piece + start, count - start);
    length += count - start;
  }
}

static char *line(FILE *file) {
  char *text = NULL;
  size_t capacity = 0;
  ssize_t length = getline(&text, &capacity, file);
  if (length <= 0) return NULL;
  if (text[length - 1] == '\n') text[length - 1] = 0;
  return text;
}

// The result of one call: every descriptor has received a message that ends with NUL. The last one is that of the
// caller.
struct round {
  double first, last, answered;
  size_t bytes, first_bytes;
};

static struct round gather(const int *descriptors, uint32_t count, double began) {
  struct round round = {0};
  static struct epoll_event events[EVENTS];
  char *has_begun = calloc(count + 1, 1);
  for (uint32_t done = 0; done < count + (round.answered == 0);) {
    int ready = epoll_wait(poller, events, EVENTS, 120000);
    if (ready == 0) refuse("nothing came for two minutes", "");
    if (ready < 0 && errno != EINTR) fail("epoll_wait");
    for (int index = 0; index < ready; index++) {
      uint32_t number = events[index].data.u32;
      size_t bytes = read_some(descriptors[number]);
      int is_whole = piece[bytes - 1] == 0;
      if (number == count) {
        if (memmem(piece, bytes, "\"error\"", 7)) refuse("the daemon answers", piece);
        if (is_whole) round.answered = now() - began;
        continue;
      }
      if (!has_begun[number] && !memmem(piece, bytes, "\"observation\"", 13)) refuse("no difference", piece);
      has_begun[number] = 1;
      round.bytes += bytes;
      if (number == 0) round.first_bytes += bytes;
      if (!is_whole) continue;
      round.last = now() - began;
      if (done++ == 0) round.first = round.last;
    }
  }
  free(has_begun);
  return round;
}

static int observe(const char *path, const char *calls) {
  FILE *file = fopen(calls, "r");
  if (!file) fail(calls);
  int *descriptors = NULL;
  uint32_t count = 0;
  for (char *parameters; (parameters = line(file)); free(parameters)) {
    descriptors = realloc(descriptors, (count + 2) * sizeof *descriptors);
    if (!descriptors) fail("realloc");
    descriptors[count] = connected(path);
    send_call(descriptors[count], "Observe", parameters, 1);
    read_list(descriptors[count]);
    watch(descriptors[count], count);
    count++;
  }
  fclose(file);
  if (count == 0) refuse("nothing to observe in", calls);
  descriptors[count] = connected(path);
  watch(descriptors[count], count);
  puts("ready");
  fflush(stdout);
  for (char *parameters; (parameters = line(stdin)); free(parameters)) {
    double began = now();
    send_call(descriptors[count], "PerformChanges", parameters, 0);
    struct round round = gather(descriptors, count, began);
    printf("{\"first\": %.6f, \"last\": %.6f, \"answered\": %.6f, \"bytes\": %zu, \"firstBytes\": %zu}\n", round.first,
           round.last, round.answered, round.bytes, round.first_bytes);
    fflush(stdout);
  }
  return 0;
}

static int pairs(uint32_t count, size_t bytes, int rounds) {
  int *ours = calloc(count + 1, sizeof *ours), *theirs = calloc(count + 1, sizeof *theirs);
  if (!ours || !theirs) fail("calloc");
  for (uint32_t number = 0; number <= count; number++) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) fail("socketpair");
    ours[number] = pair[0];
    theirs[number] = pair[1];
    watch(pair[0], number);
  }
  pid_t writer = fork();
  if (writer < 0) fail("fork");
  if (writer == 0) {
    char *message = calloc(bytes, 1), word;
    memcpy(message, "\"observation\"", bytes < 14 ? bytes : 13);
    for (uint32_t number = 0; number <= count; number++) close(ours[number]);
    while (read(theirs[count], &word, 1) == 1) {
      for (uint32_t number = 0; number < count; number++) write_all(theirs[number], message, bytes);
      write_all(theirs[count], "", 1);
    }
    _exit(0);
  }
  for (uint32_t number = 0; number <= count; number++) close(theirs[number]);
  for (int index = 0; index < rounds; index++) {
    double began = now();
    write_all(ours[count], "", 1);
    printf("%.6f\n", gather(ours, count, began).last);
  }
  close(ours[count]);
  return waitpid(writer, NULL, 0) == writer ? 0 : 1;
}

int main(int count, char **arguments) {
  signal(SIGPIPE, SIG_IGN);
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) fail("getrlimit");
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("setrlimit");
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (poller < 0) fail("epoll_create1");
  if (count == 5 && strcmp(arguments[1], "-p") == 0)
    return pairs(atoi(arguments[2]), atol(arguments[3]), atoi(arguments[4]));
  if (count == 3) return observe(arguments[1], arguments[2]);
  fputs("usage: observers SOCKET CALLS\n       observers -p COUNT BYTES ROUNDS\n", stderr);
  return 64;
}
