"""Starts the photod that is measured, and reads the kernel's figures of its processes."""

import os
import pathlib
import signal
import subprocess
import time

from client import Connection

PROGRAMS = ["photod", "photod-watch", "photod-extract", "photod-image", "photod-preview", "photod-video"]


class Photod:
    """A photod on one folder, from its exec on. `with` stops it, and reports if it did not end normally.

    `tracer` is a command that runs photod, such as strace. Then the process is that of the tracer.
    """

    def __init__(self, programs, folder, catalog, scratch, tracer=()):
        self.socket_path = scratch / "photod.sock"
        self.log_path = scratch / "photod.log"
        self.folder = folder
        environment = {
            "PATH": os.environ.get("PATH", ""), "HOME": str(scratch), "XDG_RUNTIME_DIR": str(scratch),
            "TMPDIR": str(scratch), "PHOTOD_WATCH": str(programs / "photod-watch"),
            "PHOTOD_EXTRACT": str(programs / "photod-extract"), "PHOTOD_IMAGE": str(programs / "photod-image"),
            "PHOTOD_PREVIEW": str(programs / "photod-preview"), "PHOTOD_VIDEO": str(programs / "photod-video"),
        }
        command = [
            *tracer, programs / "photod", "--root", folder, "--catalog", catalog, "--socket", self.socket_path,
            "--removal-grace", "0", "--log-level", "warning",
        ]
        with open(self.log_path, "wb") as log:
            self.started = time.monotonic_ns()
            self.process = subprocess.Popen([str(part) for part in command], env=environment, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process.returncode != 0 and error is None:
            raise RuntimeError(f"photod ended with {self.process.returncode}: {self.log()}")

    def log(self):
        return self.log_path.read_text(errors="replace").strip()

    def connect(self, timeout=30):
        """Connects as soon as photod accepts a connection. It tries every millisecond."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                return Connection(self.socket_path)
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"photod does not answer: {self.log()}") from None
                time.sleep(0.001)

    def seconds_to_live(self, count):
        """Returns the seconds from exec until the library is live with `count` assets.

        Synchronize waits for that. Its answer comes with the commit, costs photod nothing in between, and is not
        rounded to the tenth of a second between two replies of Status. Then Status proves the state.
        """
        deadline = time.monotonic() + 600
        with self.connect() as connection:
            connection.socket.settimeout(600)
            while True:
                connection.call("Synchronize", timeoutSeconds=600)
                seconds = (time.monotonic_ns() - self.started) / 1e9
                status = connection.call("Status")["status"]
                if status["state"] == "live" and status["assetCount"] >= count:
                    break
                if status["state"] == "live" or time.monotonic() > deadline:
                    raise RuntimeError(f"{count} photos are there, photod says {status}: {self.log()}")
        if status["assetCount"] != count or status["failedCount"] != 0:
            raise RuntimeError(f"{count} photos are there, all of them readable, photod says {status}")
        return seconds

    def synchronize(self):
        with self.connect() as connection:
            connection.call("Synchronize", timeoutSeconds=100)

    def pids(self):
        """Lists of process ids by the programs' names."""
        pids = {name: [] for name in PROGRAMS}
        pids["photod"].append(self.process.pid)
        for child in children(self.process.pid):
            pids[pathlib.Path(f"/proc/{child}/comm").read_text().strip()].append(child)
        if len(pids["photod-watch"]) != 1:
            raise RuntimeError(f"photod has the child processes {pids}, with one photod-watch among them expected")
        return pids

    def cpu_seconds(self):
        """Returns the CPU time used until now, by program."""
        return {name: sum(cpu_nanoseconds(pid) for pid in pids) / 1e9 for name, pids in self.pids().items()}

    def peak_bytes(self):
        """Returns peak resident memory by program. The sum counts shared pages twice, and both may peak apart."""
        return {
            name: sum(kilobytes(f"/proc/{pid}/status", ["VmHWM"])["VmHWM"] for pid in pids) * 1024
            for name, pids in self.pids().items()
        }

    def memory(self):
        """Returns the present bytes of all processes: resident, proportional (shared pages divided), and anonymous."""
        names = ["Rss", "Pss", "Anonymous"]
        sums = dict.fromkeys(names, 0)
        for pid in sum(self.pids().values(), []):
            for name, value in kilobytes(f"/proc/{pid}/smaps_rollup", names).items():
                sums[name] += value * 1024
        return sums


def children(pid):
    tasks = pathlib.Path(f"/proc/{pid}/task")
    return [int(child) for list in tasks.glob("*/children") for child in list.read_text().split()]


def cpu_nanoseconds(pid):
    """Returns the CPU time of a whole process, including ended threads, from its clock.

    That clock is CPUCLOCK_SCHED of clock_getcpuclockid(3). The ticks of /proc/PID/stat are 10 ms, which is twice the
    limit for a minute of rest.
    """
    return time.clock_gettime_ns((~pid << 3) | 2)


def kilobytes(path, names):
    """Returns the fields `Name:  123 kB` of a file in /proc."""
    values = {}
    for line in pathlib.Path(path).read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in names:
            values[name] = int(rest.split()[0])
    return values
