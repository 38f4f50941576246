"""A photod of its own for tests, with real photos, a catalog and a socket in one temporary folder."""

import contextlib
import ctypes
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib
from pathlib import Path

import photod

PACKAGE = Path(__file__).resolve().parent.parent.parent
FIXTURES = PACKAGE / "Tests/Fixtures/made"
PRODUCTS = Path(os.environ.get("PHOTOD_PRODUCTS", PACKAGE / ".build/debug"))

# The threads of the test program that starts Python block signals, and programs inherit that.
signal.pthread_sigmask(signal.SIG_SETMASK, ())

# Other tests may take the processors for some time.
PATIENCE = 120


_libc = ctypes.CDLL(None)


def end_with_parent():
    """In a child process: it is killed when the thread that started it ends, also if Python is killed."""
    pr_set_pdeathsig = 1
    _libc.prctl(pr_set_pdeathsig, signal.SIGKILL)


def sample_photos() -> list[Path]:
    """Small JPEGs of the fixtures, each with another content."""
    return sorted((FIXTURES / "gen").rglob("DSC*.jpg"))


def eventually(condition, what: str):
    """Returns the first true result of the condition."""
    deadline = time.monotonic() + PATIENCE
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"never: {what}")
        time.sleep(0.02)


class Daemon:
    """A photod. It runs inside `with Daemon() as daemon`."""

    def __init__(self, photo_count: int = 12):
        self.photo_count = photo_count

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="photod-python-"))
        self.photos = self.folder / "photos"
        self.photos.mkdir()
        self.socket = str(self.folder / "s")
        self.process = None
        self._number = 0
        for _ in range(self.photo_count):
            self.add()
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder)

    def start(self):
        """Starts photod, and returns when it answers and has scanned the photos."""
        environment = os.environ | {
            "XDG_RUNTIME_DIR": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "XDG_STATE_HOME": str(self.folder / "state"),
        }
        command = [PRODUCTS / "photod", "--root", self.photos, "--catalog", self.folder / "catalog.sqlite"]
        command += ["--socket", self.socket, "--removal-grace", "0"]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, preexec_fn=end_with_parent
            )

        def answers():
            if self.process.poll() is not None:
                raise AssertionError(f"photod ended:\n{(self.folder / 'log').read_text()}")
            with contextlib.suppress(photod.Unreachable, photod.ConnectionClosed, photod.LibraryUnavailable):
                with self.library() as library:
                    library.synchronize(PATIENCE)
                    return True

        eventually(answers, "photod answers")

    def stop(self, number: int = signal.SIGTERM):
        """Ends photod by a signal."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait()

    def restart(self, number: int = signal.SIGTERM):
        self.stop(number)
        self.start()

    def library(self, client_name: str | None = None) -> photod.Library:
        return photod.Library(self.socket, client_name)

    def add(self, name: str | None = None) -> Path:
        """Adds a photo that differs from all others, in one step."""
        self._number += 1
        path = self.photos / (name or f"p{self._number:04}.jpg")
        path.parent.mkdir(parents=True, exist_ok=True)
        samples = sample_photos()
        content = samples[self._number % len(samples)].read_bytes() + b"%d" % self._number
        return self._put(path, content)

    def add_transparent(self) -> Path:
        """Adds a PNG of 300 × 200 half transparent pixels. It has no date of its own, so it is the newest photo."""

        def chunk(kind: bytes, data: bytes) -> bytes:
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        header = struct.pack(">IIBBBBB", 300, 200, 8, 6, 0, 0, 0)
        pixels = zlib.compress((b"\0" + b"\xc0\x40\x20\x80" * 300) * 200)
        content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
        return self._put(self.photos / "transparent.png", content)

    def _put(self, path: Path, content: bytes) -> Path:
        hidden = self.folder / "new"
        hidden.write_bytes(content)
        hidden.rename(path)
        return path
