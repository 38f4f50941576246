"""Measures the first scan: from exec until photod is live with every photo in a new catalog."""

import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from daemon import children
from report import at_most, digits, middle
from setting import HERE, find, real_photos, say, seconds_of

DROP_CACHES = pathlib.Path("/proc/sys/vm/drop_caches")
# The size of the first read of a file.
FIRST_READ = 64 << 10
LIMITS = {"limit.c, one thread": 1, "limit.c, two threads": 2}


def usual(setting):
    scan(setting, setting.photos, setting.count, setting.options.rounds)


def large(setting):
    count = setting.options.large_count
    folder = setting.make_photos("large", count)
    scan(setting, folder, count, min(3, setting.options.rounds))
    shutil.rmtree(folder)


def cold(setting):
    """Measures a first scan whose files are not in the cache. It needs a disk, and root, who may drop the cache.

    The files are read in the order of their inodes, which is that of the disk on ext4. There is no target, because the disk
    decides.
    """
    if os.geteuid() != 0 or not os.access(DROP_CACHES, os.W_OK):
        print("only root may drop the cache: no line of a cold scan", flush=True)
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix="photod-bench-cold.", dir=setting.options.disk))
    try:
        setting.make_photos(folder / "photos", setting.count)
        build_limit(setting)

        def dropping(measure):
            subprocess.run(["sync"], check=True)
            DROP_CACHES.write_text("3\n")
            return measure()

        measures = {
            "find -printf": lambda: find(folder),
            "limit.c, one thread": lambda: limit(setting, folder, setting.count, 1),
            "photod": lambda: photod(setting, folder, setting.count),
        }
        results = {name: [] for name in measures}
        for number in range(setting.options.rounds):
            say(f"cold scan: round {number + 1} of {setting.options.rounds}")
            for name, measure in measures.items():
                results[name].append(dropping(measure))
        seconds = middle(results["photod"], "seconds")
        setting.report.keep("cold scan", results)
        for name in list(measures)[:2]:
            setting.report.add(
                f"first scan of {setting.count:,}, not in the cache", seconds, "s",
                beside=(name, middle(results[name], "seconds")))
    finally:
        shutil.rmtree(folder)


def reads(setting):
    """Measures how much of each photo is read, and in how many calls of pread(2).

    A made photo fits into the first read, which has 64 KiB. Whatever a file claims, it takes 513 reads and 2 MiB beyond
    the first at most, and the real photos must stay within this.
    """
    add_reads(setting, "a photo", setting.photos, calls=1, size=FIRST_READ)
    real = real_photos()
    if real.is_dir():
        add_reads(setting, "a real photo", real, calls=513, size=FIRST_READ + (2 << 20))
    else:
        print(f"{real} is missing (PHOTOD_TEST_PHOTOS names it): no lines of real photos", flush=True)


def add_reads(setting, what, folder, calls, size):
    figures = setting.measure("reads", folder)
    setting.report.keep(f"reads of {what}", figures)
    for name, unit, target in [
        ("calls", "reads", at_most(max(figures["calls"]), calls, "reads of each")),
        ("bytes", "bytes", at_most(max(figures["bytes"]) / 1024, size / 1024, "KiB of each")),
    ]:
        values = figures[name]
        setting.report.add(
            f"{unit} of {what}", sum(values) / len(values), unit, note=f"at most {max(values):,}", targets=[target])


def system_calls(setting):
    """Counts the system calls of all programs in a first scan, from exec to the end of photod.

    The target is that of many photos. Starting and ending photod takes some thousand calls.
    """
    if not shutil.which("strace"):
        print("strace is not installed: no line of system calls", flush=True)
        return
    setting.remove_catalog()
    output = setting.scratch / "system-calls"
    tracer = ["strace", "-f", "-c", "-U", "calls,name", "-o", output, "--"]
    with setting.photod(tracer=tracer) as photod:
        photod.seconds_to_live(setting.count)
        # strace ends after photod, with its status.
        for child in children(photod.process.pid):
            os.kill(child, signal.SIGTERM)
        photod.process.wait(60)
    counts = {}
    for line in output.read_text().splitlines():
        number, _, name = line.strip().partition(" ")
        if number.isdecimal():
            counts[name.strip()] = int(number)
    total = counts.pop("total")
    setting.report.keep("system calls", counts)
    most = sorted(counts, key=counts.get, reverse=True)[:4]
    setting.report.add(
        f"system calls of a first scan of {setting.count:,}, a photo", total / setting.count, "calls",
        note=", ".join(f"{name} {digits(counts[name] / setting.count)}" for name in most),
        targets=[at_most(total / setting.count, 10, "calls")])


