// Makes chosen calls of one program fail, as a failing disk or an exhausted limit would. It is loaded with LD_PRELOAD.
//
// The test shares one page with the program (PHOTOD_FAULTS names its file). Through it, the test can arm a fault, heal
// it and read the counts at any moment. A fault concerns calls of one class, on paths below a prefix, from call number
// `first` to call number `last` since it was armed. A test runs n = 1, 2, 3, ... until no fault fires.
// PHOTOD_FAULTS_PROGRAM names the program in which calls fail. Programs that it starts inherit the environment, but in
// them every call goes straight through.
//
// The library holds no lock and allocates nothing, so it may run in any thread and in any call. It does not see calls
// that libc makes inside itself, such as the open of fopen and of posix_spawn.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

// The test uses the same numbers.
enum call_class {
  NOTHING, OPEN, READ, STAT, WRITE, SYNC, SOCKET, PAIR, MAP, RENAME, UNLINK, LIST, WATCH, ACCEPT, SPAWN, LOCK,
  SOCKETPAIR,
};

// The test writes all fields except the counts and `first_call`. It does so while `class` is NOTHING.
struct control {
  _Atomic uint32_t class;
  int32_t error;      // an errno; 0: the call does half of its work (read, write and socket calls)
  uint64_t first;     // from 1
  uint64_t last;
  _Atomic uint64_t calls;
  _Atomic uint64_t fired;
  char prefix[1024];  // of the path; if empty, calls on any path and calls without one
  char first_call[1024];  // the first call that failed: "pwrite64 /tmp/x/catalog.sqlite-wal"
};

static struct control *control;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("PHOTOD_FAULTS"), *program = getenv("PHOTOD_FAULTS_PROGRAM");
  if (!path || (program && strcmp(program, program_invocation_short_name) != 0)) return;
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *page = (void *)syscall(SYS_mmap, NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
  syscall(SYS_close, file);
  if (page != MAP_FAILED) control = page;
}

// MARK: The choice of calls that fail

// Gets the path of an open descriptor, or of `name` relative to it. The path is empty if it is not known.
static void find_path(char *path, size_t size, int descriptor, const char *name) {
  path[0] = 0;
  if (name && name[0] == '/') {
    snprintf(path, size, "%s", name);
    return;
  }
  char link[40];
  if (descriptor == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
  else snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, size - 1);
  // photod-extract may not look at paths. All that it reads are photos.
  if (length < 0 && errno == EPERM) {
    snprintf(path, size, "%s", control->prefix);
    return;
  }
  if (length < 0) length = 0;
  path[length] = 0;
  if (name && name[0] && (size_t)length + strlen(name) + 2 < size) {
    path[length] = '/';
    strcpy(path + length + 1, name);
  }
}

// Counts the call, and returns whether it must fail.
static int is_hit(const char *call, const char *path) {
  // libdispatch ends a process that cannot inspect its own threads (event/workqueue.c). photod could not handle that
  // failure.
  size_t end = strlen(path);
  if (strncmp(path, "/proc/", 6) == 0 && end > 5 && strcmp(path + end - 5, "/stat") == 0) return 0;
  size_t length = strnlen(control->prefix, sizeof control->prefix);
  if (length && strncmp(path, control->prefix, length) != 0) return 0;
  uint64_t number = atomic_fetch_add(&control->calls, 1) + 1;
  if (number < control->first || number > control->last) return 0;
  if (atomic_fetch_add(&control->fired, 1) == 0)
    snprintf(control->first_call, sizeof control->first_call, "%s %s", call, path);
  return 1;
}

static int is_armed(enum call_class class) {
  return control && atomic_load_explicit(&control->class, memory_order_acquire) == (uint32_t)class;
}

// For calls by path or on a file. errno is unchanged, unless the call must fail.
static int fails(enum call_class class, const char *call, int descriptor, const char *name) {
  if (!is_armed(class)) return 0;
  int before = errno;
  char path[PATH_MAX + 300];
  find_path(path, sizeof path, descriptor, name);
  int hit = is_hit(call, path);
  errno = hit ? control->error : before;
  return hit;
}

