// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import TestTools

/// A photod-watch in which functions of the C library are replaced by those of a test.
enum Interposer {
  static let isPossible = system("command -v cc >/dev/null") == 0

  /// - Parameters:
  ///   - source: the functions, in C.
  ///   - variables: further variables of its environment, as for env(1).
  /// - Returns: a program that becomes this photod-watch.
  static func wrapper(_ disk: Disk, _ source: String, variables: String = "") throws -> String {
    let (file, library) = (disk.outside + "/interposed.c", disk.outside + "/interposed.so")
    Disk.write(file, source)
    try require(system("cc -shared -fPIC -o \(library) \(file) -ldl") == 0, "the functions can't be compiled")
    return Namespace.script(disk, "env LD_PRELOAD=\(library) \(variables) \(BuiltPrograms.path("photod-watch"))")
  }

  /// Each look at a photo takes this time.
  /// - Parameter hidesTypes: whether listings hide which names are files.
  static func slowLooks(milliseconds: Int, hidesTypes: Bool = false) -> String {
    """
    #define _GNU_SOURCE
    #include <dirent.h>
    #include <dlfcn.h>
    #include <string.h>
    #include <sys/stat.h>
    #include <unistd.h>
    int statx(int directory, const char *name, int flags, unsigned mask, struct statx *result) {
      int (*real)(int, const char *, int, unsigned, struct statx *) = dlsym(RTLD_NEXT, "statx");
      if (strstr(name, ".jpg")) usleep(\(milliseconds) * 1000);
      return real(directory, name, flags, mask, result);
    }
    ssize_t getdents64(int directory, void *entries, size_t size) {
      ssize_t (*real)(int, void *, size_t) = dlsym(RTLD_NEXT, "getdents64");
      ssize_t count = real(directory, entries, size);
      for (ssize_t start = 0; \(hidesTypes ? 1 : 0) && start < count;) {
        struct dirent64 *entry = (void *)((char *)entries + start);
        entry->d_type = DT_UNKNOWN;
        start += entry->d_reclen;
      }
      return count;
    }

    """
  }

  /// A file system without birth times, of which the kernel reports no events.
  static let polledWithoutBirthTimes = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <sys/stat.h>
    int statx(int directory, const char *name, int flags, unsigned mask, struct statx *result) {
      int (*real)(int, const char *, int, unsigned, struct statx *) = dlsym(RTLD_NEXT, "statx");
      int status = real(directory, name, flags, mask, result);
      if (status == 0) result->stx_mask &= ~STATX_BTIME;
      return status;
    }
    int inotify_init1(int flags) {
      errno = EMFILE;
      return -1;
    }
    int inotify_init(void) { return inotify_init1(0); }

    """

  /// The kernel refuses to watch folders of this name, until a file exists. They may be read.
  static func refusedWatch(of name: String, until file: String) -> String {
    """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <stdint.h>
    #include <string.h>
    #include <unistd.h>
    int inotify_add_watch(int instance, const char *path, uint32_t mask) {
      int (*real)(int, const char *, uint32_t) = dlsym(RTLD_NEXT, "inotify_add_watch");
      char target[4096] = "";
      if (readlink(path, target, sizeof target - 1) > 0 && access("\(file)", F_OK) != 0) {
        const char *name = strrchr(target, '/');
        if (name && strcmp(name, "/\(name)") == 0) {
          errno = EACCES;
          return -1;
        }
      }
      return real(instance, path, mask);
    }

    """
  }

  /// Once a file exists, these many attempts to open a folder by a path that begins like this fail with EACCES.
  static func refusal(count: Int, of path: String, once file: String) -> String {
    let function = """
      int NAME(int directory, const char *name, int flags, ...) {
        int (*real)(int, const char *, int, ...) = dlsym(RTLD_NEXT, "NAME");
        va_list arguments;
        va_start(arguments, flags);
        int mode = va_arg(arguments, int);
        va_end(arguments);
        if (left > 0 && strncmp(name, "\(path)", \(path.utf8.count)) == 0 && access("\(file)", F_OK) == 0) {
          left -= 1;
          errno = EACCES;
          return -1;
        }
        return real(directory, name, flags, mode);
      }

      """
    return """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <errno.h>
      #include <stdarg.h>
      #include <string.h>
      #include <unistd.h>
      static int left = \(count);

      """ + ["openat", "openat64"].map { function.replacing("NAME", with: $0) }.joined()
  }
}
