#ifndef TESTPROCESS_H
#define TESTPROCESS_H

#include <sys/types.h>

// testprocess_spawn starts a program in a process group of its own, in the folder, with the given descriptors as its
// standard input, output and error. It inherits no other descriptor.
//
// directory: NULL for the folder of the caller.
// descriptors: a negative number is replaced by /dev/null. It is an error if one of them is below 3 and not in its place.
//
// Returns 0, or an error number.
int testprocess_spawn(
    pid_t *process, const char *path, char *const arguments[], char *const environment[], const char *directory,
    const int descriptors[3]);

#endif
