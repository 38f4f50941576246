"""What photod costs when nothing happens: CPU time and memory."""

import subprocess
import time

from client import Replica
from daemon import cpu_nanoseconds
from setting import say


def idle(setting):
    """CPU time of both programs while nothing happens, with one observer of every photo connected."""
    seconds = setting.options.idle
    with setting.new_library() as photod, photod.connect() as connection:
        Replica(connection)
        # Past whatever follows a first scan.
        time.sleep(min(5, seconds))
        sleeping = subprocess.Popen(["sleep", "3600"])
        try:
            time.sleep(0.2)
            before, slept = photod.cpu_seconds(), cpu_nanoseconds(sleeping.pid)
            say(f"idle for {seconds:g} seconds")
            time.sleep(seconds)
            after, slept = photod.cpu_seconds(), cpu_nanoseconds(sleeping.pid) - slept
        finally:
            sleeping.terminate()
            sleeping.wait()
    used = {name: (after[name] - before[name]) * 1e3 * 60 / seconds for name in after}
    setting.report.keep("idle", used)
    setting.report.below(
        f"idle over {setting.count:,}, CPU a minute (measured {seconds:g} s)", sum(used.values()), "ms", 5,
        note=f"of them photod-watch {used['photod-watch']:.2f}",
        beside=("sleep", slept / 1e6 * 60 / seconds))


def memory(setting):
    """Both programs together, after a first scan and after a restart."""
    figures = {}
    with setting.new_library() as photod:
        figures["a first scan"] = photod.memory()
    with setting.photod() as photod:
        photod.seconds_to_live(setting.count)
        time.sleep(1)
        figures["a restart"] = photod.memory()
    setting.report.keep("memory", figures)
    for when, values in figures.items():
        megabytes = {name: value / 1e6 for name, value in values.items()}
        what = f"memory at {setting.count:,} after {when}, both programs"
        setting.report.below(f"{what}, resident (RSS)", megabytes["Rss"], "MB", 60)
        setting.report.below(f"{what}, proportional (PSS)", megabytes["Pss"], "MB", 60)
        setting.report.add(f"{what}, anonymous", megabytes["Anonymous"], "MB")
