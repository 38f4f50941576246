// SPDX-License-Identifier: GPL-2.0-or-later
// libinotifytools ships no .pc file; the module map names the library.
#include <sys/inotify.h>
#include <inotifytools/inotifytools.h>
