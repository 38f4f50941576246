"""Measures the cost of photod while nothing happens: CPU time and memory."""

import subprocess
import time

from client import Replica
from daemon import cpu_nanoseconds
from report import digits, under
from setting import say


def idle(setting):
    """Measures the CPU time of both programs while nothing happens, with one connected observer of every photo."""
    seconds = setting.options.idle
    with setting.new_library() as photod, photod.connect() as connection:
        Replica(connection)
        # This waits until the work after a first scan is done.
        time.sleep(2 * setting.settle_seconds)
        if seconds > 50:
            wait_for_backup(setting.scratch / "backups")
        sleeping = subprocess.Popen(["sleep", "3600"])
        try:
            time.sleep(0.2)
            before, slept = photod.cpu_seconds(), cpu_nanoseconds(sleeping.pid)
            say(f"idle for {seconds:g} seconds")
            time.sleep(seconds)
            after, slept = photod.cpu_seconds(), cpu_nanoseconds(sleeping.pid) - slept
        finally:
            sleeping.kill()
            sleeping.wait()
    used = {name: (after[name] - before[name]) * 1e3 * 60 / seconds for name in after}
    total = sum(used.values())
    setting.report.keep("idle", used)
    setting.report.add(
        f"idle over {setting.count:,}, CPU a minute (measured {seconds:g} s)", total, "ms",
        note=f"of them photod-watch {digits(used['photod-watch'])}", beside=("sleep", slept / 1e6 * 60 / seconds),
        targets=[under(total, 5, "ms")])


def wait_for_backup(folder):
    """Waits for the first backup of the day. It is made a minute after the start, and would be measured."""
    say("idle: waiting for the day's backup")
    deadline = time.monotonic() + 120
    while not any(folder.glob("*.sqlite")):
        if time.monotonic() > deadline:
            raise SystemExit(f"no backup came to {folder}")
        time.sleep(0.5)
    time.sleep(1)


def memory(setting):
    """Measures both programs together, after a first scan and after a restart.

    The target applies to RSS, the greatest of the three: it counts pages twice that both programs map. PSS divides
    shared pages, also those shared with other programs. Anonymous memory leaves out programs and libraries, which the
    kernel drops when it needs room.
    """
    figures = {}
    with setting.new_library() as photod:
        figures["a first scan"] = photod.memory()
    with setting.photod() as photod:
        photod.seconds_to_live(setting.count)
        time.sleep(setting.settle_seconds)
        figures["a restart"] = photod.memory()
    setting.report.keep("memory", figures)
    for when, values in figures.items():
        resident, proportional, anonymous = (values[name] / 1e6 for name in ["Rss", "Pss", "Anonymous"])
        setting.report.add(
            f"memory at {setting.count:,} after {when}, both programs, RSS", resident, "MB",
            note=f"PSS {digits(proportional)}, anonymous {digits(anonymous)}", targets=[under(resident, 60, "MB")])
