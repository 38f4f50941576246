// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later
#define _GNU_SOURCE
#include "sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

void sandbox_close_others(int kept) {
  if (kept > 3) close_range(3, (unsigned)kept - 1, 0);
  close_range((unsigned)kept < 3 ? 3 : (unsigned)kept + 1, ~0u, 0);
}

// MARK: Limits

static int limit(int resource, rlim_t most) {
  struct rlimit limits;
  if (getrlimit(resource, &limits)) return -1;
  // A limit can only be lowered.
  if (limits.rlim_max < most) most = limits.rlim_max;
  limits.rlim_cur = limits.rlim_max = most;
  return setrlimit(resource, &limits);
}

static int set_limits(rlim_t addresses) {
  // 32 descriptors of files, the socket and the standard ones.
  if (limit(RLIMIT_NOFILE, 64) || limit(RLIMIT_CORE, 0)) return -1;
  return limit(RLIMIT_AS, addresses);
}

// MARK: Landlock

// The headers of Debian 12 do not name all rights, so these are the numbers of the kernel's interface (linux/landlock.h).
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_restrict_self 446
#endif

struct landlock_rules {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};

static int restrict_paths(void) {
  // Flag 1 asks for the version of the interface.
  long version = syscall(__NR_landlock_create_ruleset, NULL, 0, 1);
  // The kernel has no Landlock, or it is switched off. seccomp allows no call that takes a path.
  if (version < 0) return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -1;
  static const unsigned rights_of_files[] = {13, 14, 15, 15, 16};
  unsigned known = version > 5 ? 5 : (unsigned)version;
  struct landlock_rules rules = {0};
  rules.handled_access_fs = ((uint64_t)1 << rights_of_files[known - 1]) - 1;
  size_t size = sizeof rules.handled_access_fs;
  if (version >= 4) {
    rules.handled_access_net = 3;
    size += sizeof rules.handled_access_net;
  }
  if (version >= 6) {
    rules.scoped = 3;
    size += sizeof rules.scoped;
  }
  // The ruleset has no rules, so it forbids all actions that it handles.
  int ruleset = (int)syscall(__NR_landlock_create_ruleset, &rules, size, 0);
  if (ruleset < 0) return -1;
  int result = (int)syscall(__NR_landlock_restrict_self, ruleset, 0);
  int error = errno;
  close(ruleset);
  errno = error;
  return result;
}

// MARK: seccomp

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#error "The filter of system calls must know this processor's name (linux/audit.h)."
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
// The lower half of an argument, on a little-endian processor.
#define LOAD_ARGUMENT(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, args[n]))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)
#define ALLOW ANSWER(SECCOMP_RET_ALLOW)
#define REFUSE ANSWER(SECCOMP_RET_ERRNO | EPERM)
// Allows a call whatever its arguments are.
#define ALLOW_CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), ALLOW
// Allows a call if its argument has this value.
#define ALLOW_CALL_WITH(name, n, value)                                                                     \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD_ARGUMENT(n),                                   \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1), ALLOW, REFUSE
// Allows a call unless its argument has this bit.
#define ALLOW_CALL_WITHOUT(name, n, bit)                                                                    \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD_ARGUMENT(n),                                   \
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bit, 1, 0), ALLOW, REFUSE

// The flags of pthread_create(3) of glibc. musl adds CLONE_DETACHED, which Linux ignores.
#define THREAD_FLAGS                                                                                        \
  (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |          \
   CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

// The beginning of each filter. The most frequent calls come first, because the filter is a list.
#define COMMON_CALLS(socket)                                                                                \
  LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0), ANSWER(SECCOMP_RET_KILL_PROCESS),      \
      LOAD(nr), ALLOW_CALL(pread64), ALLOW_CALL(close), ALLOW_CALL_WITH(recvmsg, 0, (unsigned)socket),        \
      ALLOW_CALL_WITH(sendto, 0, (unsigned)socket), ALLOW_CALL_WITH(write, 0, STDERR_FILENO),                 \
      ALLOW_CALL_WITHOUT(mmap, 2, PROT_EXEC), ALLOW_CALL_WITHOUT(mprotect, 2, PROT_EXEC), ALLOW_CALL(munmap), \
      ALLOW_CALL(mremap), ALLOW_CALL(madvise), ALLOW_CALL(brk), ALLOW_CALL(futex),                            \
      /* The time limit of a process that outlives photod. */                                                 \
      ALLOW_CALL(setitimer), ALLOW_ALARM ALLOW_CALL(clock_gettime), ALLOW_CALL(getrandom),                    \
      ALLOW_CALL(rt_sigreturn), ALLOW_CALL(rt_sigprocmask), ALLOW_CALL(sched_yield),                          \
      ALLOW_CALL(restart_syscall),                                                                            \
      /* A fatal signal that the process sends to itself ends it with that signal. */                         \
      ALLOW_CALL_WITH(tgkill, 0, (unsigned)getpid()), ALLOW_CALL(getpid), ALLOW_CALL(gettid),                 \
      ALLOW_CALL(exit), ALLOW_CALL(exit_group)

