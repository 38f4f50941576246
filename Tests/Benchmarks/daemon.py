"""A photod to be measured, and just enough of a Varlink client to ask it; standard library only."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import time

INTERFACE = "org.photod.library."


class CallFailed(Exception):
    """The service answered with an error."""

    def __init__(self, error, parameters):
        super().__init__(f"{error} {parameters}")
        self.error = error


class Connection:
    """One connection: a call at a time, a frame is JSON ended by NUL (varlink.org, "Service")."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(path))
        self.received = bytearray()

    def send(self, method, more=False, **parameters):
        call = {"method": INTERFACE + method, "parameters": parameters}
        if more:
            call["more"] = True
        self.socket.sendall(json.dumps(call).encode() + b"\0")

    def reply_bytes(self):
        """The next reply as it came. Only this much happens before a latency is stamped."""
        while True:
            end = self.received.find(b"\0")
            if end >= 0:
                frame = bytes(self.received[:end])
                del self.received[: end + 1]
                return frame
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise ConnectionError("photod closed the connection")
            self.received += piece

    @staticmethod
    def parameters(frame):
        reply = json.loads(frame)
        if "error" in reply:
            raise CallFailed(reply["error"], reply.get("parameters"))
        return reply["parameters"]

    def call(self, method, **parameters):
        self.send(method, **parameters)
        return self.parameters(self.reply_bytes())

    def close(self):
        self.socket.close()


class Usage:
    """What photod and photod-watch have used until now: CPU seconds (ticks of 10 ms), peak resident bytes."""

    def __init__(self, pid):
        self.cpu = {"photod": cpu_seconds(pid), "photod-watch": 0.0}
        self.peak = {"photod": peak_bytes(pid), "photod-watch": 0}
        for child in children(pid):
            self.cpu["photod-watch"] += cpu_seconds(child)
            self.peak["photod-watch"] += peak_bytes(child)


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def children(pid):
    return [int(n) for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children") for n in task.read_text().split()]


class Photod:
    """A photod on one folder, from its exec on; `with` stops it in order and says so when it did not end well."""

    def __init__(self, programs, folder, catalog, scratch):
        self.socket_path = scratch / "photod.sock"
        self.log_path = scratch / "photod.log"
        self.folder = folder
        environment = {
            "PATH": os.environ.get("PATH", ""), "HOME": str(scratch), "XDG_RUNTIME_DIR": str(scratch),
            "TMPDIR": str(scratch), "PHOTOD_WATCH": str(programs / "photod-watch"),
        }
        command = [
            programs / "photod", "--root", folder, "--catalog", catalog, "--socket", self.socket_path,
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
        """A connection as soon as photod takes one; tried every millisecond."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                return Connection(self.socket_path)
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"photod does not answer: {self.log()}") from None
                time.sleep(0.001)

    def seconds_to_live(self, count):
        """From exec until the library is live with `count` assets.

        Synchronize is what waits: its answer comes with the commit, costs photod nothing meanwhile, and is not rounded
        to the tenth of a second between two replies of Status. Status then proves the state.
        """
        connection = self.connect()
        deadline = time.monotonic() + 600
        while True:
            connection.call("Synchronize", timeoutSeconds=600)
            seconds = (time.monotonic_ns() - self.started) / 1e9
            status = connection.call("Status")["status"]
            if status["state"] == "live" and status["assetCount"] >= count:
                break
            if status["state"] == "live" or time.monotonic() > deadline:
                raise RuntimeError(f"photod is {status['state']} with {status['assetCount']} of {count}: {self.log()}")
        connection.close()
        if status["assetCount"] != count or status["failedCount"] != 0:
            raise RuntimeError(f"photod has {status['assetCount']} assets, {status['failedCount']} failed; {count} made")
        return seconds
