#define _GNU_SOURCE
#include "testprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

static int add_actions(posix_spawn_file_actions_t *actions, const char *directory, const int descriptors[3]) {
  int error = 0;
  for (int number = 0; number < 3 && !error; number++) {
    int descriptor = descriptors[number];
    // Another standard descriptor could have been replaced before it is copied.
    if (descriptor >= 0 && descriptor < 3 && descriptor != number) return EINVAL;
    if (descriptor < 0) {
      error = posix_spawn_file_actions_addopen(actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0);
    } else {
      // This also clears close-on-exec if the two are the same.
      error = posix_spawn_file_actions_adddup2(actions, descriptor, number);
    }
  }
  if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, 3);
  if (!error && directory) error = posix_spawn_file_actions_addchdir_np(actions, directory);
  return error;
}

int testprocess_spawn(
    pid_t *process, const char *path, char *const arguments[], char *const environment[], const char *directory,
    const int descriptors[3]) {
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  error = add_actions(&actions, directory, descriptors);
  posix_spawnattr_t attributes;
  if (!error) error = posix_spawnattr_init(&attributes);
  if (!error) {
    // Threads of Dispatch block signals that the program has to get.
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    error = posix_spawn(process, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}