#ifdef __NR_alarm
#define ALLOW_ALARM ALLOW_CALL(alarm),
#else
#define ALLOW_ALARM
#endif

// The filter holds for all threads, including those that the libraries have begun already.
static int install(struct sock_filter *filter, size_t count) {
  struct sock_fprog program = {(unsigned short)count, filter};
  long result = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  // A positive number is a thread that can't take over the filter.
  if (result > 0) errno = EBUSY;
  return result == 0 ? 0 : -1;
}

static int filter_calls_of_reader(int socket) {
  struct sock_filter filter[] = {COMMON_CALLS(socket), REFUSE};
  return install(filter, sizeof filter / sizeof filter[0]);
}

static int filter_calls_of_decoder(int socket) {
  struct sock_filter filter[] = {
      COMMON_CALLS(socket),
      // Threads, but no processes. clone3(2) has its flags in memory, which a filter can't read. The C library falls back
      // to clone(2) if it does not exist.
      ALLOW_CALL_WITH(clone, 0, THREAD_FLAGS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone3, 0, 1),
      ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
      ALLOW_CALL(set_robust_list),
#ifdef __NR_rseq
      ALLOW_CALL(rseq),
#endif
      ALLOW_CALL_WITH(prctl, 0, PR_SET_NAME),
      // The libraries ask for the number of processors.
      ALLOW_CALL(sched_getaffinity),
      ALLOW_CALL(fstat),
      REFUSE,
  };
  return install(filter, sizeof filter / sizeof filter[0]);
}

static enum sandbox_step enter(rlim_t addresses, int (*filter_calls)(int), int socket) {
  if (set_limits(addresses)) return SANDBOX_LIMITS;
  // Without this, a filter needs a privilege, and a set-user-ID program could still give one.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)) return SANDBOX_PRIVILEGES;
  if (restrict_paths()) return SANDBOX_LANDLOCK;
  if (filter_calls(socket)) return SANDBOX_SECCOMP;
  return SANDBOX_DONE;
}

enum sandbox_step sandbox_enter(int socket) {
  // The reader needs some megabytes. The rest is for the address space that the runtime reserves without using it.
  return enter((rlim_t)1 << 30, filter_calls_of_reader, socket);
}

enum sandbox_step sandbox_enter_as_decoder(int socket) {
  return enter((rlim_t)2 << 30, filter_calls_of_decoder, socket);
}

long long sandbox_file_size(int descriptor) {
  struct stat status;
  // fstat(3) of the C library makes the call that takes a path, too.
  if (syscall(__NR_fstat, descriptor, &status)) return -1;
  if (!S_ISREG(status.st_mode)) {
    errno = EINVAL;
    return -1;
  }
  return status.st_size;
}

// MARK: Actions that are still possible

static int outcome(long result) { return result < 0 ? errno : 0; }

static int try_mapping(int protection) {
  void *memory = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? errno : 0;
}

