"""Changes the folders while a client listens, and measures the time that the kernel alone needs to report it."""

import ctypes
import json
import os
import time
import traceback

CLOSE_WRITE, MOVED_TO, DELETE = 0x8, 0x80, 0x200


def write(path, content):
    """Writes a new file. Returns the time just before its close."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(descriptor, content)
    closed = time.monotonic_ns()
    os.close(descriptor)
    return closed


def copy_all(photos, folder):
    """Writes every (name, content) in a row without a pause. Returns the time just before the last close."""
    for name, content in photos:
        closed = write(folder / name, content)
    return closed


def rename(old, new):
    """Renames. Returns the time just before the call."""
    renamed = time.monotonic_ns()
    os.rename(old, new)
    return renamed


def remove_folder(folder):
    """Unlinks every file of a folder and then the folder. Returns the time just before the last unlink."""
    for name in os.listdir(folder):
        unlinked = time.monotonic_ns()
        os.unlink(folder / name)
    os.rmdir(folder)
    return unlinked


class Beside:
    """Runs `work` in its own process, as another program would do it. `result()` returns the result of `work`."""

    def __init__(self, work):
        self.reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.write(writing, json.dumps(work()).encode())
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(writing)

    def result(self):
        output = b""
        while piece := os.read(self.reading, 4096):
            output += piece
        os.close(self.reading)
        _, status = os.waitpid(self.pid, 0)
        if status != 0:
            raise RuntimeError("what was to happen in the folders failed")
        return json.loads(output)


class Inotify:
    """Watches one folder in this process: the time that the kernel and Python need, without photod."""

    def __init__(self, folder, mask):
        library = ctypes.CDLL(None, use_errno=True)
        self.descriptor = library.inotify_init1(os.O_CLOEXEC)
        if self.descriptor < 0 or library.inotify_add_watch(self.descriptor, os.fsencode(folder), mask) < 0:
            raise OSError(ctypes.get_errno(), "inotify")

    def until(self, count):
        """Returns the time when `count` further events were read."""
        while count > 0:
            events = os.read(self.descriptor, 1 << 16)
            stamp = time.monotonic_ns()
            offset = 0
            while offset < len(events):
                # inotify(7): descriptor, mask, cookie, length of the name; 4 bytes each.
                offset += 16 + int.from_bytes(events[offset + 12 : offset + 16], "little")
                count -= 1
        return stamp

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.descriptor)