// For calls that send data. The kind of the descriptor decides the class.
static int output_fails(const char *call, int descriptor) {
  if (!control) return 0;
  uint32_t class = atomic_load_explicit(&control->class, memory_order_acquire);
  if (class == WRITE) {
    struct stat status;
    if (syscall(SYS_fstat, descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    return fails(WRITE, call, descriptor, NULL);
  }
  if (class != SOCKET && class != PAIR) return 0;
  int before = errno;
  struct sockaddr_un address;
  socklen_t length = sizeof address;
  memset(&address, 0, sizeof address);
  int is_socket = syscall(SYS_getsockname, descriptor, &address, &length) == 0 && address.sun_family == AF_UNIX;
  errno = before;
  // A client's socket has the name of the listening socket. A socket of a pair has no name.
  int is_named = length > sizeof address.sun_family && address.sun_path[0] == '/';
  if (!is_socket || is_named != (class == SOCKET)) return 0;
  int hit = is_hit(call, class == SOCKET ? address.sun_path : control->prefix);
  errno = hit ? control->error : before;
  return hit;
}

static size_t half(size_t count) { return count > 1 ? count / 2 : count; }

// MARK: The calls

#define REAL(result, name, ...) \
  static result (*real)(__VA_ARGS__); \
  if (!real) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define MODE(flags) \
  mode_t mode = 0; \
  if (__OPEN_NEEDS_MODE(flags)) { \
    va_list list; \
    va_start(list, flags); \
    mode = va_arg(list, mode_t); \
    va_end(list); \
  }

#define DEFINE_OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(int, name, const char *, int, ...); \
    MODE(flags) \
    return fails(OPEN, #name, AT_FDCWD, path) ? -1 : real(path, flags, mode); \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

#define DEFINE_OPENAT(name) \
  int name(int directory, const char *path, int flags, ...) { \
    REAL(int, name, int, const char *, int, ...); \
    MODE(flags) \
    return fails(OPEN, #name, directory, path) ? -1 : real(directory, path, flags, mode); \
  }
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

#define DEFINE_FOPEN(name) \
  FILE *name(const char *path, const char *mode) { \
    REAL(FILE *, name, const char *, const char *); \
    return fails(OPEN, #name, AT_FDCWD, path) ? NULL : real(path, mode); \
  }
DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)

DIR *opendir(const char *path) {
  REAL(DIR *, opendir, const char *);
  return fails(OPEN, "opendir", AT_FDCWD, path) ? NULL : real(path);
}

static int is_file(int descriptor) {
  struct stat status;
  return syscall(SYS_fstat, descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

ssize_t read(int descriptor, void *buffer, size_t count) {
  REAL(ssize_t, read, int, void *, size_t);
  if (is_armed(READ) && is_file(descriptor) && fails(READ, "read", descriptor, NULL)) {
    if (errno) return -1;
    count = half(count);
  }
  return real(descriptor, buffer, count);
}

#define DEFINE_PREAD(name, offset_type) \
  ssize_t name(int descriptor, void *buffer, size_t count, offset_type offset) { \
    REAL(ssize_t, name, int, void *, size_t, offset_type); \
    if (fails(READ, #name, descriptor, NULL)) { \
      if (errno) return -1; \
      count = half(count); \
    } \
    return real(descriptor, buffer, count, offset); \
  }
DEFINE_PREAD(pread, off_t)
DEFINE_PREAD(pread64, off64_t)

#define DEFINE_STAT(name, type) \
  int name(const char *restrict path, type *restrict status) { \
    REAL(int, name, const char *, type *); \
    return fails(STAT, #name, AT_FDCWD, path) ? -1 : real(path, status); \
  }
DEFINE_STAT(stat, struct stat)
DEFINE_STAT(stat64, struct stat64)
DEFINE_STAT(lstat, struct stat)
DEFINE_STAT(lstat64, struct stat64)

#define DEFINE_FSTAT(name, type) \
  int name(int descriptor, type *status) { \
    REAL(int, name, int, type *); \
    return fails(STAT, #name, descriptor, NULL) ? -1 : real(descriptor, status); \
  }
DEFINE_FSTAT(fstat, struct stat)
DEFINE_FSTAT(fstat64, struct stat64)

#define DEFINE_FSTATAT(name, type) \
  int name(int directory, const char *restrict path, type *restrict status, int flags) { \
    REAL(int, name, int, const char *, type *, int); \
    return fails(STAT, #name, directory, path) ? -1 : real(directory, path, status, flags); \
  }
DEFINE_FSTATAT(fstatat, struct stat)
DEFINE_FSTATAT(fstatat64, struct stat64)

int statx(int directory, const char *restrict path, int flags, unsigned mask, struct statx *restrict status) {
  REAL(int, statx, int, const char *, int, unsigned, struct statx *);
  return fails(STAT, "statx", directory, path) ? -1 : real(directory, path, flags, mask, status);
}

int access(const char *path, int mode) {
  REAL(int, access, const char *, int);
  return fails(STAT, "access", AT_FDCWD, path) ? -1 : real(path, mode);
}

ssize_t write(int descriptor, const void *buffer, size_t count) {
  REAL(ssize_t, write, int, const void *, size_t);
  if (output_fails("write", descriptor)) {
    if (errno) return -1;
    count = half(count);
  }
  return real(descriptor, buffer, count);
}

#define DEFINE_PWRITE(name, offset_type) \
  ssize_t name(int descriptor, const void *buffer, size_t count, offset_type offset) { \
    REAL(ssize_t, name, int, const void *, size_t, offset_type); \
    if (fails(WRITE, #name, descriptor, NULL)) { \
      if (errno) return -1; \
      count = half(count); \
    } \
    return real(descriptor, buffer, count, offset); \
  }
DEFINE_PWRITE(pwrite, off_t)
DEFINE_PWRITE(pwrite64, off64_t)

#define DEFINE_FTRUNCATE(name, size_type) \
  int name(int descriptor, size_type size) { \
    REAL(int, name, int, size_type); \
    return fails(WRITE, #name, descriptor, NULL) && errno ? -1 : real(descriptor, size); \
  }
DEFINE_FTRUNCATE(ftruncate, off_t)
DEFINE_FTRUNCATE(ftruncate64, off64_t)

#define DEFINE_SYNC(name) \
  int name(int descriptor) { \
    REAL(int, name, int); \
    return fails(SYNC, #name, descriptor, NULL) ? -1 : real(descriptor); \
  }
DEFINE_SYNC(fsync)
DEFINE_SYNC(fdatasync)

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  REAL(ssize_t, writev, int, const struct iovec *, int);
  if (output_fails("writev", descriptor)) {
    if (errno) return -1;
    return syscall(SYS_write, descriptor, parts[0].iov_base, half(parts[0].iov_len));
  }
  return real(descriptor, parts, count);
}

ssize_t send(int descriptor, const void *buffer, size_t count, int flags) {
  REAL(ssize_t, send, int, const void *, size_t, int);
  if (output_fails("send", descriptor)) {
    if (errno) return -1;
    count = half(count);
  }
  return real(descriptor, buffer, count, flags);
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
  REAL(ssize_t, sendmsg, int, const struct msghdr *, int);
  return output_fails("sendmsg", descriptor) && errno ? -1 : real(descriptor, message, flags);
}

#define DEFINE_MMAP(name, offset_type) \
  void *name(void *address, size_t size, int protection, int flags, int descriptor, offset_type offset) { \
    REAL(void *, name, void *, size_t, int, int, int, offset_type); \
    if (descriptor >= 0 && fails(MAP, #name, descriptor, NULL)) return MAP_FAILED; \
    return real(address, size, protection, flags, descriptor, offset); \
  }
DEFINE_MMAP(mmap, off_t)
DEFINE_MMAP(mmap64, off64_t)

int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  return fails(RENAME, "rename", AT_FDCWD, to) ? -1 : real(from, to);
}

int unlink(const char *path) {
  REAL(int, unlink, const char *);
  return fails(UNLINK, "unlink", AT_FDCWD, path) ? -1 : real(path);
}

int unlinkat(int directory, const char *path, int flags) {
  REAL(int, unlinkat, int, const char *, int);
  return fails(UNLINK, "unlinkat", directory, path) ? -1 : real(directory, path, flags);
}

ssize_t getdents64(int directory, void *buffer, size_t size) {
  REAL(ssize_t, getdents64, int, void *, size_t);
  return fails(LIST, "getdents64", directory, NULL) ? -1 : real(directory, buffer, size);
}

int inotify_add_watch(int inotify, const char *path, uint32_t mask) {
  REAL(int, inotify_add_watch, int, const char *, uint32_t);
  // photod-watch names directories as /proc/self/fd/N, so the target of that link decides.
  int descriptor = -1;
  sscanf(path, "/proc/self/fd/%d", &descriptor);
  const char *name = descriptor < 0 ? path : NULL;
  return fails(WATCH, "inotify_add_watch", descriptor, name) ? -1 : real(inotify, path, mask);
}

int accept(int listener, struct sockaddr *restrict address, socklen_t *restrict length) {
  REAL(int, accept, int, struct sockaddr *, socklen_t *);
  if (is_armed(ACCEPT) && is_hit("accept", control->prefix)) {
    errno = control->error;
    return -1;
  }
  return real(listener, address, length);
}

int accept4(int listener, struct sockaddr *restrict address, socklen_t *restrict length, int flags) {
  REAL(int, accept4, int, struct sockaddr *, socklen_t *, int);
  if (is_armed(ACCEPT) && is_hit("accept4", control->prefix)) {
    errno = control->error;
    return -1;
  }
  return real(listener, address, length, flags);
}

// Its result is the errno, and it leaves errno unchanged.
int posix_spawn(
  pid_t *restrict process, const char *restrict path, const posix_spawn_file_actions_t *actions,
  const posix_spawnattr_t *restrict attributes, char *const arguments[restrict], char *const environment[restrict]
) {
  REAL(
    int, posix_spawn, pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
    char *const *, char *const *);
  if (is_armed(SPAWN) && is_hit("posix_spawn", control->prefix)) return control->error;
  return real(process, path, actions, attributes, arguments, environment);
}

int socketpair(int domain, int type, int protocol, int descriptors[2]) {
  REAL(int, socketpair, int, int, int, int *);
  if (is_armed(SOCKETPAIR) && is_hit("socketpair", control->prefix)) {
    errno = control->error;
    return -1;
  }
  return real(domain, type, protocol, descriptors);
}

#define DEFINE_FCNTL(name) \
  int name(int descriptor, int command, ...) { \
    REAL(int, name, int, int, ...); \
    va_list list; \
    va_start(list, command); \
    void *argument = va_arg(list, void *); \
    va_end(list); \
    int is_lock = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW; \
    return is_lock && fails(LOCK, #name, descriptor, NULL) ? -1 : real(descriptor, command, argument); \
  }
DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)
