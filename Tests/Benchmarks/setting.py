"""The setting of a run: options, photos, a scratch directory, and the report that all sections write to."""

import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

from daemon import Photod
from report import Report

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent


class Setting:
    def __init__(self, options):
        self.options = options
        self.count = options.count
        # Photos that changed within two seconds before a scan are read again after this time.
        self.settle_seconds = 0.1 if options.quick else 2.5
        base = (options.directory or roomy_directory(options.count + options.large_count)).resolve()
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="photod-bench.", dir=base))
        self.catalog = self.scratch / "catalog.sqlite"
        self.limit = self.scratch / "limit"
        self.report = Report()
        self.made = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def make_photos(self, name, count, start=0, flat=False, size="small"):
        folder = self.scratch / name
        say(f"making {count:,} {size} photos")
        command = [sys.executable, PACKAGE / "Tests/Fixtures/make_corpus.py", folder, "-n", str(count),
                   "--start", str(start), "--extras", "0", "--seed", "7", "--size", size, "--manifest", "-"]
        subprocess.run(command + (["--flat"] if flat else []), check=True, stdout=subprocess.DEVNULL)
        return folder

    @property
    def photos(self):
        """Returns the library: `count` photos in folders of a month."""
        if "photos" not in self.made:
            self.made["photos"] = self.make_photos("photos", self.count)
        return self.made["photos"]

    def forget_photos(self):
        """Removes the library, so that it is made anew. A section that failed may have left files in it."""
        if "photos" in self.made:
            shutil.rmtree(self.made.pop("photos"))

    @property
    def spares(self):
        """Returns (name, content) of photos that are not in the library, as many as one change may need."""
        if "spares" not in self.made:
            count = max(self.options.burst, self.options.changes)
            folder = self.make_photos("spares", count, start=10_000_000, flat=True)
            self.made["spares"] = [(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]
            shutil.rmtree(folder)
        return self.made["spares"]

    @property
    def burst(self):
        """Returns the spare photos that make a burst, or a folder."""
        return self.spares[: self.options.burst]

    # ---- Made catalogs ----

    @property
    def away(self):
        """Returns the root of made catalogs: a folder that does not exist."""
        return self.scratch / "away"

    def made_catalog(self, count):
        """Returns the path of a catalog of this size, made once, without photos. Sections change a few favorites."""
        name = f"catalog of {count}"
        if name not in self.made:
            folder = self.scratch / f"made-{count}"
            folder.mkdir()
            say(f"making a catalog of {count:,}")
            self.measure("catalog", folder / "catalog.sqlite", self.away, count)
            self.made[name] = folder / "catalog.sqlite"
        return self.made[name]

    def measure(self, *arguments):
        """Returns the output of photod-measure."""
        command = [str(part) for part in [self.options.programs / "photod-measure", *arguments]]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        return json.loads(output) if output else None

    def photod(self, folder=None, tracer=()):
        return Photod(self.options.programs, folder or self.photos, self.catalog, self.scratch, tracer)

    def remove_catalog(self):
        for path in self.scratch.glob("catalog.sqlite*"):
            path.unlink()

    def new_library(self):
        """Returns a photod that is idle, with a new catalog that knows every photo."""
        return RestingLibrary(self)

    def interleave(self, name, rounds, *measures):
        """Runs each measure once unrecorded, then all in turn, `rounds` times: a busy machine is busy for all."""
        for measure in measures:
            measure()
        results = [[] for _ in measures]
        for number in range(rounds):
            say(f"{name}: round {number + 1} of {rounds}")
            for measure, values in zip(measures, results):
                values.append(measure())
        return results

    def repeat(self, name, rounds, measure):
        results = []
        for number in range(rounds):
            say(f"{name}: round {number + 1} of {rounds}")
            results.append(measure(number))
        return results


class RestingLibrary:
    """`with` returns the Photod, live and idle."""

    def __init__(self, setting):
        setting.remove_catalog()
        self.setting = setting
        self.photod = setting.photod()

    def __enter__(self):
        try:
            self.photod.seconds_to_live(self.setting.count)
        except BaseException as error:
            self.photod.__exit__(type(error), error, None)
            raise
        time.sleep(self.setting.settle_seconds)
        return self.photod

    def __exit__(self, *error):
        self.photod.__exit__(*error)


def roomy_directory(count):
    """Returns a folder in memory if photos and catalogs fit there three times, so that no disk is measured."""
    memory = pathlib.Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 3 * count * 12_000:
        return memory
    return pathlib.Path(tempfile.gettempdir())


def real_photos():
    """Returns the folder of photos from cameras, which may be missing."""
    return pathlib.Path(os.environ.get("PHOTOD_TEST_PHOTOS") or PACKAGE.parent / "shared/photos")


def say(text):
    print(f"  {text} ...", file=sys.stderr, flush=True)


def machine():
    """Describes the machine. Without it, the figures mean nothing."""
    model = platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    load = os.getloadavg()[0]
    return f"{model}, {len(os.sched_getaffinity(0))} cores, Linux {platform.release()}, load {load:.1f} at the start"


def seconds_of(command):
    """Runs a process to its end. Returns the seconds and its output."""
    started = time.monotonic_ns()
    output = subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE).stdout
    return (time.monotonic_ns() - started) / 1e9, output


def find(folder):
    """Runs `find -printf` of size, time and inode: the least work to see whether anything changed."""
    started = time.monotonic_ns()
    subprocess.run(["find", folder, "-printf", "%s %T@ %i\n"], check=True, stdout=subprocess.DEVNULL)
    return {"seconds": (time.monotonic_ns() - started) / 1e9}