def larger_files(setting):
    """Measures the first scan of JPEGs of 16 kB. Both programs read 64 kB of a file at most."""
    folder = setting.make_photos("web", setting.count, size="web")
    scan(setting, folder, setting.count, setting.options.rounds, " of 16 kB")
    shutil.rmtree(folder)


def scan(setting, folder, count, rounds, size=""):
    build_limit(setting)
    measures = {name: lambda threads=threads: limit(setting, folder, count, threads)
                for name, threads in LIMITS.items()}
    measures["find -printf"] = lambda: find(folder)
    measures["photod"] = lambda: photod(setting, folder, count)
    what = f"first scan of {count:,}{size}"
    results = dict(zip(measures, setting.interleave(what, rounds, *measures.values())))
    sample = exiftool(setting, folder, count)
    if sample:
        results[f"exiftool -fast2 -json, {sample['files']:,} files scaled"] = [sample]
    setting.report.keep(what, results)
    add(setting, what, count, results)


def add(setting, what, count, results):
    """Adds the baselines that are a time, then the other figures of photod and of limit.c."""
    report, one = setting.report, next(iter(LIMITS))
    ours, limits = results["photod"], results[one]
    seconds = middle(ours, "seconds")
    for name, values in results.items():
        if name == "photod":
            continue
        theirs = middle(values, "seconds")
        targets = [at_most(seconds / theirs, 1, "× limit.c")] if name == one else []
        report.add(what, seconds, "s", beside=(name, theirs), targets=targets)
    report.add(f"{what}, files a second", count / seconds, "files/s",
               beside=(one, count / middle(limits, "seconds")))
    report.add(f"{what}, CPU", middle(ours, "cpu"), "s", note=f"of them photod-watch {middle(ours, 'cpu_watch'):.2f}, photod-extract {middle(ours, 'cpu_extract'):.2f}",
               beside=(one, middle(limits, "cpu")))
    megabytes = {name: middle(ours, name) / 1e6 for name in ["peak", "peak_watch", "peak_extract"]}
    report.add(
        f"{what}, peak memory", sum(megabytes.values()), "MB",
        note=f"{megabytes['peak']:.1f} + photod-watch {megabytes['peak_watch']:.1f}"
             f" + photod-extract {megabytes['peak_extract']:.1f}",
        beside=(one, middle(limits, "peak") / 1e6))
    report.add(f"{what}, catalog an asset", middle(ours, "bytes") / count, "bytes",
               beside=(one, middle(limits, "bytes") / count))


def photod(setting, folder, count):
    setting.remove_catalog()
    with setting.photod(folder) as photod:
        seconds = photod.seconds_to_live(count)
        cpu, peak = photod.cpu_seconds(), photod.peak_bytes()
    return {"seconds": seconds, "cpu": sum(cpu.values()), "cpu_watch": cpu["photod-watch"],
            "cpu_extract": cpu["photod-extract"], "peak": peak["photod"], "peak_watch": peak["photod-watch"],
            "peak_extract": peak["photod-extract"], "bytes": database_bytes(setting.catalog)}


def build_limit(setting):
    if not setting.limit.exists():
        subprocess.run(
            [os.environ.get("CC", "cc"), "-O2", "-pthread", "-o", setting.limit, HERE / "limit.c",
             "-lexif", "-lsqlite3"], check=True)


def limit(setting, folder, count, threads):
    database = setting.scratch / "limit.sqlite"
    for path in setting.scratch.glob("limit.sqlite*"):
        path.unlink()
    started = time.monotonic_ns()
    process = subprocess.Popen([setting.limit, "-t", str(threads), folder, database], stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = (time.monotonic_ns() - started) / 1e9
    process.returncode = os.waitstatus_to_exitcode(status)
    printed = json.loads(output) if process.returncode == 0 else {}
    if printed.get("files") != count:
        raise RuntimeError(f"limit ended with {process.returncode}: {output}")
    return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "peak": printed["peak_kb"] * 1024,
            "bytes": database_bytes(database)}


def database_bytes(path):
    """Returns the size of all pages, including those that are still in the write-ahead log."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()[0]


def exiftool(setting, folder, count):
    """Runs one process for a sample of the photos. Its time without photos, the start, is not scaled."""
    if not shutil.which("exiftool"):
        print("exiftool is not installed (Debian: libimage-exiftool-perl): no line beside it", flush=True)
        return None
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sample = random.Random(7).sample(files, min(setting.options.sample, count))
    start, _ = seconds_of(["exiftool", "-ver"])
    seconds, output = seconds_of(["exiftool", "-q", "-fast2", "-json", *sample])
    if len(json.loads(output)) != len(sample):
        raise RuntimeError("exiftool left photos out")
    return {"seconds": start + (seconds - start) * count / len(sample), "files": len(sample)}
