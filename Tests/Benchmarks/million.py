"""Measures a daemon with a large catalog: how long clients wait, and what it needs for them.

photod-measure makes the catalog. Its root is missing: photod keeps what it knows of it, and has nothing to scan.
"""

import contextlib
import json
import os
import random
import sqlite3
import subprocess
import time

from daemon import Photod, cpu_nanoseconds
from report import digits, middle, quantile, under
from setting import HERE, say

NEWEST = 100
ALBUMS = 20
DISTINCT = [1, 10, 100, 1_000]
ROUNDS_OF_A_DAEMON = 200


@contextlib.contextmanager
def large_photod(setting):
    """A photod on the largest catalog, at rest."""
    count = setting.options.assets
    with Photod(setting.options.programs, setting.away, setting.made_catalog(count), setting.scratch) as photod:
        photod.seconds_to_live(count)
        time.sleep(setting.settle_seconds)
        yield photod


# ---- Fetching ----------------------------------------------------------------------------------------

def fetches(setting):
    """Measures pages of 100 whole assets in two ways.

    The CPU time of photod from the call to the reply is the time that it takes if no other program needs a processor.
    The wait is that of a client that does not parse the reply. The baseline is the same read in one process, without
    JSON and socket.
    """
    count, rounds = setting.options.assets, setting.options.fetches
    inside = setting.measure("fetches", rounds, setting.made_catalog(count))
    dice = random.Random(17)
    words = Words(setting.made_catalog(count), dice)
    albums = {"album": count // max(ALBUMS + 1, count // 500), "large album": count // 100}
    subjects = {
        "newest": ("the newest 100", lambda: {"fetchLimit": NEWEST}),
        "first page": ("the first 100 of all", lambda: {}),
        "album": (f"100 of an album of {albums['album']:,}",
                  lambda: {"collection": f"album:Album {dice.randint(1, ALBUMS)}"}),
        "large album": (f"100 of an album of {albums['large album']:,}", lambda: {"collection": "album:Large"}),
        "folder": ("100 of a folder of 200", lambda: {"collection": f"Folder {dice.randint(1, count // 200)}"}),
        "favorites": (f"100 of {count // 50:,} favorites", lambda: {"collection": "favorites"}),
        "text": ("100 with a word", lambda: {"text": words.next(), "fetchLimit": NEWEST}),
    }
    figures = {name: [] for name in subjects}
    counted = []

    def measure(photod, connection, options):
        parameters = {"options": options, "count": NEWEST}
        used, began = cpu_nanoseconds(photod.process.pid), time.monotonic_ns()
        connection.send("Fetch", **parameters)
        frame = connection.reply_bytes()
        waited = time.monotonic_ns() - began
        used = cpu_nanoseconds(photod.process.pid) - used
        connection.parameters(frame)
        return {"photod": used / 1e6, "client": waited / 1e6}

    # Several daemons run in turn. After a minute, each would make the backup of the day.
    for start in range(0, rounds, ROUNDS_OF_A_DAEMON):
        end = min(rounds, start + ROUNDS_OF_A_DAEMON)
        say(f"fetches: {end} of {rounds} of each kind")
        with large_photod(setting) as photod, photod.connect() as connection:
            for round in range(start - 10, end):
                for name, (_, options) in subjects.items():
                    result = measure(photod, connection, options())
                    if round >= start:
                        figures[name].append(result)
            edit = {"ids": [count - 7], "isFavorite": start % (2 * ROUNDS_OF_A_DAEMON) == 0}
            connection.call("PerformChanges", requests=[{"editAsset": edit}])
            counted.append(measure(photod, connection, {}))
    setting.report.keep("fetches", {"daemon": figures, "counted": counted, "inside": inside})
    for name, (what, _) in subjects.items():
        used, waited = ([result[who] for result in figures[name]] for who in ["photod", "client"])
        late = quantile(used, 0.99)
        setting.report.add(
            f"Fetch of {what}, at {count:,}, CPU in photod, p99", late, "ms",
            note=f"p50 {digits(quantile(used, 0.5))}; at the client p50 {digits(quantile(waited, 0.5))}, "
                 f"p99 {digits(quantile(waited, 0.99))}",
            beside=("the same read in one process, p99", quantile(inside[name], 0.99)),
            targets=[under(late, 5, "ms")])
    setting.report.add(f"Fetch of the first 100 of all, at {count:,}, the first after a commit, CPU in photod",
                       middle(counted, "photod"), "ms", note=f"at the client {digits(middle(counted, 'client'))}")


class Words:
    """Words of keywords, in turn by their frequency and at random. Most words are rare."""

    def __init__(self, catalog, dice):
        with contextlib.closing(sqlite3.connect(f"file:{catalog}?mode=ro", uri=True)) as database:
            any = [row[0] for row in database.execute("SELECT name FROM keyword")]
            written = [row[0] for row in database.execute(
                "SELECT name FROM asset_keyword JOIN keyword ON keyword.id = keyword_id LIMIT 100000")]
        self.turns = [any, written]
        self.dice = dice

    def next(self):
        self.turns.reverse()
        return self.dice.choice(self.turns[0])


# ---- Observing ---------------------------------------------------------------------------------------

class Observers:
    """Runs observers.c on a photod. `calls` are the parameters of Observe, one for each client."""

    def __init__(self, setting, photod, calls):
        path = setting.scratch / "calls"
        path.write_text("".join(json.dumps(call) + "\n" for call in calls))
        self.process = subprocess.Popen([observers_program(setting), photod.socket_path, path],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.expect("ready")

    def expect(self, word=None):
        line = self.process.stdout.readline()
        if not line or (word and line.strip() != word):
            raise RuntimeError(f"observers: ended with {self.process.wait()}, {line!r}")
        return line

    def favor(self, id):
        """Makes one photo a favorite, which every observer is sent."""
        edit = {"requests": [{"editAsset": {"ids": [id], "isFavorite": True}}]}
        self.process.stdin.write(json.dumps(edit) + "\n")
        self.process.stdin.flush()
        return json.loads(self.expect())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


def observers_program(setting):
    program = setting.scratch / "observers"
    if not program.exists():
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", program, HERE / "observers.c"], check=True)
    return program


def observers(setting):
    """Measures from the call that changes a photo to the last byte at the last observer. It includes the commit.

    The baseline is as many bytes through as many pairs of sockets, by a process that does nothing else.
    """
    count, most, rounds = setting.options.assets, setting.options.observers, 4 * setting.options.rounds
    with large_photod(setting) as photod, photod.connect() as connection:
        newest = connection.call("Fetch", options={"fetchLimit": 1_000}, count=1_000)
        plain = iter([asset["id"] for asset in newest["assets"] if not asset["isFavorite"]])

        def measure(name, calls):
            say(f"observers: {name}")
            with Observers(setting, photod, calls) as clients:
                clients.favor(next(plain))
                results = [clients.favor(next(plain)) for _ in range(rounds)]
                return results, photod.memory()

        # Observers that already have a list and its token are not sent a million ids, like clients that come back.
        alone, _ = measure("one", [{}])
        with Observers(setting, photod, [{}]):
            token = connection.call("Fetch", count=1)["token"]
            same, memory = measure(f"{most:,} of one fetch", [{"since": token}] * most)
        distinct = {}
        for number in [number for number in DISTINCT if number <= most]:
            calls = [{"options": {"fetchLimit": 1_000 + index}} for index in range(number)]
            distinct[number], _ = measure(f"{number:,} distinct fetches", calls)
    bytes = same[0]["firstBytes"]
    output = subprocess.run([observers_program(setting), "-p", str(most), str(bytes), str(rounds)], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    pairs = [float(line) for line in output.split()]
    setting.report.keep("observers", {"alone": alone, "same": same, "distinct": distinct, "pairs": pairs})
    last, one = middle(same, "last"), middle(alone, "last")
    setting.report.add(
        f"{most:,} observers of all {count:,}, PerformChanges to the last byte at the last", last, "ms",
        note=f"{bytes} bytes each, the first has them after {digits(middle(same, 'first'))}, "
             f"a single observer {digits(one)}",
        beside=(f"the same bytes through {most:,} socket pairs", quantile(pairs, 0.5)))
    setting.report.add(f"memory at {count:,} with {most:,} observers of one fetch, both programs, RSS",
                       memory["Rss"] / 1e6, "MB", note=parts(memory))
    for number, results in distinct.items():
        last = middle(results, "last")
        setting.report.add(
            f"{several(number)}, newest 1,000 or more of {count:,}, PerformChanges to the last byte at the last",
            last, "ms", note=f"{digits(last * 1e3 / number)} µs each" if number > 1 else "",
            beside=("one fetch", middle(distinct[1], "last")) if number > 1 else None)


def several(number):
    return "an observer" if number == 1 else f"observers of {number:,} distinct fetches"


# ---- Memory ------------------------------------------------------------------------------------------

def memory(setting):
    """Measures both programs without a client, with an observer of all, and with a hundred distinct fetches."""
    count = setting.options.assets
    dice = random.Random(19)
    words = Words(setting.made_catalog(count), dice)
    options = [{}, {"collection": "favorites"}, {"collection": "videos"}, {"collection": "screenshots"},
               {"mediaTypes": ["image"]}]
    options += [{"collection": f"album:Album {number + 1}"} for number in range(ALBUMS)]
    options += [{"fetchLimit": 100 * (number + 1)} for number in range(25)]
    options += [{"text": words.next()} for _ in range(20)]
    options += [{"collection": f"Folder {number + 1}"} for number in range(min(100 - len(options), count // 200))]
    calls = [{"options": each} for each in options]
    figures = {}
    with large_photod(setting) as photod:
        figures["idle"] = photod.memory()
        with Observers(setting, photod, calls[:1]):
            time.sleep(setting.settle_seconds)
            figures["with one observer of all"] = photod.memory()
        with Observers(setting, photod, calls):
            time.sleep(setting.settle_seconds)
            figures[f"with {len(calls)} observers of different lists"] = photod.memory()
        peak = photod.peak_bytes()
    setting.report.keep("list-memory", {**figures, "peak": peak})
    for when, values in figures.items():
        resident = values["Rss"] / 1e6
        targets = [under(resident, 200, "MB")] if "one observer" in when else []
        setting.report.add(f"memory at {count:,} {when}, both programs, RSS", resident, "MB", note=parts(values),
                           targets=targets)


def parts(values):
    return f"PSS {digits(values['Pss'] / 1e6)}, anonymous {digits(values['Anonymous'] / 1e6)}"