const char *sandbox_try(unsigned number, int *error) {
  char *arguments[] = {"true", NULL};
  struct sockaddr_un local = {AF_UNIX, "/run/user/0/bus"};
  switch (number) {
  case 0: *error = outcome(open("/etc/passwd", O_RDONLY)); return "open a file";
  case 1: *error = outcome(open("/tmp/photod-sandbox", O_WRONLY | O_CREAT, 0600)); return "create a file";
  case 2: *error = outcome(open("/", O_RDONLY | O_DIRECTORY)); return "open a folder";
  case 3: *error = outcome(syscall(__NR_newfstatat, AT_FDCWD, "/etc/passwd", &local, 0)); return "examine a path";
  case 4: *error = outcome(unlink("/tmp/photod-sandbox")); return "remove a file";
  case 5: *error = outcome(rename("/tmp/photod-sandbox", "/tmp/photod-sandbox-2")); return "rename a file";
  case 6: *error = outcome(mkdir("/tmp/photod-sandbox", 0700)); return "make a folder";
  case 7: *error = outcome(chmod("/tmp", 01777)); return "change permissions";
  case 8: *error = outcome(socket(AF_INET, SOCK_STREAM, 0)); return "make a network socket";
  case 9: *error = outcome(socket(AF_UNIX, SOCK_STREAM, 0)); return "make a local socket";
  case 10: *error = outcome(connect(0, (struct sockaddr *)&local, sizeof local)); return "connect a socket";
  case 11: *error = outcome(execve("/bin/true", arguments, NULL)); return "run a program";
  case 12: *error = outcome(syscall(__NR_clone, SIGCHLD, 0, 0, 0, 0)); return "make a process";
  case 13: *error = outcome(syscall(__NR_clone3, NULL, 0)); return "make a thread or process (clone3)";
  case 14: *error = outcome(kill(getppid(), 0)); return "signal another process";
  case 15: *error = outcome(ptrace(PTRACE_TRACEME, 0, NULL, NULL)); return "trace a process";
  case 16: *error = outcome(write(1, "", 0)); return "write to standard output";
  case 17: *error = outcome(syscall(__NR_pwrite64, 0, "", 0, 0)); return "write to a descriptor";
  case 18: *error = outcome(ftruncate(0, 0)); return "cut a file off";
  case 19: *error = outcome(fchmod(0, 0600)); return "change the permissions of a descriptor";
  case 20: *error = outcome(syscall(__NR_ioctl, 0, 0, 0)); return "call a device";
  case 21: *error = try_mapping(PROT_READ | PROT_WRITE | PROT_EXEC); return "make memory executable";
  case 22: *error = outcome(syscall(__NR_setrlimit, RLIMIT_CORE, &local)); return "set a limit";
  case 23: *error = outcome(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)); return "change the process's attributes";
  case 24: *error = outcome(chdir("/")); return "change the folder";
  case 25: *error = outcome(unshare(CLONE_NEWUSER)); return "make a namespace";
  case 26: *error = outcome(syscall(__NR_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0)); return "read another process's memory";
  case 27: *error = outcome(syscall(__NR_io_uring_setup, 1, NULL)); return "make a queue of system calls";
  case 28: *error = outcome(dup(0)); return "copy a descriptor";
  default: return NULL;
  }
}

// MARK: System calls that are still possible

#define NAMED(name) {__NR_##name, #name}

static const struct {
  unsigned number;
  const char *name;
} named_calls[] = {
    NAMED(pread64), NAMED(close), NAMED(mmap), NAMED(mprotect), NAMED(munmap), NAMED(mremap), NAMED(madvise), NAMED(brk),
    NAMED(futex), NAMED(setitimer), NAMED(clock_gettime), NAMED(getrandom), NAMED(rt_sigprocmask), NAMED(sched_yield),
    NAMED(restart_syscall), NAMED(getpid), NAMED(gettid), NAMED(clone3), NAMED(set_robust_list), NAMED(sched_getaffinity),
    NAMED(fstat),
#ifdef __NR_alarm
    NAMED(alarm),
#endif
#ifdef __NR_rseq
    NAMED(rseq),
#endif
};

int sandbox_refuses(unsigned number) {
  // These would end the process, or leave its stack. The filters allow them.
  if (number == __NR_exit || number == __NR_exit_group || number == __NR_rt_sigreturn) return 1;
#if defined(__x86_64__)
  // uretprobe(2) and uprobe(2) are the kernel's own, and no filter sees them. Other callers get SIGILL.
  if (number == 335 || number == 336) return 1;
#endif
  // With arguments of zero, no call that the filters allow has an effect, except that close(2) closes standard input.
  return syscall((long)number, 0L, 0L, 0L, 0L, 0L, 0L) == -1 && errno == EPERM;
}

const char *sandbox_call_name(unsigned number) {
  for (size_t index = 0; index < sizeof named_calls / sizeof named_calls[0]; index++) {
    if (named_calls[index].number == number) return named_calls[index].name;
  }
  return NULL;
}

int sandbox_enter_landlock(void) {
  if (syscall(__NR_landlock_create_ruleset, NULL, 0, 1) < 0 && (errno == ENOSYS || errno == EOPNOTSUPP)) return 0;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || restrict_paths() ? -1 : 1;
}

const char *sandbox_try_path(unsigned number, int *error) {
  // The numbers of the actions above that Landlock forbids by itself.
  static const unsigned actions[] = {0, 1, 2, 6, 11};
  return number < sizeof actions / sizeof actions[0] ? sandbox_try(actions[number], error) : NULL;
}
